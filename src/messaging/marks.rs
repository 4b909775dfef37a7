//! Shown and read: what a recipient was given, and what it is done with (tools.md 8). Neither is ever taken back.

use std::time::Duration;

use crate::identity::part;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Signal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::wake;

/// A message shown again within this time is not marked again: who asks in a loop costs no commit per call.
const AGAIN: Duration = Duration::from_secs(1);

/// Whether showing a message is to be written down: the first time, and again for as long as it is unread.
pub(super) fn due(unread: bool, last_shown: Option<Time>, now: Time) -> bool {
    last_shown.is_none_or(|last| unread && now - AGAIN >= last)
}

/// Marks messages shown to a part by its `inbox` or `show`, and its wake consumed, also when the answer was empty. It stands in the
/// writer's queue behind an answer that has left (DESIGN 3).
///
/// # Errors
/// A fault of the store.
pub fn mark_shown(tx: &Tx<'_>, part: PartSeq, messages: &[MessageSeq], now: Time) -> Outcome<()> {
    let project = part::get(tx, part)?.project;
    for message in messages {
        shown(tx, project, Some(part), *message, now)?;
    }
    wake::consumed(tx, part, now)
}

/// Marks one message shown to a part, or to the person. The first showing starts the thread's quiet half hour anew (tools.md 10).
pub(super) fn shown(
    tx: &Tx<'_>,
    project: ProjectSeq,
    part: Option<PartSeq>,
    message: MessageSeq,
    now: Time,
) -> Outcome<()> {
    let first = tx
        .prepare_cached(
            "UPDATE recipient SET seen_at = ?3, last_seen_at = ?3
              WHERE message = ?1 AND part IS ?2 AND seen_at IS NULL",
        )?
        .execute((message, part, now))?;
    if first > 0 {
        tx.prepare_cached(
            "UPDATE thread SET stirred_at = max(stirred_at, ?2)
              WHERE seq = (SELECT thread FROM message WHERE seq = ?1)",
        )?
        .execute((message, now))?;
        return tell(tx, project, part, message);
    }
    tx.prepare_cached("UPDATE recipient SET last_seen_at = ?3 WHERE message = ?1 AND part IS ?2")?
        .execute((message, part, now))?;
    Ok(())
}

/// Marks one message read; false if it was before.
pub(super) fn read(
    tx: &Tx<'_>,
    project: ProjectSeq,
    part: Option<PartSeq>,
    message: MessageSeq,
    now: Time,
) -> Outcome<bool> {
    let first = tx
        .prepare_cached(
            "UPDATE recipient SET read_at = ?3
              WHERE message = ?1 AND part IS ?2 AND read_at IS NULL",
        )?
        .execute((message, part, now))?;
    if first > 0 {
        tell(tx, project, part, message)?;
    }
    Ok(first > 0)
}

/// Marks read what the one who replies was shown of the thread, and counts what it was never shown and has not read.
pub(super) fn read_by_reply(
    tx: &Tx<'_>,
    project: ProjectSeq,
    part: Option<PartSeq>,
    thread: ThreadSeq,
    now: Time,
) -> Outcome<u32> {
    let seen: Vec<MessageSeq> = tx
        .prepare_cached(
            "SELECT message FROM recipient
              WHERE thread = ?1 AND part IS ?2 AND read_at IS NULL AND seen_at IS NOT NULL",
        )?
        .query_map((thread, part), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for message in seen {
        read(tx, project, part, message, now)?;
    }
    Ok(tx
        .prepare_cached(
            "SELECT count(*) FROM recipient
              WHERE thread = ?1 AND part IS ?2 AND read_at IS NULL AND seen_at IS NULL",
        )?
        .query_row((thread, part), |row| row.get(0))?)
}

fn tell(
    tx: &Tx<'_>,
    project: ProjectSeq,
    part: Option<PartSeq>,
    message: MessageSeq,
) -> Outcome<()> {
    let id = tx
        .prepare_cached("SELECT id FROM message WHERE seq = ?1")?
        .query_row([message], |row| row.get(0))?;
    tx.signal(Signal {
        topic: Topic::Read,
        project: Some(project),
        part,
        id,
    });
    Ok(())
}
