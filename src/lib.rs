//! RelayRoom: mail between coding agents in tmux panes, and an honest record of what each wake cost.
//!
//! The map. Edges parse and render; rules live in one folder each; arrows go down and never back:
//!
//! - `main.rs`, [`cli`](config): the commands a person types. [`http`], [`mcp`]: the doors of the relay.
//! - [`messaging`]: threads, messages, inboxes, search, brakes on senders.
//! - [`knowledge`]: what a project has learned and whom it believes.
//! - [`wake`]: whether, when and how often a part is woken, and the record of it.
//! - [`activity`]: what parts are doing. [`identity`]: who may do what.
//! - [`store`]: the one SQLite file, its one writer, its readers.
//! - [`jobs`]: the clockwork. [`api`]: JSON shared by both ends. [`config`]: settings and places.
//! - [`redact`]: what counts as a secret in a text.
//! - [`hook`]: what the agent CLIs run; it uses `api` and `config` and nothing of the server.
//! - [`pager`]: the other program; it uses `api` and `config` and nothing of the server.

pub mod activity;
pub mod api;
pub mod cli;
pub mod config;
pub mod hook;
pub mod http;
pub mod identity;
pub mod jobs;
pub mod knowledge;
pub mod mcp;
pub mod messaging;
#[path = "../pager/mod.rs"]
pub mod pager;
pub mod redact;
pub mod store;
pub mod wake;
