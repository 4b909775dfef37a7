//! Who the caller is, and how much mail it has not read (tools.md 6, whoami).

use rusqlite::Connection;
use serde::Serialize;

use crate::identity::Caller;
use crate::identity::part;
use crate::identity::project;
use crate::store::Outcome;
use crate::store::PartSeq;

/// What `whoami` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Whoami {
    /// The part's name.
    pub part: String,
    /// The project's name.
    pub project: String,
    /// Whether it is the main part.
    pub is_main: bool,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// Unread messages in live threads, exactly.
    pub unread: u32,
    /// The main part's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
}

/// Who the caller is.
///
/// # Errors
/// A fault of the store.
pub fn whoami(connection: &Connection, caller: &Caller) -> Outcome<Whoami> {
    let project = project::get(connection, caller.project)?;
    let main = project
        .main_part
        .map(|main| part::get(connection, main))
        .transpose()?
        .map(|main| main.slug);
    Ok(Whoami {
        part: caller.part_slug.clone(),
        project: project.slug,
        is_main: project.main_part == Some(caller.part),
        nickname: part::get(connection, caller.part)?.nickname,
        unread: unread(connection, caller.part)?,
        main,
    })
}

pub(super) const UNREAD: &str =
    "SELECT count(*) FROM recipient WHERE part = ?1 AND live = 1 AND read_at IS NULL";

/// Unread messages of a part in live threads.
///
/// # Errors
/// A fault of the store.
pub fn unread(connection: &Connection, part: PartSeq) -> Outcome<u32> {
    Ok(connection
        .prepare_cached(UNREAD)?
        .query_row([part], |row| row.get(0))?)
}
