//! Ending a thread, whoever ends it, and taking that back (tools.md 7 and 8): out of inboxes, unread counts and wakes, in one place.

use super::find::Thread;
use super::status::Status;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::wake;

/// Ends a live thread: everybody's unread mail in it is read, and wakes that have nothing else to announce are settled.
pub(super) fn end(tx: &Tx<'_>, thread: &Thread, status: Status, now: Time) -> Outcome<()> {
    let parts: Vec<PartSeq> = tx
        .prepare_cached(
            "SELECT DISTINCT part FROM recipient
              WHERE thread = ?1 AND part IS NOT NULL AND live = 1 AND read_at IS NULL",
        )?
        .query_map([thread.seq], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    tx.prepare_cached(
        "UPDATE recipient SET live = 0, read_at = coalesce(read_at, ?2) WHERE thread = ?1",
    )?
    .execute((thread.seq, now))?;
    tx.prepare_cached("UPDATE thread SET status = ?2, ended_at = ?3 WHERE seq = ?1")?
        .execute((thread.seq, status.as_str(), now))?;
    for part in &parts {
        tx.signal(Signal {
            topic: Topic::Read,
            project: Some(thread.project),
            part: Some(*part),
            id: thread.id.clone(),
        });
    }
    tell(tx, thread);
    wake::settle(tx, &parts, now)
}

/// Brings a done thread back to life. It wakes nobody and un-reads nothing; the quiet half hour begins anew, or the next sweep would
/// close it again.
pub(super) fn reopen(tx: &Tx<'_>, thread: &Thread, status: Status, now: Time) -> Outcome<()> {
    tx.prepare_cached("UPDATE recipient SET live = 1 WHERE thread = ?1")?
        .execute([thread.seq])?;
    tx.prepare_cached(
        "UPDATE thread SET status = ?2, ended_at = NULL, stirred_at = max(stirred_at, ?3) WHERE seq = ?1",
    )?
    .execute((thread.seq, status.as_str(), now))?;
    tell(tx, thread);
    Ok(())
}

pub(super) fn tell(tx: &Tx<'_>, thread: &Thread) {
    tx.signal(Signal {
        topic: Topic::Thread,
        project: Some(thread.project),
        part: None,
        id: thread.id.clone(),
    });
}
