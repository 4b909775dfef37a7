//! Closing threads nobody has touched for half an hour (tools.md 10). The test and the closing are one transaction, so a message that is
//! stored first is seen.

use rusqlite::Connection;

use super::end;
use super::find;
use super::status::Status;
use crate::activity::turn;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;

/// How long a thread must have been quiet, in milliseconds.
const QUIET_MS: i64 = 30 * 60 * 1000;

/// Threads closed in one transaction, so that nobody waits for it; the next sweep goes on.
const MOST: usize = 200;

/// Live threads, neither `holding` nor flagged, quiet since `?1`, in which
/// - nobody who is not deleted, `human` included, has a message they were never shown (and did not read);
/// - no paused or parked part (`?2` is now) has unread mail, nor one whose pause or park ended after `?1`.
pub(super) const QUIET: &str = "
    SELECT t.seq FROM thread AS t
     WHERE t.status IN ('open', 'answered') AND t.flagged_at IS NULL AND t.stirred_at <= ?1
       AND NOT EXISTS (
         SELECT 1 FROM recipient AS r LEFT JOIN part AS p ON p.seq = r.part
          WHERE r.thread = t.seq AND r.read_at IS NULL AND p.deleted_at IS NULL
            AND (r.seen_at IS NULL OR p.paused_at IS NOT NULL OR p.limited_until > ?2 OR p.freed_at > ?1))
     ORDER BY t.stirred_at";

/// Closes what is due; their number.
///
/// # Errors
/// A fault of the store.
pub fn auto_close(tx: &Tx<'_>, now: Time) -> Outcome<usize> {
    let due = due(tx, now)?;
    for seq in &due {
        let thread = find::thread_at(tx, *seq)?;
        end::end(tx, &thread, Status::Closed, now)?;
    }
    Ok(due.len())
}

fn due(connection: &Connection, now: Time) -> Outcome<Vec<ThreadSeq>> {
    let mut statement = connection.prepare_cached(QUIET)?;
    let mut rows = statement.query((now.0 - QUIET_MS, now))?;
    let mut due = Vec::new();
    while due.len() < MOST
        && let Some(row) = rows.next()?
    {
        let thread = row.get(0)?;
        if !on_a_desk(connection, thread)? {
            due.push(thread);
        }
    }
    Ok(due)
}

/// Whether a recipient is still in the turn in which it was shown a message of the thread.
fn on_a_desk(connection: &Connection, thread: ThreadSeq) -> Outcome<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT r.part, max(r.last_seen_at) FROM recipient AS r
           JOIN part AS p ON p.seq = r.part AND p.deleted_at IS NULL
          WHERE r.thread = ?1 AND r.last_seen_at IS NOT NULL GROUP BY r.part",
    )?;
    let mut rows = statement.query([thread])?;
    while let Some(row) = rows.next()? {
        let part: PartSeq = row.get(0)?;
        let shown_at: Time = row.get(1)?;
        if turn::running_since(connection, part)?.is_some_and(|began| began <= shown_at) {
            return Ok(true);
        }
    }
    Ok(false)
}
