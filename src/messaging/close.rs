//! Ending a thread, perhaps with its lesson (tools.md 6, close).

use rusqlite::Connection;
use serde::Serialize;

use super::author::Author;
use super::end;
use super::find;
use super::find::Thread;
use super::participants;
use super::status::Status;
use crate::identity::Caller;
use crate::identity::project;
use crate::knowledge;
use crate::knowledge::LessonOutcome;
use crate::knowledge::NewEntry;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::wake;

/// Arguments of `close`, as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloseArgs {
    /// The thread.
    pub thread_id: String,
    /// What is to be learned from it; agents only.
    pub lesson: Option<LessonArgs>,
}

/// A lesson as it came; all three are required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LessonArgs {
    /// 1–200 characters on one line.
    pub title: Option<String>,
    /// 1–4,000 characters.
    pub body: Option<String>,
    /// `fact`, `convention`, `pitfall` or `decision`.
    pub kind: Option<String>,
}

/// What `close` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed {
    /// Always true.
    pub ok: bool,
    /// The thread.
    pub thread_id: String,
    /// What the thread truly is.
    pub status: &'static str,
    /// What became of the lesson, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lesson: Option<LessonOutcome>,
    /// Other parts to which it holds a message they were never shown and did not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<String>,
}

/// Closes a thread; on a done one nothing changes but that a closed one still takes its first lesson. Participants may, the main agent
/// may any, a person may any.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character` for a malformed lesson or a person's; `thread_not_found`, `not_participant`. Nothing changes
/// then.
pub fn close(tx: &Tx<'_>, author: &Author<'_>, args: &CloseArgs, now: Time) -> Outcome<Closed> {
    let lesson = args.lesson.as_ref().map(check).transpose()?;
    if lesson.is_some() && author.part().is_none() {
        return Err(Refusal::new(
            "invalid_argument",
            "Nothing was closed: a lesson is an agent's. Close without it, and add knowledge as a person does.",
        )
        .into());
    }
    let thread = find::thread(tx, author.project(), &args.thread_id)?;
    if let Author::Part(caller) = author {
        may_close(tx, caller, &thread)?;
    }
    let mut unseen = Vec::new();
    let mut status = thread.status;
    if status.is_live() {
        unseen = never_shown(tx, author, &thread)?;
        status = Status::Closed;
        end::end(tx, &thread, status, now)?;
    }
    let mut outcome = None;
    if let Author::Part(caller) = author {
        wake::consumed(tx, caller.part, now)?;
        if let Some(lesson) = lesson {
            let canceled = status == Status::Canceled;
            outcome = Some(knowledge::lesson(
                tx, caller, thread.seq, canceled, &lesson, now,
            )?);
        }
    }
    Ok(Closed {
        ok: true,
        thread_id: thread.id,
        status: status.as_str(),
        lesson: outcome,
        unseen,
    })
}

fn check(lesson: &LessonArgs) -> Result<NewEntry, Refusal> {
    match (&lesson.title, &lesson.body, &lesson.kind) {
        (Some(title), Some(body), Some(kind)) => NewEntry::check(kind, title, body),
        _ => Err(Refusal::new(
            "invalid_argument",
            "Nothing was closed: a lesson needs title, body and kind. Give all three, or no lesson.",
        )),
    }
}

/// Closing takes mail out of others' inboxes, which is no bystander's business; but a coordinator must be able to tidy up after parts
/// that are gone.
fn may_close(connection: &Connection, caller: &Caller, thread: &Thread) -> Outcome<()> {
    if participants::standing(connection, thread, Some(caller.part))?.is_some()
        || project::get(connection, caller.project)?.main_part == Some(caller.part)
    {
        return Ok(());
    }
    Err(participants::not_participant("close").into())
}

fn never_shown(
    connection: &Connection,
    author: &Author<'_>,
    thread: &Thread,
) -> Outcome<Vec<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT p.slug FROM recipient AS r JOIN part AS p ON p.seq = r.part
          WHERE r.thread = ?1 AND r.seen_at IS NULL AND r.read_at IS NULL
            AND p.deleted_at IS NULL AND r.part IS NOT ?2
          ORDER BY p.slug",
    )?;
    let rows = statement.query_map((thread.seq, author.part()), |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
