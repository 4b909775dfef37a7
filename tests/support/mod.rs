//! The harness of the tests from outside: worlds, servers, panes.

pub mod fake_agent;
pub mod http;
pub mod pager;
pub mod process;
pub mod scripted_hook_relay;
pub mod scripted_relay;
pub mod seat;
pub mod server;
pub mod tmux;
pub mod wait;
pub mod world;
