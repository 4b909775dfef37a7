//! Looking up what an id of a call names, in the caller's project and nowhere else.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::status::Status;
use crate::store::Error;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::parse_id;
use crate::store::text;

/// A thread's row.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) seq: ThreadSeq,
    pub(super) id: String,
    pub(super) project: ProjectSeq,
    pub(super) subject: String,
    pub(super) status: Status,
    /// `None`: a person.
    pub(super) opener: Option<PartSeq>,
    pub(super) created_at: Time,
    /// The next message's ordinal.
    pub(super) messages: i64,
}

const THREAD: &str =
    "SELECT seq, id, project, subject, status, opener, created_at, messages FROM thread";

fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Thread> {
    Ok(Thread {
        seq: row.get(0)?,
        id: row.get(1)?,
        project: row.get(2)?,
        subject: row.get(3)?,
        status: row.get(4)?,
        opener: row.get(5)?,
        created_at: row.get(6)?,
        messages: row.get(7)?,
    })
}

/// The thread an argument names.
///
/// # Errors
/// `control_character`, `invalid_argument`; `thread_not_found` for an unknown one and one of another project alike.
pub(super) fn thread(
    connection: &Connection,
    project: ProjectSeq,
    argument: &str,
) -> Outcome<Thread> {
    let id = id("threadId", argument)?;
    thread_with(connection, project, &id)?.ok_or_else(|| {
        Refusal::new(
            "thread_not_found",
            "Nothing was done: no thread of this project has that id. Take one from inbox, threads or search.",
        )
        .into()
    })
}

/// The thread of the project with this id, if there is one.
pub(super) fn thread_with(
    connection: &Connection,
    project: ProjectSeq,
    id: &str,
) -> Outcome<Option<Thread>> {
    let mut statement =
        connection.prepare_cached(&format!("{THREAD} WHERE id = ?1 AND project = ?2"))?;
    Ok(statement.query_row((id, project), row).optional()?)
}

/// The thread of that row.
pub(super) fn thread_at(connection: &Connection, seq: ThreadSeq) -> Outcome<Thread> {
    let mut statement = connection.prepare_cached(&format!("{THREAD} WHERE seq = ?1"))?;
    Ok(statement.query_row([seq], row)?)
}

/// Whether a thread is flagged for the person.
pub(super) fn flagged(connection: &Connection, seq: ThreadSeq) -> Outcome<bool> {
    Ok(connection
        .prepare_cached("SELECT flagged_at IS NOT NULL FROM thread WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))?)
}

/// Reads a required id.
///
/// # Errors
/// `control_character`, `invalid_argument`.
pub(super) fn id(argument: &str, raw: &str) -> Result<String, Refusal> {
    let text = text::line(argument, raw)?;
    parse_id(&text).ok_or_else(|| {
        Refusal::new(
            "invalid_argument",
            format!(
                "Nothing was done: {argument} is no UUID. Give one from inbox, threads or search."
            ),
        )
    })
}

/// The refusal of a cursor that this list could not hold.
pub(super) fn bad_cursor(argument: &str) -> Error {
    Refusal::new(
        "bad_cursor",
        format!(
            "Nothing was listed: {argument} is nothing this list could hold. Call again without it."
        ),
    )
    .into()
}
