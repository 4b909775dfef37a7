//! Reading a thread, in pages that cut no message they need not cut (tools.md 6, show). A read: what it showed is marked afterwards by
//! [`mark_shown`](super::mark_shown).

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use super::author::Author;
use super::cursor;
use super::cursor::Cursor;
use super::find;
use super::find::Thread;
use super::list::size;
use super::marks;
use super::receipts;
use super::threads::ThreadRow;
use crate::identity::slug;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// Most bytes of JSON an answer may have.
pub const SHOW_BYTES: usize = 48 * 1024;

/// Of these, what is kept free for the frame, the cursor and what an edge adds.
const FRAME_BYTES: usize = 512;

/// Arguments of `show`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShowArgs {
    /// The thread.
    pub thread_id: String,
    /// Cursor of the last answer.
    pub after: Option<String>,
}

/// A page of a thread.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The thread.
    pub thread: ThreadRow,
    /// Messages, oldest first.
    pub messages: Vec<ShownMessage>,
    /// There is more: go on with `after`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// Cursor of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Messages given to their end that are addressed to the reader and new to it or still unread, to be marked.
    #[serde(skip)]
    pub shown: Vec<MessageSeq>,
}

/// One message, or a piece of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownMessage {
    /// Id.
    pub id: String,
    /// A part's name, or `human`.
    pub from: String,
    /// Body, whole unless `cut` or `offset` say otherwise.
    pub body: String,
    /// When it was stored.
    pub created_at: String,
    /// Addressed to the reader and not read.
    pub unread: bool,
    /// Sent as urgent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub urgent: bool,
    /// No answer wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fyi: bool,
    /// What became of it per recipient, on messages the reader wrote; a person sees them on all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Map<String, Value>>,
    /// Bytes of the body given before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// The body goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One message's row and what the reader is to it.
struct Row {
    seq: MessageSeq,
    sender: Option<PartSeq>,
    message: ShownMessage,
    to_mark: bool,
}

/// A page of any thread of the project, as the reader sees it.
///
/// # Errors
/// `invalid_argument`, `thread_not_found`, `bad_cursor`.
pub fn show(
    connection: &Connection,
    reader: &Author<'_>,
    args: &ShowArgs,
    now: Time,
) -> Outcome<Shown> {
    let thread = find::thread(connection, reader.project(), &args.thread_id)?;
    let (from, given) = match &args.after {
        None => (0, None),
        Some(cursor) => start(connection, &thread, cursor)?,
    };
    let mut page = Shown {
        thread: ThreadRow::of(&thread),
        messages: Vec::new(),
        more: false,
        after: None,
        shown: Vec::new(),
    };
    let mut room = SHOW_BYTES - FRAME_BYTES - size(&page.thread);
    let mut offset = given;
    let mut statement = connection.prepare_cached(ROWS)?;
    let mut rows = statement.query((thread.seq, from, reader.part()))?;
    while let Some(found) = rows.next()? {
        let mut row = row(found, now)?;
        if reader.part().is_none() || row.sender == reader.part() {
            row.message.receipts = Some(receipts::of(connection, row.seq)?);
        }
        if let Some(given) = offset.take() {
            row.message.body.drain(..given);
            row.message.offset = Some(given);
        }
        // One more for the comma.
        let bytes = size(&row.message) + 1;
        if bytes <= room {
            room -= bytes;
            page.shown.extend(row.to_mark.then_some(row.seq));
            page.messages.push(row.message);
            continue;
        }
        page.more = true;
        page.after = Some(match page.messages.last() {
            Some(last) => Cursor::write(&last.id, None),
            None => cut(&mut page, row.message, room),
        });
        break;
    }
    Ok(page)
}

/// Gives the head of a message that does not fit even alone, and the cursor of its rest.
fn cut(page: &mut Shown, mut message: ShownMessage, room: usize) -> String {
    message.cut = true;
    let body = std::mem::take(&mut message.body);
    let frame = size(&message) + 1;
    let head = cursor::head(&body, room.saturating_sub(frame));
    let given = message.offset.unwrap_or(0) + head.len();
    message.body = head.to_owned();
    let after = Cursor::write(&message.id, Some(given));
    page.messages.push(message);
    after
}

/// Messages of a thread from an ordinal on, with what they are to the reader (`?3` null: the person).
pub(super) const ROWS: &str = "
    SELECT m.seq, m.sender, m.id, p.slug, m.body, m.at, m.urgent, m.fyi,
           r.message IS NOT NULL AND r.read_at IS NULL,
           r.message IS NOT NULL, r.last_seen_at
      FROM message AS m
      LEFT JOIN part AS p ON p.seq = m.sender
      LEFT JOIN recipient AS r ON r.message = m.seq AND r.part IS ?3
     WHERE m.thread = ?1 AND m.ordinal >= ?2
     ORDER BY m.ordinal";

fn row(row: &rusqlite::Row<'_>, now: Time) -> rusqlite::Result<Row> {
    let sender: Option<String> = row.get(3)?;
    let at: Time = row.get(5)?;
    let unread: bool = row.get(8)?;
    let addressed: bool = row.get(9)?;
    Ok(Row {
        seq: row.get(0)?,
        sender: row.get(1)?,
        message: ShownMessage {
            id: row.get(2)?,
            from: sender.unwrap_or_else(|| slug::HUMAN.to_owned()),
            body: row.get(4)?,
            created_at: at.rfc3339(),
            unread,
            urgent: row.get(6)?,
            fyi: row.get(7)?,
            receipts: None,
            offset: None,
            cut: false,
        },
        to_mark: addressed && marks::due(unread, row.get(10)?, now),
    })
}

/// The ordinal a cursor goes on at, and the bytes already given of that message.
fn start(connection: &Connection, thread: &Thread, cursor: &str) -> Outcome<(i64, Option<usize>)> {
    let bad = || find::bad_cursor("after");
    let cursor = Cursor::read(cursor).ok_or_else(bad)?;
    let (ordinal, body): (i64, String) = connection
        .prepare_cached("SELECT ordinal, body FROM message WHERE id = ?1 AND thread = ?2")?
        .query_row((&cursor.message, thread.seq), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?
        .ok_or_else(bad)?;
    match cursor.given {
        None => Ok((ordinal + 1, None)),
        Some(given) if given > 0 && given < body.len() && body.is_char_boundary(given) => {
            Ok((ordinal, Some(given)))
        }
        Some(_) => Err(bad()),
    }
}
