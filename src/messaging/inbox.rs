//! A part's mail in live threads, newest first (tools.md 6, inbox). A read: what it showed is marked afterwards by
//! [`mark_shown`](super::mark_shown).

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;

use super::find;
use super::list;
use super::list::List;
use super::marks;
use super::preview::preview;
use super::status::Status;
use crate::identity::Caller;
use crate::identity::slug;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::parse_id;

/// Arguments of `inbox`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxArgs {
    /// Leave out what was read.
    pub unread_only: bool,
    /// 1–50, 30 if not given.
    pub limit: Option<i64>,
    /// Only messages older than this one, which is addressed to the caller.
    pub before: Option<String>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InboxItem {
    /// Id of the message.
    pub message_id: String,
    /// Its thread.
    pub thread_id: String,
    /// The thread's subject.
    pub subject: String,
    /// A part's name, or `human`.
    pub from: String,
    /// Not yet read by the one asked for.
    pub unread: bool,
    /// Sent as urgent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub urgent: bool,
    /// No answer wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fyi: bool,
    /// When it was stored.
    pub at: String,
    /// First characters of the body on one line.
    pub preview: String,
    /// Nothing was cut from the preview.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full: bool,
    /// State of the thread.
    pub thread_status: &'static str,
}

/// An inbox and what is to be marked once it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// The answer.
    pub list: List<InboxItem>,
    /// Messages of it that are new to the part, or still unread and not shown a moment ago: for
    /// [`mark_shown`](super::mark_shown). Empty: nothing to write.
    pub shown: Vec<MessageSeq>,
}

/// The caller's inbox.
///
/// # Errors
/// `invalid_argument` for the limit, `bad_cursor`.
pub fn inbox(
    connection: &Connection,
    caller: &Caller,
    args: &InboxArgs,
    now: Time,
) -> Outcome<Inbox> {
    of_part(connection, caller.part, args, now)
}

/// All of a part's mail in live threads, older than `?2`. The walk goes down one partial index and never sorts.
pub(super) const ALL: &str = "
    SELECT r.message, m.id, t.id, t.subject, p.slug, r.read_at IS NULL, m.urgent, m.fyi, m.at, m.body, t.status,
           r.last_seen_at
      FROM recipient AS r
      CROSS JOIN message AS m ON m.seq = r.message
      CROSS JOIN thread AS t ON t.seq = r.thread
      LEFT JOIN part AS p ON p.seq = m.sender
     WHERE r.part = ?1 AND r.live = 1 AND r.message < ?2
     ORDER BY r.message DESC LIMIT ?3";

/// As [`ALL`], what was not read.
pub(super) const UNREAD: &str = "
    SELECT r.message, m.id, t.id, t.subject, p.slug, r.read_at IS NULL, m.urgent, m.fyi, m.at, m.body, t.status,
           r.last_seen_at
      FROM recipient AS r
      CROSS JOIN message AS m ON m.seq = r.message
      CROSS JOIN thread AS t ON t.seq = r.thread
      LEFT JOIN part AS p ON p.seq = m.sender
     WHERE r.part = ?1 AND r.live = 1 AND r.read_at IS NULL AND r.message < ?2
     ORDER BY r.message DESC LIMIT ?3";

struct Row {
    seq: MessageSeq,
    item: InboxItem,
    to_mark: bool,
}

/// The inbox of a part, whoever asks.
pub(super) fn of_part(
    connection: &Connection,
    part: PartSeq,
    args: &InboxArgs,
    now: Time,
) -> Outcome<Inbox> {
    let limit = list::limit(args.limit, 1..=50, 30)?;
    let before = match &args.before {
        None => MessageSeq(i64::MAX),
        Some(cursor) => addressed(connection, part, cursor)?,
    };
    let sql = if args.unread_only { UNREAD } else { ALL };
    let mut statement = connection.prepare_cached(sql)?;
    let rows: Vec<Row> = statement
        .query_map((part, before, limit), |found| row(found, now))?
        .collect::<rusqlite::Result<_>>()?;
    let marks: Vec<(MessageSeq, bool)> = rows.iter().map(|row| (row.seq, row.to_mark)).collect();
    let items = rows.into_iter().map(|row| row.item).collect();
    let list = list::cut(items, |item: &InboxItem| &item.message_id);
    let shown = marks
        .into_iter()
        .take(list.items.len())
        .filter_map(|(seq, to_mark)| to_mark.then_some(seq))
        .collect();
    Ok(Inbox { list, shown })
}

fn row(row: &rusqlite::Row<'_>, now: Time) -> rusqlite::Result<Row> {
    let sender: Option<String> = row.get(4)?;
    let unread: bool = row.get(5)?;
    let at: Time = row.get(8)?;
    let (preview, full) = preview(row.get_ref(9)?.as_str()?);
    let status: Status = row.get(10)?;
    Ok(Row {
        seq: row.get(0)?,
        item: InboxItem {
            message_id: row.get(1)?,
            thread_id: row.get(2)?,
            subject: row.get(3)?,
            from: sender.unwrap_or_else(|| slug::HUMAN.to_owned()),
            unread,
            urgent: row.get(6)?,
            fyi: row.get(7)?,
            at: at.rfc3339(),
            preview,
            full,
            thread_status: status.as_str(),
        },
        to_mark: marks::due(unread, row.get(11)?, now),
    })
}

/// The message a cursor names, which must be addressed to the part, in a live thread or not.
fn addressed(connection: &Connection, part: PartSeq, cursor: &str) -> Outcome<MessageSeq> {
    let id = parse_id(cursor).ok_or_else(|| find::bad_cursor("before"))?;
    let mut statement = connection.prepare_cached(
        "SELECT m.seq FROM message AS m JOIN recipient AS r ON r.message = m.seq AND r.part = ?2
          WHERE m.id = ?1",
    )?;
    statement
        .query_row((id, part), |row| row.get(0))
        .optional()?
        .ok_or_else(|| find::bad_cursor("before"))
}
