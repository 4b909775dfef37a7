//! Whether, when and how often a part is woken, and the honest record of it (wake.md 1–10).
//!
//! A wake is permission to type one line into one idle agent. It costs its owner a paid turn, so waking is budgeted; a message never is.
//!
//! What this folder promises:
//!
//! - **A function of the tables.** [`consider()`] looks at nothing else, runs in the transaction of every change that can matter and again
//!   in every [`sweep()`]: a lost signal costs at most one sweep, never a message.
//! - **At most one open wake per part**, whatever arrives at once: more mail joins it.
//! - **Budgets are exact.** What was typed within the hour, and one place for every line that may still be typed, never exceed them.
//! - **Holds are episodes** with a beginning, a reason and an end, and a part with new mail has an open wake or an open hold.
//! - **What is not known is not said.** A line typed, a line submitted and mail fetched are three facts.
//!
//! Where to read on: `consider` decides for a part without an open wake and `open` moves an open one on; what they ask is pure and apart
//! (`due`, `ladder`, `pingpong`, `lease`, `remind`, `brake`, `budget::lane`); `queue` keeps the order in which places of a budget are given;
//! `row`, `nudge`, `hold` and `mail` are the tables; `poll` and `report` are what a pager sees; `turns` is what an agent's hook proves;
//! `look`, `ledger`, `span` with its `summary`, `reconcile` and `measure` are what a person sees.

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
pub mod ledger;
pub mod look;
mod mail;
pub mod measure;
mod nudge;
mod open;
mod pingpong;
#[cfg(test)]
mod plans;
pub mod poll;
mod queue;
pub mod reconcile;
mod remind;
pub mod report;
mod row;
pub mod span;
pub mod summary;
mod sweep;
mod tag;
mod turns;
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
pub use turns::prompted;
pub use turns::tagged;
pub use words::Decision;
pub use words::HoldReason;
pub use words::Note;

use words::Ending;
use words::Kind;
use words::Lane;
use words::State;
