//! What holds a single message's wake back: cooldown, the brakes of its thread, a broadcast's cap (wake.md 4, checks 6–8). Only agents'
//! messages are asked; a person's wakes at once.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::HoldReason;
use super::brake;
use super::due::Held;
use super::due::New;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// One sender's wakes of one part are at least this far apart.
const COOLDOWN: Duration = Duration::from_secs(30);

/// Notes on each of the part's new messages, oldest first, what holds it back. Once one is free the older ones of its sender and
/// thread are not asked, for the wake is due anyway.
pub(super) fn mark(tx: &Tx<'_>, part: PartSeq, new: &mut [New], now: Time) -> Outcome<()> {
    let mut free = HashSet::new();
    for new in new.iter_mut().rev() {
        let Some(sender) = new.sender else { continue };
        if free.contains(&(new.thread, sender)) {
            continue;
        }
        new.held = of(tx, part, sender, new, now)?;
        if new.held.is_none() {
            free.insert((new.thread, sender));
        }
    }
    Ok(())
}

fn of(tx: &Tx<'_>, part: PartSeq, sender: PartSeq, new: &New, now: Time) -> Outcome<Option<Held>> {
    // Asked first, for a brake trips on the message that is one too many whatever else holds that one.
    let braked = brake::until(tx, part, sender, new, now)?;
    if new.reach == 1
        && !new.urgent
        && let Some(last) = last_caused(tx, part, sender, new.message, now - COOLDOWN)?
    {
        return Ok(Some(Held {
            reason: HoldReason::Cooldown,
            until: Some(last + COOLDOWN),
        }));
    }
    if let Some(until) = braked {
        return Ok(Some(Held {
            reason: HoldReason::PingPong,
            until: Some(until),
        }));
    }
    Ok(new.later.then_some(Held {
        reason: HoldReason::Broadcast,
        until: None,
    }))
}

/// A broadcast's wake is no one's cooldown, nor is the wake a message itself caused before.
pub(super) const LAST_CAUSED: &str =
    "SELECT w.issued_at FROM wake AS w JOIN message AS m ON m.seq = w.cause_message
      WHERE w.part = ?1 AND w.cause_part = ?2 AND w.issued_at > ?3 AND w.cause_message <> ?4
        AND w.kind = 'mail' AND m.reach = 1
      ORDER BY w.issued_at DESC LIMIT 1";

/// When `sender` last caused a wake of `part` by another message than `new`, to it alone, if that was after `since`.
fn last_caused(
    connection: &Connection,
    part: PartSeq,
    sender: PartSeq,
    new: MessageSeq,
    since: Time,
) -> Outcome<Option<Time>> {
    Ok(connection
        .prepare_cached(LAST_CAUSED)?
        .query_row((part, sender, since, new), |row| row.get(0))
        .optional()?)
}
