//! Holds as episodes: one row per part and reason while it lasts (wake.md 4).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::HoldReason;
use super::due::New;
use super::facts::Facts;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;

/// Notes that a wake of the part is due and held: goes on with the open row of that reason, or closes another and begins one. `newest`
/// is the newest loud message, `new` the new ones.
pub(super) fn note(
    tx: &Tx<'_>,
    facts: &Facts,
    reason: HoldReason,
    until: Option<Time>,
    newest: MessageSeq,
    new: &[New],
    now: Time,
) -> Outcome<()> {
    let open: Option<(i64, Option<Time>, MessageSeq)> = tx
        .prepare_cached(
            "SELECT seq, until, last_seq FROM hold WHERE part = ?1 AND reason = ?2 AND ended_at IS NULL",
        )?
        .query_row((facts.part, reason), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let sender = new.last().and_then(|new| new.sender);
    if let Some((seq, before, last)) = open {
        if before == until && last == newest {
            return Ok(());
        }
        let more = new.iter().filter(|new| new.message > last).count();
        tx.prepare_cached(
            "UPDATE hold SET until = ?2, last_seq = ?3, count = count + ?4,
                             last_sender = CASE WHEN ?4 > 0 THEN ?5 ELSE last_sender END WHERE seq = ?1",
        )?
        .execute((seq, until, newest, more as i64, sender))?;
    } else {
        close(tx, facts, now)?;
        tx.prepare_cached(
            "INSERT INTO hold (part, owner, reason, since, until, count, last_sender, last_seq)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            facts.part,
            facts.owner,
            reason,
            now,
            until,
            new.len() as i64,
            sender,
            newest,
        ))?;
    }
    facts.tell(tx, Topic::Hold, "");
    Ok(())
}

/// Ends what is open. Left to itself SQLite walks through all holds the part ever had.
pub(super) const CLOSE: &str =
    "UPDATE hold INDEXED BY hold_open SET ended_at = ?2 WHERE part = ?1 AND ended_at IS NULL";

/// The reason of what is open; the index is named as in [`CLOSE`].
pub(super) const REASON: &str =
    "SELECT reason FROM hold INDEXED BY hold_open WHERE part = ?1 AND ended_at IS NULL";

/// Closes the part's open hold, if it has one.
pub(super) fn close(tx: &Tx<'_>, facts: &Facts, now: Time) -> Outcome<()> {
    let closed = tx.prepare_cached(CLOSE)?.execute((facts.part, now))?;
    if closed > 0 {
        facts.tell(tx, Topic::Hold, "");
    }
    Ok(())
}

/// Why the part's mail waits without a wake, if it does.
pub(super) fn reason(connection: &Connection, part: PartSeq) -> Outcome<Option<HoldReason>> {
    Ok(connection
        .prepare_cached(REASON)?
        .query_row([part], |row| row.get(0))
        .optional()?)
}

/// A part's place in the queue for what is free: before others the part whose oldest new mail is oldest; after them, by their oldest loud
/// mail, those with nothing new, who wait for a reminder or a further nudge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Nothing new.
    old: bool,
    /// The oldest message that counts.
    oldest: MessageSeq,
}

pub(super) const OLDEST: &str = "SELECT min(message) FROM recipient
      WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0";

/// The rank of a part with that new mail, oldest first.
pub(super) fn rank(connection: &Connection, part: PartSeq, new: &[New]) -> Outcome<Rank> {
    if let Some(oldest) = new.first() {
        return Ok(Rank {
            old: false,
            oldest: oldest.message,
        });
    }
    let oldest: Option<MessageSeq> = connection
        .prepare_cached(OLDEST)?
        .query_row([part], |row| row.get(0))?;
    Ok(Rank {
        old: true,
        oldest: oldest.unwrap_or(MessageSeq(i64::MAX)),
    })
}

pub(super) const QUEUE: &str = "SELECT h.part,
            (SELECT min(r.message) FROM recipient AS r
              WHERE r.part = h.part AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0
                AND r.seen_at IS NULL AND r.nudged_by IS NULL),
            (SELECT min(r.message) FROM recipient AS r
              WHERE r.part = h.part AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0)
       FROM hold AS h WHERE h.owner = ?1 AND h.reason = 'budget' AND h.ended_at IS NULL";

/// The owner's parts held for the budget, by rank.
pub(super) fn queue(connection: &Connection, owner: UserSeq) -> Outcome<Vec<(Rank, PartSeq)>> {
    let mut statement = connection.prepare_cached(QUEUE)?;
    let rows = statement.query_map([owner], |row| {
        let new: Option<MessageSeq> = row.get(1)?;
        let loud: Option<MessageSeq> = row.get(2)?;
        let rank = Rank {
            old: new.is_none(),
            oldest: new.or(loud).unwrap_or(MessageSeq(i64::MAX)),
        };
        Ok((rank, row.get(0)?))
    })?;
    let mut queue: Vec<(Rank, PartSeq)> = rows.collect::<rusqlite::Result<_>>()?;
    queue.sort_unstable();
    Ok(queue)
}
