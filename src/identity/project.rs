//! Projects and their connect codes (access.md 1).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::slug;
use crate::store::Error;
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

/// A project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Row.
    pub seq: ProjectSeq,
    /// Outside id.
    pub id: String,
    /// Name in commands and in `whoami`.
    pub slug: String,
    /// Name as the person wrote it.
    pub name: String,
    /// Address of its MCP endpoint; no credential.
    pub connect_code: String,
    /// The main part.
    pub main_part: Option<PartSeq>,
    /// Most parts one send may address; `None`: min(live parts, 8).
    pub max_broadcast: Option<u32>,
    /// Whether a close may record a lesson.
    pub distill_on_close: bool,
    /// When it was made.
    pub created_at: Time,
    /// Since when it is archived.
    pub archived_at: Option<Time>,
}

const PROJECT: &str =
    "SELECT seq, id, slug, name, connect_code, main_part, max_broadcast, distill_on_close,
    created_at, archived_at FROM project";

fn project(row: &rusqlite::Row<'_>) -> rusqlite::Result<Project> {
    Ok(Project {
        seq: row.get(0)?,
        id: row.get(1)?,
        slug: row.get(2)?,
        name: row.get(3)?,
        connect_code: row.get(4)?,
        main_part: row.get(5)?,
        max_broadcast: row.get(6)?,
        distill_on_close: row.get(7)?,
        created_at: row.get(8)?,
        archived_at: row.get(9)?,
    })
}

/// Makes a project in the file's first org, owned by `owner`.
///
/// # Errors
/// `invalid_argument` if no name can be made of `name`; `conflict` if it is taken.
pub fn create(tx: &Tx<'_>, owner: UserSeq, name: &str, now: Time) -> Outcome<Project> {
    let name = name.trim();
    let slug = slug::from_name(name)
        .filter(|_| name.chars().count() <= 100 && !name.chars().any(char::is_control))
        .ok_or_else(|| {
            Refusal::new(
                "invalid_argument",
                format!(
                    "{} makes no project name: use letters a-z, digits, - and _",
                    quote(name)
                ),
            )
        })?;
    if by_slug(tx, &slug)?.is_some() {
        return Err(Refusal::new(
            "conflict",
            format!("project {slug} exists (relayroom project list)"),
        )
        .into());
    }
    tx.execute(
        "INSERT INTO project (id, org, slug, name, connect_code, created_at)
         SELECT ?1, seq, ?2, ?3, ?4, ?5 FROM org ORDER BY seq LIMIT 1",
        (new_id(), &slug, name, new_code(), now),
    )?;
    let made = ProjectSeq(tx.last_insert_rowid());
    tx.execute(
        "INSERT INTO project_member (project, user, level) VALUES (?1, ?2, 'owner')",
        (made, owner),
    )?;
    tell(tx, made);
    get(tx, made)
}

/// The project of that row.
///
/// # Errors
/// A fault of the store, also if there is none.
pub fn get(connection: &Connection, seq: ProjectSeq) -> Outcome<Project> {
    let mut statement = connection.prepare_cached(&format!("{PROJECT} WHERE seq = ?1"))?;
    Ok(statement.query_row([seq], project)?)
}

/// The project of that name.
///
/// # Errors
/// A fault of the store.
pub fn by_slug(connection: &Connection, slug: &str) -> Outcome<Option<Project>> {
    let mut statement = connection.prepare_cached(&format!("{PROJECT} WHERE slug = ?1"))?;
    Ok(statement.query_row([slug], project).optional()?)
}

/// The live project at a connect code.
///
/// # Errors
/// A fault of the store.
pub fn by_code(connection: &Connection, code: &str) -> Outcome<Option<Project>> {
    let mut statement = connection.prepare_cached(&format!(
        "{PROJECT} WHERE connect_code = ?1 AND archived_at IS NULL"
    ))?;
    Ok(statement.query_row([code], project).optional()?)
}

/// All projects, by name.
///
/// # Errors
/// A fault of the store.
pub fn list(connection: &Connection) -> Outcome<Vec<Project>> {
    let mut statement = connection.prepare_cached(&format!("{PROJECT} ORDER BY slug"))?;
    let rows = statement.query_map([], project)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Gives the project a new address; from the commit on the old one is unknown. Tokens name the project and go on working.
///
/// # Errors
/// A fault of the store.
pub fn rotate_code(tx: &Tx<'_>, seq: ProjectSeq) -> Outcome<String> {
    let code = new_code();
    tx.execute(
        "UPDATE project SET connect_code = ?2 WHERE seq = ?1",
        (seq, &code),
    )?;
    tell(tx, seq);
    Ok(code)
}

/// Archives a project or takes it back. Who calls it lets `wake` cancel or consider its parts afterwards.
///
/// # Errors
/// A fault of the store.
pub fn set_archived(tx: &Tx<'_>, seq: ProjectSeq, archived: bool, now: Time) -> Outcome<()> {
    tx.execute(
        "UPDATE project SET archived_at = CASE WHEN ?2 THEN coalesce(archived_at, ?3) END WHERE seq = ?1",
        (seq, archived, now),
    )?;
    tell(tx, seq);
    Ok(())
}

/// Sets the most parts one send may address; `None` returns to min(live parts, 8).
///
/// # Errors
/// `invalid_argument` outside 1–64.
pub fn set_max_broadcast(tx: &Tx<'_>, seq: ProjectSeq, cap: Option<u32>) -> Outcome<()> {
    if cap.is_some_and(|cap| !(1..=64).contains(&cap)) {
        return Err(Refusal::new("invalid_argument", "the broadcast cap is 1-64").into());
    }
    tx.execute(
        "UPDATE project SET max_broadcast = ?2 WHERE seq = ?1",
        (seq, cap),
    )?;
    tell(tx, seq);
    Ok(())
}

/// Switches lessons on close on or off.
///
/// # Errors
/// A fault of the store.
pub fn set_distill_on_close(tx: &Tx<'_>, seq: ProjectSeq, on: bool) -> Outcome<()> {
    tx.execute(
        "UPDATE project SET distill_on_close = ?2 WHERE seq = ?1",
        (seq, on),
    )?;
    tell(tx, seq);
    Ok(())
}

/// Makes a live part of the project its main part, or none.
///
/// # Errors
/// `conflict` for a deleted part; a fault of the store.
pub fn set_main(tx: &Tx<'_>, seq: ProjectSeq, part: Option<PartSeq>) -> Outcome<()> {
    if let Some(part) = part {
        let part = super::part::get(tx, part)?;
        if part.deleted_at.is_some() {
            return Err(Refusal::new(
                "conflict",
                format!(
                    "part {} was deleted (relayroom part revive {})",
                    part.slug, part.slug
                ),
            )
            .into());
        }
    }
    tx.execute(
        "UPDATE project SET main_part = ?2 WHERE seq = ?1",
        (seq, part),
    )?;
    tell(tx, seq);
    Ok(())
}

/// A refusal for a project no one has.
#[must_use]
pub fn unknown(slug: &str) -> Error {
    Refusal::new(
        "not_found",
        format!(
            "project {} does not exist (relayroom project list)",
            quote(slug)
        ),
    )
    .into()
}

/// 26 characters of Crockford's alphabet in lower case: 130 random bits.
fn new_code() -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    rand::random::<[u8; 26]>()
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte % 32)]))
        .collect()
}

fn tell(tx: &Tx<'_>, seq: ProjectSeq) {
    tx.signal(Signal {
        topic: Topic::Settings,
        project: Some(seq),
        part: None,
        id: String::new(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_promised_form() {
        let code = new_code();
        assert_eq!(code.len(), 26);
        assert!(
            code.chars()
                .all(|c| c.is_ascii_digit() || (c.is_ascii_lowercase() && !"ilou".contains(c)))
        );
        assert_ne!(code, new_code());
    }
}
