//! Whether, when and how often a part is woken, and the honest record of it (wake.md 1–10).
//!
//! A wake is permission to type one line into one idle agent. It costs its owner a paid turn, so waking is budgeted; a message never is.
//!
//! What this folder promises:
//!
//! - **A function of the tables.** [`consider`] looks at nothing else, runs in the transaction of every change that can matter and again
//!   in every [`sweep`]: a lost signal costs at most one sweep, never a message.
//! - **At most one open wake per part**, whatever arrives at once: more mail joins it.
//! - **Budgets are exact.** What was typed within the hour, and one place for every line that may still be typed, never exceed them.
//! - **What is not known is not said.** A line typed, a line submitted and mail fetched are three facts.

mod consider;
mod line;
pub mod look;
pub mod poll;
pub mod report;
mod tag;
mod words;

pub use consider::again;
pub use consider::cancel;
pub use consider::consider;
pub use consider::consider_owner;
pub use consider::consider_project;
pub use consider::consumed;
pub use consider::hold_broadcast;
pub use consider::hops_of_next;
pub use consider::is_open;
pub use consider::settle;
pub use consider::sweep;
pub use words::Chain;
pub use words::Decision;
pub use words::HoldReason;
pub use words::Note;
