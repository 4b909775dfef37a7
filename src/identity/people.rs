//! People and their memberships.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Level;
use super::Rights;
use crate::store::Outcome;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::new_id;
use crate::store::quote;

/// A person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Row.
    pub seq: UserSeq,
    /// Outside id.
    pub id: String,
    /// Account name.
    pub name: String,
    /// Normal-lane nudges per sliding hour.
    pub normal_budget: u32,
    /// Urgent-lane nudges per sliding hour.
    pub urgent_budget: u32,
}

const PERSON: &str = "SELECT seq, id, name, normal_budget, urgent_budget FROM user";

fn person(row: &rusqlite::Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person {
        seq: row.get(0)?,
        id: row.get(1)?,
        name: row.get(2)?,
        normal_budget: row.get(3)?,
        urgent_budget: row.get(4)?,
    })
}

/// Adds a person without any membership.
///
/// # Errors
/// `conflict` if the name is taken; `invalid_argument` if it is blank, over 100 characters or holds a control character.
pub fn add(tx: &Tx<'_>, name: &str, now: Time) -> Outcome<UserSeq> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
        return Err(Refusal::new(
            "invalid_argument",
            "a person's name has 1-100 characters and no control characters",
        )
        .into());
    }
    if by_name(tx, name)?.is_some() {
        return Err(Refusal::new(
            "conflict",
            format!("there is already a person called {}", quote(name)),
        )
        .into());
    }
    tx.execute(
        "INSERT INTO user (id, name, created_at) VALUES (?1, ?2, ?3)",
        (new_id(), name, now),
    )?;
    Ok(UserSeq(tx.last_insert_rowid()))
}

/// All people, by name.
///
/// # Errors
/// A fault of the store.
pub fn list(connection: &Connection) -> Outcome<Vec<Person>> {
    let mut statement = connection.prepare_cached(&format!("{PERSON} ORDER BY name"))?;
    let rows = statement.query_map([], person)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The person of that name.
///
/// # Errors
/// A fault of the store.
pub fn by_name(connection: &Connection, name: &str) -> Outcome<Option<Person>> {
    let mut statement = connection.prepare_cached(&format!("{PERSON} WHERE name = ?1"))?;
    Ok(statement.query_row([name], person).optional()?)
}

/// The file's first owner: as whom the admin token acts.
///
/// # Errors
/// A fault of the store.
pub fn first_owner(connection: &Connection) -> Outcome<Person> {
    let mut statement = connection.prepare_cached(&format!("{PERSON} ORDER BY seq LIMIT 1"))?;
    Ok(statement.query_row([], person)?)
}

/// Sets how many nudges a person pays for per hour; `None` leaves that lane as it is. Who changes it lets `wake` consider the
/// person's parts afterwards.
///
/// # Errors
/// `invalid_argument` outside 0–240 (normal) or 0–60 (urgent).
pub fn set_budget(
    tx: &Tx<'_>,
    user: UserSeq,
    normal: Option<u32>,
    urgent: Option<u32>,
) -> Outcome<()> {
    if normal.is_some_and(|n| n > 240) || urgent.is_some_and(|u| u > 60) {
        return Err(Refusal::new(
            "invalid_argument",
            "wakes per hour are 0-240 normal and 0-60 urgent",
        )
        .into());
    }
    tx.execute(
        "UPDATE user SET normal_budget = coalesce(?2, normal_budget),
                         urgent_budget = coalesce(?3, urgent_budget) WHERE seq = ?1",
        (user, normal, urgent),
    )?;
    Ok(())
}

/// Makes a person a member of a project, and of its org if they are not yet, or changes level and capabilities.
///
/// # Errors
/// A fault of the store.
pub fn set_member(
    tx: &Tx<'_>,
    project: ProjectSeq,
    user: UserSeq,
    level: Level,
    urgent: bool,
    needs_human: bool,
) -> Outcome<()> {
    tx.execute(
        "INSERT INTO org_member (org, user, role)
         SELECT org, ?2, 'member' FROM project WHERE seq = ?1
         ON CONFLICT (org, user) DO NOTHING",
        (project, user),
    )?;
    tx.execute(
        "INSERT INTO project_member (project, user, level, can_urgent, can_needs_human)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (project, user) DO UPDATE
         SET level = excluded.level, can_urgent = excluded.can_urgent,
             can_needs_human = excluded.can_needs_human",
        (project, user, level.as_str(), urgent, needs_human),
    )?;
    Ok(())
}

/// Bans a member from a project, or lets them in again. Who calls it lets `wake` cancel or consider the person's parts afterwards.
///
/// # Errors
/// `conflict` for the last owner of the project who is not banned; `not_found` for somebody who is no member.
pub fn set_banned(
    tx: &Tx<'_>,
    project: ProjectSeq,
    user: UserSeq,
    banned: bool,
    now: Time,
) -> Outcome<()> {
    let rights = rights(tx, project, user)?
        .ok_or_else(|| Refusal::new("not_found", "that person is no member of the project"))?;
    if banned && rights.level == Level::Owner && !rights.banned {
        let owners: i64 = tx.query_row(
            "SELECT count(*) FROM org_member AS o
               LEFT JOIN project_member AS m ON m.project = ?1 AND m.user = o.user
              WHERE o.org = (SELECT org FROM project WHERE seq = ?1)
                AND (o.role IN ('owner', 'admin') OR m.level = 'owner')
                AND o.banned_at IS NULL AND m.banned_at IS NULL",
            [project],
            |row| row.get(0),
        )?;
        if owners <= 1 {
            return Err(
                Refusal::new("conflict", "the last owner of a project cannot be banned").into(),
            );
        }
    }
    tx.execute(
        "INSERT INTO project_member (project, user, level, banned_at)
         VALUES (?1, ?2, ?3, CASE WHEN ?4 THEN ?5 END)
         ON CONFLICT (project, user) DO UPDATE SET banned_at = excluded.banned_at",
        (project, user, rights.level.as_str(), banned, now),
    )?;
    Ok(())
}

/// What a person may do in a project; `None` if they are no member, for whom the project does not exist.
///
/// # Errors
/// A fault of the store.
pub fn rights(
    connection: &Connection,
    project: ProjectSeq,
    user: UserSeq,
) -> Outcome<Option<Rights>> {
    let mut statement = connection.prepare_cached(
        "SELECT o.role, o.banned_at IS NOT NULL, m.level, m.can_urgent, m.can_needs_human, m.banned_at IS NOT NULL
           FROM project AS p
           JOIN org_member AS o ON o.org = p.org AND o.user = ?2
           LEFT JOIN project_member AS m ON m.project = p.seq AND m.user = ?2
          WHERE p.seq = ?1",
    )?;
    let found = statement
        .query_row((project, user), |row| {
            let role: String = row.get(0)?;
            let level: Option<Level> = row.get(2)?;
            let level = if role == "member" {
                level
            } else {
                Some(Level::Owner)
            };
            let banned = row.get::<_, bool>(1)? || row.get::<_, bool>(5)?;
            let urgent: Option<bool> = row.get(3)?;
            let needs_human: Option<bool> = row.get(4)?;
            Ok(level.map(|level| Rights {
                level,
                urgent: level == Level::Owner || (level == Level::Write && urgent.unwrap_or(false)),
                needs_human: level == Level::Owner
                    || (level == Level::Write && needs_human.unwrap_or(false)),
                banned,
            }))
        })
        .optional()?;
    Ok(found.flatten())
}
