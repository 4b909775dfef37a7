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

mod again;
mod brake;
mod budget;
mod chain;
mod consider;
mod due;
mod ends;
mod facts;
mod handout;
mod held;
mod hold;
mod ladder;
mod lease;
mod line;
pub mod look;
mod mail;
mod nudge;
mod open;
mod pingpong;
#[cfg(test)]
mod plans;
pub mod poll;
mod queue;
mod remind;
pub mod report;
mod row;
mod sweep;
mod tag;
mod words;

pub use again::again;
pub use chain::Chain;
pub use chain::hops_of_next;
pub use consider::consider;
pub use consider::hold_broadcast;
pub use ends::cancel;
pub use ends::consumed;
pub use ends::settle;
pub use row::is_open;
pub use sweep::consider_owner;
pub use sweep::consider_project;
pub use sweep::sweep;
pub use words::Decision;
pub use words::Ending;
pub use words::HoldReason;
pub use words::Kind;
pub use words::Lane;
pub use words::Note;
pub use words::State;
