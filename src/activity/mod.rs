//! What parts are doing: when they were last heard, what their panes look like, whether they are parked, and the events they record
//! about themselves (tools.md 6, event and roster; wake.md 7; pager.md 2).
//!
//! What this folder promises:
//!
//! - **Only what was reported is said.** A state names its source; without a report it is `none`, never a guess.
//! - **Being heard costs no commit.** [`Heard`] keeps the time in memory and it is written in batches of at most 15 s; a crash loses
//!   at most those seconds, and never a message.
//! - **Events never change** once stored, and wake nobody.

pub mod attention;
pub mod event;
pub mod heard;
pub mod pane;
pub mod park;
pub mod roster;
pub mod turn;

pub use heard::Heard;
