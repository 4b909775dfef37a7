//! What parts are doing and what it costs: when they were last heard, what their panes look like, whether they are parked, the events they
//! record about themselves, their turns, and the tokens of those turns (tools.md 6, event and roster; wake.md 7; pager.md 2; usage.md 6–9).
//!
//! What this folder promises:
//!
//! - **Only what was reported is said.** A state names its source; without a report it is `none`, never a guess.
//! - **Being heard costs no commit.** [`Heard`] keeps the time in memory and it is written in batches of at most 15 s; a crash loses
//!   at most those seconds, and never a message.
//! - **Events never change** once stored, and wake nobody; only a turn's `complete` follows what is told of the turn later.
//! - **A reply counts once**, whatever arrives how often ([`usage`]), and every figure is computed from rows when asked ([`ledger`]).

pub mod attention;
mod clock;
pub mod event;
pub mod heard;
pub mod ledger;
mod lost;
pub mod pane;
pub mod park;
#[cfg(test)]
mod plans;
pub mod price;
pub mod roster;
pub mod turn;
pub mod usage;
mod words;
pub mod zone;

pub use heard::Heard;
pub use lost::What;
pub use words::Cause;
pub use words::Ending;
