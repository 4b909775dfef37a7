//! What the agent CLIs run at every event of a turn, and what it leaves on their machine (usage.md 1–6).
//!
//! What this folder promises:
//!
//! - **Exact**: every model reply a CLI writes down is reported once per part, late rather than never; whatever is sent again names the
//!   same key, so the relay counts it once.
//! - **Unnoticed**: whatever fails, the agent's turn is neither delayed, nor changed, nor ended differently.
//!
//! `input` takes what a CLI hands over, `event` says what it means, `find` to which part it belongs; `run` is the order of things after
//! that. `post` is the way to the relay, and `spool` what waits for it. `place` is the part's folder of state, with `turns` and the
//! log; `playbook` is the file the agent reads.
//!
//! It uses `api` and `config`, ids and time, and nothing of the server.

pub mod event;
pub mod excerpts;
pub mod find;
pub mod input;
mod log;
pub mod place;
pub mod playbook;
pub mod post;
pub mod run;
pub mod spool;
pub mod turns;
