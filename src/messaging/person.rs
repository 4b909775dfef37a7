//! What a person does that no agent does (cli.md 5, dashboard.md 5): their own list of threads, looking on at a part's inbox, any state
//! for any thread, the flag. Sending, replying, closing, showing and searching are the same functions agents use, with
//! [`Author::Person`].

use rusqlite::Connection;
use serde::Serialize;

use super::author::Author;
use super::end;
use super::find;
use super::inbox::InboxArgs;
use super::inbox::InboxItem;
use super::list;
use super::list::List;
use super::marks;
use super::post;
use super::preview::preview;
use super::status::Status;
use super::threads;
use super::threads::ThreadRow;
use crate::identity::slug;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::parse_id;
use crate::store::quote;

/// Threads of one answer.
const PAGE: i64 = 50;

/// Arguments of a person's inbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonInboxArgs {
    /// Also threads with nothing unread and no flag.
    pub all: bool,
    /// Only threads that come after this one of the project.
    pub before: Option<String>,
}

/// A live thread that concerns the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonThread {
    /// Id.
    pub thread_id: String,
    /// Subject.
    pub subject: String,
    /// State.
    pub status: &'static str,
    /// Somebody asked for the person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub needs_human: bool,
    /// Messages to `human` not read.
    pub unread: u32,
    /// Who wrote last.
    pub from: String,
    /// When.
    pub at: String,
    /// First characters of that message on one line.
    pub preview: String,
}

/// Live threads of a project that are flagged or in which people take part, from a place in the order on.
pub(super) const INBOX: &str = "
    WITH mine AS (
      SELECT t.seq, t.id, t.subject, t.status, t.flagged_at IS NOT NULL AS flagged, t.messages,
             (SELECT count(*) FROM recipient AS r
               WHERE r.thread = t.seq AND r.part IS NULL AND r.read_at IS NULL) AS unread
        FROM thread AS t
       WHERE t.project = ?1 AND t.status IN ('open', 'answered', 'holding')
         AND (t.flagged_at IS NOT NULL
              OR EXISTS (SELECT 1 FROM participant AS q WHERE q.thread = t.seq AND q.part IS NULL)))
    SELECT mine.id, mine.subject, mine.status, mine.flagged, mine.unread, p.slug, m.at, m.body
      FROM mine
      CROSS JOIN message AS m ON m.thread = mine.seq AND m.ordinal = mine.messages - 1
      LEFT JOIN part AS p ON p.seq = m.sender
     WHERE (?2 OR mine.flagged OR mine.unread > 0) AND (mine.flagged, mine.seq) < (?3, ?4)
     ORDER BY mine.flagged DESC, mine.seq DESC LIMIT ?5";

/// Live threads for `human`: flagged ones first, then those in which people take part, the newest first. Marks nothing.
///
/// # Errors
/// `bad_cursor`.
pub fn inbox(
    connection: &Connection,
    project: ProjectSeq,
    args: &PersonInboxArgs,
) -> Outcome<List<PersonThread>> {
    let (flagged, before) = match &args.before {
        None => (true, i64::MAX),
        Some(cursor) => {
            let before = threads::place(connection, project, cursor)?;
            (find::flagged(connection, ThreadSeq(before))?, before)
        }
    };
    let mut statement = connection.prepare_cached(INBOX)?;
    let rows = statement
        .query_map((project, args.all, flagged, before, PAGE), |row| {
            let status: Status = row.get(2)?;
            let sender: Option<String> = row.get(5)?;
            let at: Time = row.get(6)?;
            Ok(PersonThread {
                thread_id: row.get(0)?,
                subject: row.get(1)?,
                status: status.as_str(),
                needs_human: row.get(3)?,
                unread: row.get(4)?,
                from: sender.unwrap_or_else(|| slug::HUMAN.to_owned()),
                at: at.rfc3339(),
                preview: preview(row.get_ref(7)?.as_str()?).0,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(list::cut(rows, |row: &PersonThread| &row.thread_id))
}

/// Looks on at a part's inbox: marks nothing, consumes no wake.
///
/// # Errors
/// As [`inbox`](super::inbox()).
pub fn look_on(
    connection: &Connection,
    part: PartSeq,
    args: &InboxArgs,
    now: Time,
) -> Outcome<List<InboxItem>> {
    super::inbox::of_part(connection, part, args, now).map(|inbox| inbox.list)
}

/// The person opened a thread: what was shown of it is shown and read (dashboard.md 5).
///
/// # Errors
/// A fault of the store.
pub fn opened(tx: &Tx<'_>, project: ProjectSeq, messages: &[MessageSeq], now: Time) -> Outcome<()> {
    for message in messages {
        marks::shown(tx, project, None, *message, now)?;
        marks::read(tx, project, None, *message, now)?;
    }
    Ok(())
}

/// Sets any state from any other, and so answers the flag. Reopening wakes nobody and un-reads nothing.
///
/// # Errors
/// `thread_not_found`; `conflict` if the thread is not in the state `expected` any more.
pub fn set_status(
    tx: &Tx<'_>,
    person: &Author<'_>,
    thread_id: &str,
    status: Status,
    expected: Option<Status>,
    now: Time,
) -> Outcome<ThreadRow> {
    let mut thread = find::thread(tx, person.project(), thread_id)?;
    if let Some(expected) = expected.filter(|expected| *expected != thread.status) {
        return Err(Refusal::new(
            "conflict",
            format!(
                "Nothing was changed: the thread is {}, no longer {}. Look at it again.",
                thread.status.as_str(),
                expected.as_str()
            ),
        )
        .with("status", thread.status.as_str())
        .into());
    }
    match (thread.status.is_live(), status.is_live()) {
        (true, false) => end::end(tx, &thread, status, now)?,
        (false, true) => end::reopen(tx, &thread, status, now)?,
        _ if thread.status != status => {
            tx.prepare_cached("UPDATE thread SET status = ?2 WHERE seq = ?1")?
                .execute((thread.seq, status.as_str()))?;
            end::tell(tx, &thread);
        }
        _ => {}
    }
    post::unflag(tx, person, thread.seq, &thread.id)?;
    thread.status = status;
    Ok(ThreadRow::of(&thread))
}

/// Threads whose id ends so, newest first, with their project; ten at most. A person may give an id by 6 and more of its last characters
/// (cli.md 1); a whole one is its own ending.
///
/// # Errors
/// `invalid_argument` for fewer characters, or for what no id holds.
pub fn threads_ending(
    connection: &Connection,
    tail: &str,
) -> Outcome<Vec<(ProjectSeq, ThreadRow)>> {
    let tail = tail.trim().to_ascii_lowercase();
    let fits = tail.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !fits || !(6..=36).contains(&tail.len()) {
        return Err(Refusal::new(
            "invalid_argument",
            format!(
                "{} is no thread id, nor 6 and more of the last characters of one.",
                quote(&tail)
            ),
        )
        .into());
    }
    // A whole id is found by its index; an ending is looked for in all of them.
    let ends = if parse_id(&tail).is_some() {
        "id = ?1"
    } else {
        "substr(id, -length(?1)) = ?1"
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT project, id, subject, status, created_at FROM thread WHERE {ends} ORDER BY seq DESC LIMIT 10"
    ))?;
    let rows = statement.query_map([tail], |row| {
        Ok((
            row.get(0)?,
            ThreadRow::new(row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?),
        ))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
