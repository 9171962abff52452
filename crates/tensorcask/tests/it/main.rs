//! What must hold of the library as a whole.

mod architecture;
mod cases;
mod corpus;
mod limits;
mod memory;
mod round_trip;
mod rules;
mod shrinking;
mod truncate;
