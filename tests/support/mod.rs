//! The harness of the tests from outside: worlds, servers, panes.

pub mod http;
pub mod process;
pub mod server;
pub mod world;
