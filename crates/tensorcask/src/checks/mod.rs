//! Rules over an opened checkpoint and the files beside it.
