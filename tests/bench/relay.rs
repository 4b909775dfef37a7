//! `cargo bench`: the relay's promised numbers.

fn main() {}
