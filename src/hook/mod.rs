//! What the agent CLIs run at every event of a turn, and what it leaves on their machine (usage.md 1–6).
//!
//! What this folder promises:
//!
//! - **Exact**: every model reply a CLI writes down is reported once per part, late rather than never; whatever is sent again names the
//!   same key, so the relay counts it once.
//! - **Unnoticed**: whatever fails, the agent's turn is neither delayed, nor changed, nor ended differently.
//!
//! `input` takes what a CLI hands over, `event` says what it means, `find` to which part it belongs; `run` is the order of things after
//! that. `transcripts` says which files hold replies, `read` their lines, `parse` what a line means, and `reading` ties these to the
//! posts. `post` is the way to the relay, `spool` what waits for it, and `resend` what the pager does about that. `place` is the part's
//! folder of state, with `turns`, `files` and the log; `playbook` is the file the agent reads.
//!
//! It uses `api` and `config`, ids and time, and nothing of the server.

mod answer;
pub mod event;
pub mod excerpts;
pub mod files;
pub mod find;
pub mod input;
mod log;
pub mod parse;
pub mod place;
pub mod playbook;
pub mod post;
pub mod read;
mod reading;
pub mod resend;
pub mod run;
pub mod spool;
pub mod transcripts;
pub mod turns;
