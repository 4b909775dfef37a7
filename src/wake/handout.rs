//! Which wake a pager may be handed, and whether its line may be typed now (wake.md 8).

use rusqlite::Connection;

use super::State;
use super::budget;
use super::facts::Facts;
use super::lease::Lease;
use super::mail;
use super::row;
use super::row::Wake;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// What a part's open wake is to one who asks.
#[derive(Debug)]
pub(super) enum Handout {
    /// Nothing to be typed.
    Nothing,
    /// Another pager, on that machine, holds it.
    Held { machine: Option<String> },
    /// The asker's to type, or still in the asker's hands.
    Offered(Wake),
}

/// What `holder` may be handed for the part.
pub(super) fn of(
    connection: &Connection,
    part: PartSeq,
    holder: &str,
    now: Time,
) -> Outcome<Handout> {
    let Some(wake) = row::open(connection, part)? else {
        return Ok(Handout::Nothing);
    };
    let lease = wake.lease(holder, now);
    if lease == Lease::Other {
        return Ok(Handout::Held {
            machine: wake.machine,
        });
    }
    let in_hand = wake.typed && wake.state == State::Leased && lease == Lease::Own;
    if in_hand || (wake.is_due() && may_type(connection, &wake, now)?) {
        return Ok(Handout::Offered(wake));
    }
    Ok(Handout::Nothing)
}

/// Whether the line of a wake, not yet typed, may be typed now: loud mail is left, nothing holds the part, its place in the budget
/// stands.
pub(super) fn may_type(connection: &Connection, wake: &Wake, now: Time) -> Outcome<bool> {
    Ok(Facts::of(connection, wake.part, now)?.open_to_wakes()
        && mail::newest(connection, wake.part)?.is_some()
        && budget::keeps_place(connection, wake, now)?)
}
