//! A part's turn as its hook reports it (usage.md 7).

use rusqlite::Connection;

use crate::api::TurnView;
use crate::store::Outcome;
use crate::store::PartSeq;

/// The part's turn. This relay takes no reports of hooks, and without a report it is `none`.
///
/// # Errors
/// A fault of the store.
pub fn of(_connection: &Connection, _part: PartSeq) -> Outcome<TurnView> {
    Ok(TurnView::default())
}
