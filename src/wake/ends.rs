//! What ends a wake from outside: the agent came, its mail is gone, or the part must not be woken any more.

use super::Ending;
use super::consider;
use super::facts::Facts;
use super::hold;
use super::queue;
use super::queue::Others;
use super::remind;
use super::row;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// The agent itself came for its mail: an inbox, show, ack, reply or close call, whose marks are written already. Ends the wake, then
/// considers the part again: what the call left neither shown nor covered by a nudge is new mail still.
///
/// # Errors
/// A fault of the store.
pub fn consumed(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<()> {
    let Some(wake) = row::open(tx, part)? else {
        remind::reschedule(tx, part)?;
        return consider::consider(tx, part, now).map(|_| ());
    };
    let facts = Facts::of(tx, part, now)?;
    row::end(tx, &facts, &wake, Ending::Consumed, now)?;
    consider::consider(tx, part, now)?;
    queue::given_up(tx, &wake, Others::First, now)
}

/// After threads ended: clears the wakes of parts that have nothing loud left.
///
/// # Errors
/// A fault of the store.
pub fn settle(tx: &Tx<'_>, parts: &[PartSeq], now: Time) -> Outcome<()> {
    for part in parts {
        consider::consider(tx, *part, now)?;
    }
    Ok(())
}

/// Ends the part's wake because the part was deleted, its owner banned or its project archived.
///
/// # Errors
/// A fault of the store.
pub fn cancel(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<()> {
    let facts = Facts::of(tx, part, now)?;
    hold::close(tx, &facts, now)?;
    match row::open(tx, part)? {
        Some(wake) => queue::end(tx, &facts, &wake, Ending::Canceled, Others::First, now),
        None => Ok(()),
    }
}
