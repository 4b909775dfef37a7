//! The file: what is refused, what survives, what is never lost (cases.md S).

mod open;
mod writer;
