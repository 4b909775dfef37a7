//! Everything tested from outside, in one binary: a module per subject, the shared harness in `support`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that meets the unexpected is to fail there"
)]

mod access;
mod cli;
mod killed;
mod mcp;
mod pager;
mod store;
mod support;
mod tools;
mod usage;
mod wake;
mod whole_way;
