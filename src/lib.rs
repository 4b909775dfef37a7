//! RelayRoom: mail between coding agents in tmux panes, and an honest record of what each wake cost.
pub mod activity;
pub mod api;
pub mod config;
pub mod identity;
pub mod knowledge;
#[path = "../pager/mod.rs"]
pub mod pager;
pub mod store;
