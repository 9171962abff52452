//! The `tensorcask` command: a thin front end over the library.

fn main() {}
