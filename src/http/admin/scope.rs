//! What a request is about: a project, a part of it, a thing by the end of its id. A person may leave the project out where there is
//! only one (cli.md 1).

use rusqlite::Connection;
use serde::Deserialize;

use crate::identity::Part;
use crate::identity::Project;
use crate::identity::near;
use crate::identity::part;
use crate::identity::project;
use crate::messaging::person;
use crate::store::Error;
use crate::store::Outcome;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::parse_id;
use crate::store::quote;

/// Stands in a path for the only project.
const ONLY: &str = "-";

/// Fewest characters of an id's end that name something.
const SHORTEST: usize = 6;

/// The query of routes that work in one project.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct InProject {
    /// Name or id of the project.
    pub project: Option<String>,
}

impl InProject {
    /// The project it names, or the only live one.
    pub(super) fn find(&self, connection: &Connection) -> Outcome<Project> {
        project(connection, self.project.as_deref())
    }
}

/// The project of that name or id; without one, the only live project.
///
/// # Errors
/// `not_found` for an unknown name, or without any project; `invalid_argument` if there are several and none was named.
pub(super) fn project(connection: &Connection, name: Option<&str>) -> Outcome<Project> {
    let all = project::list(connection)?;
    let Some(name) = name.filter(|name| *name != ONLY) else {
        let live: Vec<&Project> = all.iter().filter(|one| one.archived_at.is_none()).collect();
        return match live.as_slice() {
            [only] => Ok((*only).clone()),
            [] => Err(Refusal::new(
                "not_found",
                "there is no project yet (relayroom project new NAME)",
            )
            .into()),
            several => {
                let names: Vec<&str> = several.iter().map(|one| one.slug.as_str()).collect();
                Err(Refusal::new(
                    "invalid_argument",
                    format!(
                        "which project? name one with --project: {}",
                        names.join(", ")
                    ),
                )
                .into())
            }
        };
    };
    all.iter()
        .find(|one| one.slug == name || one.id == name)
        .cloned()
        .ok_or_else(|| {
            missing(
                "project",
                name,
                all.iter().map(|one| one.slug.as_str()),
                "relayroom project list",
            )
        })
}

/// The part of that name or id, live or deleted.
///
/// # Errors
/// `not_found`, with the nearest name.
pub(super) fn part(connection: &Connection, project: &Project, name: &str) -> Outcome<Part> {
    let all = part::all(connection, project.seq)?;
    all.iter()
        .find(|one| one.slug == name || one.id == name)
        .cloned()
        .ok_or_else(|| {
            missing(
                "part",
                name,
                all.iter()
                    .filter(|one| one.deleted_at.is_none())
                    .map(|one| one.slug.as_str()),
                "relayroom part list",
            )
        })
}

/// A refusal for a name nothing has.
pub(super) fn missing<'a>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    list: &str,
) -> Error {
    let known: Vec<&str> = known.collect();
    let near = near(name, &known)
        .first()
        .map(|near| format!("; did you mean {near}?"))
        .unwrap_or_default();
    Refusal::new(
        "not_found",
        format!("{what} {} does not exist{near} ({list})", quote(name)),
    )
    .into()
}

/// Tables whose rows a person names by the end of their ids; threads have [`thread`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A token.
    Token,
    /// A knowledge entry.
    Knowledge,
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Knowledge => "entry",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Token => "relayroom token list",
            Self::Knowledge => "relayroom knowledge list",
        }
    }

    /// Ids that end so, as many as a refusal lists. The index on `id` alone answers it.
    fn ends_with(self) -> &'static str {
        match self {
            Self::Token => {
                "SELECT id FROM token WHERE substr(id, -length(?1)) = ?1 AND revoked_at IS NULL LIMIT 10"
            }
            Self::Knowledge => {
                "SELECT id FROM knowledge WHERE substr(id, -length(?1)) = ?1 LIMIT 10"
            }
        }
    }
}

/// The whole id behind what was typed: an id, or 6 and more of its last characters.
///
/// # Errors
/// `invalid_argument` for what is no part of an id, `not_found` without a hit, `ambiguous` with the candidates for several.
pub(super) fn id(connection: &Connection, kind: Kind, typed: &str) -> Outcome<String> {
    if let Some(whole) = parse_id(typed) {
        return Ok(whole);
    }
    let run = typed.trim().to_ascii_lowercase();
    let fits = run.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if run.len() < SHORTEST || !fits {
        return Err(Refusal::new(
            "invalid_argument",
            format!("{} is no id and no end of one", quote(typed)),
        )
        .into());
    }
    let mut statement = connection.prepare_cached(kind.ends_with())?;
    let found: Vec<String> = statement
        .query_map([&run], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Refusal::new(
            "not_found",
            format!("no {} ends in {run} ({})", kind.noun(), kind.list()),
        )
        .into()),
        several => Err(Refusal::new(
            "ambiguous",
            format!(
                "several {}s end in {run}: {}",
                kind.noun(),
                several.join(", ")
            ),
        )
        .with("candidates", several.to_vec())
        .into()),
    }
}

/// The thread that was typed, as [`id`], and its project.
///
/// # Errors
/// As [`id`], with `thread_not_found` without a hit.
pub(super) fn thread(connection: &Connection, typed: &str) -> Outcome<(ProjectSeq, String)> {
    let mut found = person::threads_ending(connection, typed)?;
    match (found.pop(), found.is_empty()) {
        (Some((project, thread)), true) => Ok((project, thread.id)),
        (None, _) => Err(Refusal::new(
            "thread_not_found",
            format!("no thread {} (relayroom threads)", quote(typed)),
        )
        .into()),
        (Some(last), false) => {
            found.push(last);
            let lines: Vec<String> = found
                .iter()
                .map(|(_, thread)| format!("{} {}", thread.id, quote(&thread.subject)))
                .collect();
            let ids: Vec<String> = found.iter().map(|(_, thread)| thread.id.clone()).collect();
            Err(Refusal::new(
                "ambiguous",
                format!(
                    "several threads end in {}: {}",
                    typed.trim(),
                    lines.join("; ")
                ),
            )
            .with("candidates", ids)
            .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::Time;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("r.db"), "", Time(1)).unwrap();
        store
            .write_blocking(|tx| {
                crate::identity::found(tx, "kim", Time(1))?;
                let kim = crate::identity::people::first_owner(tx)?;
                let shop = project::create(tx, kim.seq, "shop", Time(1))?;
                part::add(tx, shop.seq, "web", kim.seq, Time(1))?;
                for id in ["0190a7c2-0000-7000-8000-0000003f9a2c", "0190a7c2-0000-7000-8000-1111113f9a2c"] {
                    tx.execute(
                        "INSERT INTO thread (id, project, subject, folded, status, created_at, message_at, stirred_at)
                         VALUES (?1, ?2, 's', 's', 'open', 1, 1, 1)",
                        (id, shop.seq),
                    )?;
                }
                Ok(())
            })
            .unwrap();
        (folder, store)
    }

    fn refused<T: std::fmt::Debug>(outcome: Outcome<T>) -> Refusal {
        match outcome {
            Err(Error::Refusal(refusal)) => *refusal,
            other => panic!("no refusal: {other:?}"),
        }
    }

    #[test]
    fn the_only_project_needs_no_name() {
        let (_folder, store) = store();
        store
            .read_blocking(|connection| {
                assert_eq!(project(connection, None)?.slug, "shop");
                assert_eq!(project(connection, Some("-"))?.slug, "shop");
                let refusal = refused(project(connection, Some("shpo")));
                assert_eq!(
                    refusal.message,
                    "project \"shpo\" does not exist; did you mean shop? (relayroom project list)"
                );
                Ok(())
            })
            .unwrap();
        store
            .write_blocking(|tx| {
                let kim = crate::identity::people::first_owner(tx)?;
                project::create(tx, kim.seq, "blog", Time(1))?;
                let refusal = refused(project(tx, None));
                assert_eq!(
                    refusal.message,
                    "which project? name one with --project: blog, shop"
                );
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn cli_017_an_unknown_part_comes_with_the_nearest() {
        let (_folder, store) = store();
        store
            .read_blocking(|connection| {
                let shop = project(connection, None)?;
                assert_eq!(
                    refused(part(connection, &shop, "wbe")).message,
                    "part \"wbe\" does not exist; did you mean web? (relayroom part list)"
                );
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn cli_027_an_end_of_an_id_is_enough_if_it_is_the_only_one() {
        let (_folder, store) = store();
        store
            .read_blocking(|connection| {
                let id = |typed: &str| thread(connection, typed);
                assert_eq!(
                    id("0000003F9A2C")?.1,
                    "0190a7c2-0000-7000-8000-0000003f9a2c"
                );
                let refusal = refused(id("3f9a2c"));
                assert_eq!(refusal.code, "ambiguous");
                assert!(refusal.message.contains("8000-0000003f9a2c"), "{refusal:?}");
                assert!(refusal.message.contains("8000-1111113f9a2c"), "{refusal:?}");
                assert_eq!(refused(id("f9a2c")).code, "invalid_argument");
                assert_eq!(refused(id("ffffff")).code, "thread_not_found");
                Ok(())
            })
            .unwrap();
    }
}
