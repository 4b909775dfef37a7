//! The `relayroom` program: parse, dispatch, exit code.

fn main() {}
