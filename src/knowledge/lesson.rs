//! The lesson of a close: at most one per thread, ever. It never stops the close (knowledge.md 2).

use rusqlite::Connection;
use serde::Serialize;

use super::entry::NewEntry;
use super::limit;
use super::write;
use crate::identity::Caller;
use crate::identity::project;
use crate::store::Error;
use crate::store::Fault;
use crate::store::Outcome;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;

/// What became of a lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LessonOutcome {
    /// Whether it was stored.
    pub recorded: bool,
    /// Its id, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_id: Option<String>,
    /// Why not, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'static str>,
    /// Why not, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

fn not_recorded(code: &'static str, reason: &'static str) -> LessonOutcome {
    LessonOutcome {
        recorded: false,
        knowledge_id: None,
        code: Some(code),
        reason: Some(reason),
    }
}

/// Records the lesson of a closed thread, or says why it did not. `canceled` is whether the thread ended so.
///
/// # Errors
/// A fault, which takes the close down too.
pub fn lesson(
    tx: &Tx<'_>,
    caller: &Caller,
    thread: ThreadSeq,
    canceled: bool,
    new: &NewEntry,
    now: Time,
) -> Outcome<LessonOutcome> {
    if canceled {
        return Ok(not_recorded("thread_canceled", "the thread was canceled"));
    }
    if caller.may_write().is_err() {
        return Ok(not_recorded("unauthorized", "a lesson needs level write"));
    }
    if !project::get(tx, caller.project)?.distill_on_close {
        return Ok(not_recorded(
            "distill_disabled",
            "the person switched lessons off for this project",
        ));
    }
    let cleaned = match write::clean(tx, caller.project, new) {
        Ok((cleaned, _)) => Ok(cleaned),
        Err(Error::Refusal(refusal)) => Err(refusal.code),
        Err(fault) => return Err(fault),
    };
    if cleaned == Err("redaction_unresolvable") {
        return Ok(not_recorded(
            "redaction_unresolvable",
            "the redaction rules cannot be read",
        ));
    }
    if limit::taught_enough(tx, caller.part, now)? {
        return Ok(not_recorded(
            "rate_limited",
            "60 lessons an hour are the limit",
        ));
    }
    let Ok(cleaned) = cleaned else {
        return Ok(not_recorded(
            "empty_after_redaction",
            "only a secret was left of the body",
        ));
    };
    if decided(tx, thread)? {
        return Ok(not_recorded("already_decided", "the thread has its lesson"));
    }
    tx.execute_batch("SAVEPOINT lesson")?;
    let stored = write::store(
        tx,
        caller.project,
        &cleaned,
        "lesson",
        (Some(caller.part), caller.user),
        now,
    )
    .and_then(|(seq, id)| write::cite(tx, seq, thread, true).map(|()| id));
    match stored {
        Ok(id) => {
            tx.execute_batch("RELEASE lesson")?;
            Ok(LessonOutcome {
                recorded: true,
                knowledge_id: Some(id),
                code: None,
                reason: None,
            })
        }
        Err(Error::Fault(Fault::Sqlite(error)))
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
        {
            tx.execute_batch("ROLLBACK TO lesson; RELEASE lesson")?;
            Ok(not_recorded("storage_failed", "the row was refused"))
        }
        Err(other) => Err(other),
    }
}

fn decided(connection: &Connection, thread: ThreadSeq) -> Outcome<bool> {
    Ok(connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM knowledge_thread WHERE thread = ?1 AND lesson = 1)",
        [thread],
        |row| row.get(0),
    )?)
}
