//! The threads of a project, newest first (tools.md 6, threads).

use rusqlite::Connection;
use serde::Serialize;

use super::find;
use super::find::Thread;
use super::list;
use super::list::List;
use super::status::Status;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;
use crate::store::parse_id;
use crate::store::text;

/// Threads of one answer.
const PAGE: i64 = 50;

/// Arguments of `threads`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadsArgs {
    /// One of the five states.
    pub status: Option<String>,
    /// 1–200 characters, literally contained in the subject, in any case.
    pub q: Option<String>,
    /// Only threads older than this one of the project.
    pub before: Option<String>,
    /// Only threads this part takes part in; the person's filter, agents have none.
    pub part: Option<PartSeq>,
}

/// One thread, as `threads` and `show` give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadRow {
    /// Id.
    pub id: String,
    /// Subject.
    pub subject: String,
    /// State.
    pub status: &'static str,
    /// When its first message was stored.
    pub created_at: String,
}

impl ThreadRow {
    pub(super) fn new(id: String, subject: String, status: Status, created_at: Time) -> Self {
        Self {
            id,
            subject,
            status: status.as_str(),
            created_at: created_at.rfc3339(),
        }
    }

    pub(super) fn of(thread: &Thread) -> Self {
        Self::new(
            thread.id.clone(),
            thread.subject.clone(),
            thread.status,
            thread.created_at,
        )
    }
}

/// The project's threads that pass all filters, 50 at most.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`, `bad_cursor`.
pub fn threads(
    connection: &Connection,
    project: ProjectSeq,
    args: &ThreadsArgs,
) -> Outcome<List<ThreadRow>> {
    let status = args.status.as_deref().map(Status::read).transpose()?;
    let q = args.q.as_deref().map(query).transpose()?;
    let before = match &args.before {
        None => i64::MAX,
        Some(cursor) => place(connection, project, cursor)?,
    };
    let mut statement = connection.prepare_cached(&sql(status.is_some()))?;
    let rows = statement
        .query_map(
            (
                project,
                before,
                status.map(Status::as_str),
                q,
                args.part,
                PAGE,
            ),
            |row| {
                Ok(ThreadRow::new(
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                ))
            },
        )?
        .collect::<rusqlite::Result<_>>()?;
    Ok(list::cut(rows, |row: &ThreadRow| &row.id))
}

/// With a state asked for, the walk goes down the index of that state; a filter on `status` alone would read every newer thread.
pub(super) fn sql(by_status: bool) -> String {
    let status = if by_status {
        "status = ?3"
    } else {
        "?3 IS NULL"
    };
    format!(
        "SELECT id, subject, status, created_at FROM thread
          WHERE project = ?1 AND seq < ?2 AND {status}
            AND (?4 IS NULL OR instr(folded, ?4) > 0)
            AND (?5 IS NULL OR EXISTS (SELECT 1 FROM participant AS p WHERE p.thread = thread.seq AND p.part = ?5))
          ORDER BY seq DESC LIMIT ?6"
    )
}

fn query(raw: &str) -> Outcome<String> {
    let q = text::lines("q", raw)?;
    text::not_blank("q", &q)?;
    text::at_most_chars("q", &q, 200)?;
    Ok(text::fold(&q))
}

/// Where a cursor of this project stands in the order.
pub(super) fn place(connection: &Connection, project: ProjectSeq, cursor: &str) -> Outcome<i64> {
    let found = match parse_id(cursor) {
        Some(id) => find::thread_with(connection, project, &id)?,
        None => None,
    };
    found
        .map(|thread| thread.seq.0)
        .ok_or_else(|| find::bad_cursor("before"))
}
