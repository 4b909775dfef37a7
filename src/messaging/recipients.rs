//! From the names of `to` to recipients (tools.md 6, send). One bad name refuses the whole call, and the refusal says how to mend it.

use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;

use super::author::Author;
use crate::identity::Part;
use crate::identity::near;
use crate::identity::part;
use crate::identity::project;
use crate::identity::slug;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::text;

/// Names a call may give.
const MOST_NAMES: usize = 64;

/// Names listed in a refusal; the rest is counted.
const MOST_KNOWN: usize = 30;

/// Most bytes of the refusal's JSON (tools.md 11).
const REFUSAL_BYTES: usize = 1600;

/// The main agent, by whatever name.
const MAIN: &str = "main";

/// A part, or with `part` null the person's lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipient {
    pub(super) part: Option<PartSeq>,
    pub(super) name: String,
}

/// Checks the form of `to`: trimmed, a leading `@` dropped, lower-cased, repeats dropped.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`.
pub(super) fn read(to: &[String]) -> Result<Vec<String>, Refusal> {
    if to.is_empty() {
        return Err(Refusal::new(
            "invalid_argument",
            "Nothing was sent: to is empty. Give 1-64 names; roster lists the parts.",
        ));
    }
    text::at_most("to", "names", to.len(), MOST_NAMES)?;
    let mut names = Vec::new();
    for name in to {
        let name = text::line("to", name)?;
        let name = name.strip_prefix('@').unwrap_or(&name).to_ascii_lowercase();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

/// Finds whom the names mean, in their order, nobody twice.
///
/// # Errors
/// `bad_recipients` with `bad`, `known` and perhaps `knownMore`.
pub(super) fn resolve(
    connection: &Connection,
    author: &Author<'_>,
    names: &[String],
) -> Outcome<Vec<Recipient>> {
    let mut found: Vec<Recipient> = Vec::new();
    let mut bad: Vec<(&str, &'static str)> = Vec::new();
    for name in names {
        match one(connection, author, name)? {
            Ok(recipient) if found.contains(&recipient) => {}
            Ok(recipient) => found.push(recipient),
            Err(why) => bad.push((name, why)),
        }
    }
    if bad.is_empty() {
        return Ok(found);
    }
    let parts = part::all(connection, author.project())?;
    Err(refusal(&parts, author, &bad).into())
}

/// Whom one name means, or why nobody.
fn one(
    connection: &Connection,
    author: &Author<'_>,
    name: &str,
) -> Outcome<Result<Recipient, &'static str>> {
    if name == slug::HUMAN {
        return Ok(match author {
            Author::Part(_) => Ok(Recipient {
                part: None,
                name: name.to_owned(),
            }),
            Author::Person { .. } => Err("self"),
        });
    }
    if !slug::is_slug(name) {
        return Ok(Err("malformed"));
    }
    let part = match part::by_slug(connection, author.project(), name)? {
        Some(part) if part.deleted_at.is_none() => part,
        named if name != MAIN => {
            return Ok(Err(if named.is_some() {
                "deleted"
            } else {
                "unknown"
            }));
        }
        _ => match main(connection, author.project())? {
            Some(part) => part,
            None => return Ok(Err("no_main")),
        },
    };
    if Some(part.seq) == author.part() {
        return Ok(Err("self"));
    }
    Ok(Ok(Recipient {
        part: Some(part.seq),
        name: part.slug,
    }))
}

/// The project's main part, while it lives.
fn main(connection: &Connection, project: ProjectSeq) -> Outcome<Option<Part>> {
    let Some(seq) = project::get(connection, project)?.main_part else {
        return Ok(None);
    };
    Ok(Some(part::get(connection, seq)?).filter(|part| part.deleted_at.is_none()))
}

fn refusal(parts: &[Part], author: &Author<'_>, bad: &[(&str, &'static str)]) -> Refusal {
    let others: Vec<&str> = parts
        .iter()
        .filter(|part| part.deleted_at.is_none() && Some(part.seq) != author.part())
        .map(|part| part.slug.as_str())
        .collect();
    let mut known: Vec<&str> = others.iter().copied().take(MOST_KNOWN).collect();
    if let Author::Part(_) = author {
        known.push(slug::HUMAN);
    }
    let mut refusal = Refusal::new(
        "bad_recipients",
        "Nothing was sent: to holds names that cannot get mail. Correct the names in bad, or drop them.",
    )
    .with("bad", Vec::<Value>::new())
    .with("known", known);
    if others.len() > MOST_KNOWN {
        refusal = refusal.with("knownMore", others.len() - MOST_KNOWN);
    }
    // Sixty-four names with their neighbours would be a page: what no longer fits is counted.
    let counter = "\"badMore\":64,".len();
    let mut room = REFUSAL_BYTES.saturating_sub(refusal.to_json().to_string().len() + counter);
    let mut entries: Vec<Value> = Vec::new();
    for (name, why) in bad {
        let entry = bad_name(name, why, &others);
        let size = entry.to_string().len() + 1;
        if size > room && !entries.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        entries.push(entry);
    }
    let left_out = bad.len() - entries.len();
    refusal = refusal.with("bad", entries);
    if left_out > 0 {
        refusal = refusal.with("badMore", left_out);
    }
    refusal
}

fn bad_name(name: &str, why: &str, others: &[&str]) -> Value {
    let shown: String = name.chars().take(40).collect();
    let mut entry = json!({"name": shown, "why": why});
    if matches!(why, "unknown" | "malformed" | "deleted") {
        let near = near(name, others);
        if !near.is_empty() {
            entry["near"] = json!(near);
        }
    }
    entry
}

/// Counts no further than it has to: a project may have thousands of parts.
const CAP: &str = "
    SELECT coalesce(max_broadcast,
                    (SELECT count(*) FROM (SELECT 1 FROM part WHERE project = ?1 AND deleted_at IS NULL LIMIT 8)))
      FROM project WHERE seq = ?1";

/// The most parts a message may reach at once: the project's setting, else min(live parts, 8).
///
/// # Errors
/// A fault of the store.
pub(super) fn cap(connection: &Connection, project: ProjectSeq) -> Outcome<usize> {
    let cap: u32 = connection
        .prepare_cached(CAP)?
        .query_row([project], |row| row.get(0))?;
    Ok(cap as usize)
}

/// Refuses a send to more parts than the cap; the person does not count.
///
/// # Errors
/// `broadcast_cap` with `count` and `cap`.
pub(super) fn within_cap(
    connection: &Connection,
    project: ProjectSeq,
    recipients: &[Recipient],
) -> Outcome<()> {
    let count = recipients
        .iter()
        .filter(|recipient| recipient.part.is_some())
        .count();
    let cap = cap(connection, project)?;
    if count <= cap {
        return Ok(());
    }
    Err(Refusal::new(
        "broadcast_cap",
        format!(
            "Nothing was sent: to names {count} parts, this project's limit is {cap}. Address fewer."
        ),
    )
    .with("count", count)
    .with("cap", cap)
    .into())
}
