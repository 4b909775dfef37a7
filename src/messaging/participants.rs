//! The parties of a thread, in the order a reply reaches them (tools.md 6, reply).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::find::Thread;
use super::recipients::Recipient;
use super::status::Writer;
use crate::identity::slug;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Refusal;
use crate::store::ThreadSeq;

/// Everybody but the author, deleted parts left out: the writers by their newest message, then the rest as first addressed.
pub(super) fn others(
    connection: &Connection,
    thread: ThreadSeq,
    author: Option<PartSeq>,
) -> Outcome<Vec<Recipient>> {
    let mut statement = connection.prepare_cached(
        "SELECT q.part, p.slug FROM participant AS q LEFT JOIN part AS p ON p.seq = q.part
          WHERE q.thread = ?1 AND q.part IS NOT ?2 AND p.deleted_at IS NULL
          ORDER BY q.last_message DESC NULLS LAST, q.position",
    )?;
    let rows = statement.query_map((thread, author), |row| {
        let name: Option<String> = row.get(1)?;
        Ok(Recipient {
            part: row.get(0)?,
            name: name.unwrap_or_else(|| slug::HUMAN.to_owned()),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What somebody is to a thread; `None` for an outsider.
pub(super) fn standing(
    connection: &Connection,
    thread: &Thread,
    part: Option<PartSeq>,
) -> Outcome<Option<Writer>> {
    let addressee: Option<bool> = connection
        .prepare_cached("SELECT addressee FROM participant WHERE thread = ?1 AND part IS ?2")?
        .query_row((thread.seq, part), |row| row.get(0))
        .optional()?;
    Ok(addressee.map(|addressee| Writer {
        opener: thread.opener == part,
        addressee,
    }))
}

/// The refusal of an outsider.
pub(super) fn not_participant(what: &str) -> Refusal {
    Refusal::new(
        "not_participant",
        format!(
            "Nothing was done: {what} is for those who take part in the thread. Ask one of them, or the main agent."
        ),
    )
}
