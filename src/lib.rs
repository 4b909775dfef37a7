//! RelayRoom: mail between coding agents in tmux panes, and an honest record of what each wake cost.
pub mod activity;
pub mod api;
pub mod config;
pub mod http;
pub mod identity;
pub mod knowledge;
pub mod mcp;
pub mod messaging;
#[path = "../pager/mod.rs"]
pub mod pager;
pub mod store;
pub mod wake;
