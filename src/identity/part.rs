//! Parts: an agent's name in a project (access.md 1).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::slug;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::new_id;
use crate::store::quote;

/// A part, live or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Row.
    pub seq: PartSeq,
    /// Outside id.
    pub id: String,
    /// Its project.
    pub project: ProjectSeq,
    /// Its name.
    pub slug: String,
    /// The person it belongs to, who pays for its wakes.
    pub owner: UserSeq,
    /// A name for people.
    pub nickname: Option<String>,
    /// `#rrggbb`.
    pub colour: Option<String>,
    /// When it began.
    pub created_at: Time,
    /// When it was deleted: it is revived by a person only.
    pub deleted_at: Option<Time>,
    /// Since when a person holds its wakes.
    pub paused_at: Option<Time>,
    /// Parked until then, if that is in the future.
    pub limited_until: Option<Time>,
    /// Last own MCP call, as far as written.
    pub heard_at: Option<Time>,
}

const PART: &str =
    "SELECT seq, id, project, slug, owner, nickname, colour, created_at, deleted_at, paused_at,
    limited_until, heard_at FROM part";

fn part(row: &rusqlite::Row<'_>) -> rusqlite::Result<Part> {
    Ok(Part {
        seq: row.get(0)?,
        id: row.get(1)?,
        project: row.get(2)?,
        slug: row.get(3)?,
        owner: row.get(4)?,
        nickname: row.get(5)?,
        colour: row.get(6)?,
        created_at: row.get(7)?,
        deleted_at: row.get(8)?,
        paused_at: row.get(9)?,
        limited_until: row.get(10)?,
        heard_at: row.get(11)?,
    })
}

/// Adds a part under a free name.
///
/// # Errors
/// `invalid_argument` if the name breaks the grammar or is `human`; `conflict` if a part, live or deleted, has it.
pub fn add(
    tx: &Tx<'_>,
    project: ProjectSeq,
    slug: &str,
    owner: UserSeq,
    now: Time,
) -> Outcome<Part> {
    check_name(slug)?;
    if let Some(present) = by_slug(tx, project, slug)? {
        let mend = if present.deleted_at.is_some() {
            format!("part {slug} was deleted (relayroom part revive {slug})")
        } else {
            format!("part {slug} exists (relayroom part show {slug})")
        };
        return Err(Refusal::new("conflict", mend).into());
    }
    tx.execute(
        "INSERT INTO part (id, project, slug, owner, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        (new_id(), project, slug, owner, now),
    )?;
    let made = PartSeq(tx.last_insert_rowid());
    tell(tx, project, made);
    get(tx, made)
}

/// Refuses what can never be a part's name.
///
/// # Errors
/// `invalid_argument`.
pub fn check_name(slug: &str) -> Result<(), Refusal> {
    if slug == slug::HUMAN {
        return Err(Refusal::new(
            "invalid_argument",
            "human is the person's lane and never a part",
        ));
    }
    if !slug::is_slug(slug) {
        return Err(Refusal::new(
            "invalid_argument",
            format!(
                "{} is no part name: 1-32 of a-z, 0-9, - and _, not beginning with - or _",
                quote(slug)
            ),
        ));
    }
    Ok(())
}

/// The part of that row.
///
/// # Errors
/// A fault of the store, also if there is none.
pub fn get(connection: &Connection, seq: PartSeq) -> Outcome<Part> {
    let mut statement = connection.prepare_cached(&format!("{PART} WHERE seq = ?1"))?;
    Ok(statement.query_row([seq], part)?)
}

/// The part of that name, live or deleted.
///
/// # Errors
/// A fault of the store.
pub fn by_slug(connection: &Connection, project: ProjectSeq, slug: &str) -> Outcome<Option<Part>> {
    let mut statement =
        connection.prepare_cached(&format!("{PART} WHERE project = ?1 AND slug = ?2"))?;
    Ok(statement.query_row((project, slug), part).optional()?)
}

/// The live parts of a project, by name.
///
/// # Errors
/// A fault of the store.
pub fn live(connection: &Connection, project: ProjectSeq) -> Outcome<Vec<Part>> {
    let mut statement = connection.prepare_cached(&format!(
        "{PART} WHERE project = ?1 AND deleted_at IS NULL ORDER BY slug"
    ))?;
    let rows = statement.query_map([project], part)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All parts of a project, deleted ones too, by name.
///
/// # Errors
/// A fault of the store.
pub fn all(connection: &Connection, project: ProjectSeq) -> Outcome<Vec<Part>> {
    let mut statement =
        connection.prepare_cached(&format!("{PART} WHERE project = ?1 ORDER BY slug"))?;
    let rows = statement.query_map([project], part)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Deletes a part: its name stays taken, its tokens answer `part_deleted`, it is main no longer. Who calls it lets `wake` cancel its
/// wake.
///
/// # Errors
/// A fault of the store.
pub fn delete(tx: &Tx<'_>, seq: PartSeq, now: Time) -> Outcome<()> {
    let gone = get(tx, seq)?;
    tx.execute(
        "UPDATE part SET deleted_at = coalesce(deleted_at, ?2) WHERE seq = ?1",
        (seq, now),
    )?;
    tx.execute(
        "UPDATE project SET main_part = NULL WHERE main_part = ?1",
        [seq],
    )?;
    tell(tx, gone.project, seq);
    Ok(())
}

/// Brings a deleted part back.
///
/// # Errors
/// A fault of the store.
pub fn revive(tx: &Tx<'_>, seq: PartSeq) -> Outcome<()> {
    let back = get(tx, seq)?;
    tx.execute("UPDATE part SET deleted_at = NULL WHERE seq = ?1", [seq])?;
    tell(tx, back.project, seq);
    Ok(())
}

/// Holds the part's wakes, or lets them go. Who calls it lets `wake` consider the part afterwards.
///
/// # Errors
/// A fault of the store.
pub fn set_paused(tx: &Tx<'_>, seq: PartSeq, paused: bool, now: Time) -> Outcome<()> {
    let changed = get(tx, seq)?;
    if changed.paused_at.is_some() != paused {
        tx.execute(
            "UPDATE part SET paused_at = CASE WHEN ?2 THEN ?3 END,
                             freed_at = CASE WHEN ?2 THEN freed_at ELSE max(coalesce(freed_at, 0), ?3) END WHERE seq = ?1",
            (seq, paused, now),
        )?;
        tell(tx, changed.project, seq);
    }
    Ok(())
}

/// Sets the name people see; blank takes it away.
///
/// # Errors
/// `invalid_argument` over 40 characters or with a control character.
pub fn set_nickname(tx: &Tx<'_>, seq: PartSeq, nickname: &str) -> Outcome<()> {
    let nickname = nickname.trim();
    if nickname.chars().count() > 40 || nickname.chars().any(char::is_control) {
        return Err(Refusal::new(
            "invalid_argument",
            "a nickname has at most 40 characters and no control characters",
        )
        .into());
    }
    let changed = get(tx, seq)?;
    tx.execute(
        "UPDATE part SET nickname = nullif(?2, '') WHERE seq = ?1",
        (seq, nickname),
    )?;
    tell(tx, changed.project, seq);
    Ok(())
}

/// Sets the part's colour on status lines and pages.
///
/// # Errors
/// `invalid_argument` for anything but `#rrggbb`.
pub fn set_colour(tx: &Tx<'_>, seq: PartSeq, colour: &str) -> Outcome<()> {
    let colour = colour.trim().to_ascii_lowercase();
    let good = colour.len() == 7
        && colour.starts_with('#')
        && colour[1..].bytes().all(|b| b.is_ascii_hexdigit());
    if !good {
        return Err(Refusal::new(
            "invalid_argument",
            "a colour is # and six hexadecimal digits",
        )
        .into());
    }
    let changed = get(tx, seq)?;
    tx.execute("UPDATE part SET colour = ?2 WHERE seq = ?1", (seq, colour))?;
    tell(tx, changed.project, seq);
    Ok(())
}

fn tell(tx: &Tx<'_>, project: ProjectSeq, seq: PartSeq) {
    tx.signal(Signal {
        topic: Topic::Part,
        project: Some(project),
        part: Some(seq),
        id: String::new(),
    });
}
