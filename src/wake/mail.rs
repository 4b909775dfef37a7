//! A part's mail as waking sees it (wake.md 1): loud, and new.

use rusqlite::Connection;

use super::due::New;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::WakeSeq;

pub(super) const NEWEST: &str = "SELECT max(message) FROM recipient
      WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0";

/// The newest loud message of the part, if it has loud mail.
pub(super) fn newest(connection: &Connection, part: PartSeq) -> Outcome<Option<MessageSeq>> {
    Ok(connection
        .prepare_cached(NEWEST)?
        .query_row([part], |row| row.get(0))?)
}

pub(super) const NEW: &str =
    "SELECT r.message, r.thread, m.ordinal, m.sender, m.urgent, m.reach, m.hops, m.at, r.later
       FROM recipient AS r JOIN message AS m ON m.seq = r.message
      WHERE r.part = ?1 AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0
        AND r.seen_at IS NULL AND r.nudged_by IS NULL
      ORDER BY r.message";

/// The part's new mail, oldest first.
pub(super) fn new(connection: &Connection, part: PartSeq) -> Outcome<Vec<New>> {
    let mut statement = connection.prepare_cached(NEW)?;
    let rows = statement.query_map([part], |row| {
        Ok(New {
            message: row.get(0)?,
            thread: row.get(1)?,
            ordinal: row.get(2)?,
            sender: row.get(3)?,
            urgent: row.get(4)?,
            reach: row.get(5)?,
            hops: row.get(6)?,
            at: row.get(7)?,
            later: row.get(8)?,
            held: None,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Notes that a nudge of `wake` covers all loud mail of the part; `reminds` if it is the first of a reminder.
pub(super) fn cover(tx: &Tx<'_>, part: PartSeq, wake: WakeSeq, reminds: bool) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE recipient SET nudged_by = ?2, reminders = reminders + ?3, remind_at = NULL
          WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0",
    )?
    .execute((part, wake, reminds))?;
    Ok(())
}

/// Notes that the line of a nudge of `wake` was submitted, for all mail it covered.
pub(super) fn presented(tx: &Tx<'_>, part: PartSeq, wake: WakeSeq, now: Time) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE recipient SET presented_at = ?3
          WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0 AND nudged_by = ?2 AND presented_at IS NULL",
    )?
    .execute((part, wake, now))?;
    Ok(())
}
