//! The playbook: how a project's agents work together, as they find it in `RELAYROOM.md` (knowledge.md 10). A project keeps every text
//! that was saved for it; an empty one stands for the text built in here.

use std::fmt::Write;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use crate::identity::Project;
use crate::identity::part;
use crate::redact::redact;
use crate::store::Outcome;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::text;

/// The text of a project that wrote none of its own.
pub const BUILT_IN: &str = include_str!("playbook.md");

/// Longest text, in code points.
const LONGEST: usize = 20_000;

/// Most entries in the block of facts.
const FACTS: i64 = 10;

/// Fewer facts than these are not worth a block.
const FEWEST_FACTS: usize = 3;

/// Longest first line of an entry in the block, in code points.
const FACT_LINE: usize = 200;

/// Trusted, unexpired entries by confidence ([`super::entry::confidence`] in SQL), then by promotion.
const TRUSTED: &str = "SELECT kind, title, body FROM knowledge
    WHERE project = ?1 AND state = 'trusted' AND (expires_at IS NULL OR expires_at > ?2)
    ORDER BY (1 + 2.0 * voices + used) / (2 + 2.0 * voices + used + 0.25 * unused + 3.0 * contradictions) DESC,
        promoted_at DESC, seq DESC
    LIMIT ?3";

/// The playbook as agents get it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The whole text: the project's own, what it has learned, who is main.
    pub text: String,
    /// SHA-256 in hex over all but the line that names the main agent: a handover makes nobody stale.
    pub hash: String,
}

impl Served {
    /// SHA-256 in hex over the whole text.
    #[must_use]
    pub fn whole(&self) -> String {
        hex(&self.text)
    }
}

/// A saved text, without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// From 1 on.
    pub version: u32,
    /// SHA-256 of the text in hex.
    pub sha256: String,
    /// Whether it is a return to the built-in text.
    pub built_in: bool,
    /// Who saved it.
    pub author: String,
    /// When.
    pub at: String,
}

/// What a save did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// The new version.
    pub version: u32,
    /// How many secrets were cut out.
    pub removed: usize,
}

/// The playbook of a project as its agents get it now.
///
/// # Errors
/// A fault of the store.
pub fn served(connection: &Connection, project: &Project, now: Time) -> Outcome<Served> {
    let mut text = own(connection, project.seq, None)?.unwrap_or_default();
    if text.is_empty() {
        BUILT_IN.clone_into(&mut text);
    }
    text.push_str(&facts(connection, project.seq, now)?);
    let hash = hex(&text);
    let main = match project.main_part {
        Some(seq) => format!("The main agent is {}.", part::get(connection, seq)?.slug),
        None => "No main agent is set.".to_owned(),
    };
    // Writing to a string does not fail.
    let _ = write!(text, "\n{main}\n");
    Ok(Served { text, hash })
}

/// The text that was saved last, or as that version; `None` if nothing was. Empty: the built-in one.
///
/// # Errors
/// A fault of the store.
pub fn own(
    connection: &Connection,
    project: ProjectSeq,
    version: Option<u32>,
) -> Outcome<Option<String>> {
    let mut statement = connection.prepare_cached(
        "SELECT text FROM playbook WHERE project = ?1 AND version = coalesce(?2, version)
         ORDER BY version DESC LIMIT 1",
    )?;
    Ok(statement
        .query_row((project, version), |row| row.get(0))
        .optional()?)
}

/// Every saved text, newest first.
///
/// # Errors
/// A fault of the store.
pub fn history(connection: &Connection, project: ProjectSeq) -> Outcome<Vec<Version>> {
    let mut statement = connection.prepare_cached(
        "SELECT version, sha256, text = '', user.name, made_at FROM playbook JOIN user ON user.seq = author
         WHERE project = ?1 ORDER BY version DESC",
    )?;
    let rows = statement.query_map([project], |row| {
        Ok(Version {
            version: row.get(0)?,
            sha256: row.get(1)?,
            built_in: row.get(2)?,
            author: row.get(3)?,
            at: row.get::<_, Time>(4)?.rfc3339(),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Saves a text as the next version, without the secrets in it; a blank one returns to the built-in text.
///
/// # Errors
/// `too_large`, `control_character`; `redaction_unresolvable`. Nothing is stored then.
pub fn save(
    tx: &Tx<'_>,
    project: &Project,
    author: UserSeq,
    written: &str,
    now: Time,
) -> Outcome<Saved> {
    let written = text::lines("text", written)?;
    text::at_most_chars("text", &written, LONGEST)?;
    let (clean, removed) = redact(&written, &project.connect_code, "").ok_or_else(|| {
        Refusal::new(
            "redaction_unresolvable",
            "nothing was stored: the redaction rules cannot be read",
        )
    })?;
    let kept = match clean.trim_end() {
        "" => String::new(),
        kept => format!("{kept}\n"),
    };
    let version = append(tx, project.seq, author, &kept, now)?;
    Ok(Saved { version, removed })
}

/// Saves the text of an earlier version once more.
///
/// # Errors
/// `not_found` for a version that is not there.
pub fn roll_back(
    tx: &Tx<'_>,
    project: ProjectSeq,
    author: UserSeq,
    version: u32,
    now: Time,
) -> Outcome<u32> {
    let text = own(tx, project, Some(version))?.ok_or_else(|| {
        Refusal::new(
            "not_found",
            format!("the playbook has no version {version} (relayroom project playbook history)"),
        )
    })?;
    append(tx, project, author, &text, now)
}

fn append(
    tx: &Tx<'_>,
    project: ProjectSeq,
    author: UserSeq,
    text: &str,
    now: Time,
) -> Outcome<u32> {
    let version = tx
        .prepare_cached(
            "INSERT INTO playbook (project, version, text, sha256, author, made_at)
             SELECT ?1, coalesce(max(version), 0) + 1, ?2, ?3, ?4, ?5 FROM playbook WHERE project = ?1
             RETURNING version",
        )?
        .query_row((project, text, hex(text), author, now), |row| row.get(0))?;
    tx.signal(Signal {
        topic: Topic::Settings,
        project: Some(project),
        part: None,
        id: String::new(),
    });
    Ok(version)
}

/// The block of what the project has learned; empty where that is too little.
fn facts(connection: &Connection, project: ProjectSeq, now: Time) -> Outcome<String> {
    let mut statement = connection.prepare_cached(TRUSTED)?;
    let lines: Vec<String> = statement
        .query_map((project, now, FACTS), |row| {
            let (kind, title, body): (String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(fact(&kind, &title, &body))
        })?
        .collect::<rusqlite::Result<_>>()?;
    if lines.len() < FEWEST_FACTS {
        return Ok(String::new());
    }
    Ok(format!(
        "\n## What this project has learned\n\n{}",
        lines.concat()
    ))
}

fn fact(kind: &str, title: &str, body: &str) -> String {
    let first = body.lines().map(str::trim).find(|line| !line.is_empty());
    let first: String = first.unwrap_or_default().chars().take(FACT_LINE).collect();
    format!("- {kind}: {title}. {first}\n")
}

fn hex(text: &str) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing to a string does not fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_text_is_short_and_names_no_one() {
        assert!(BUILT_IN.chars().count() < 3_500, "agents read it each time");
        for word in ["rrt_", "rrp_", "/mcp/", "48801"] {
            assert!(!BUILT_IN.contains(word), "{word}");
        }
        let (clean, removed) = redact(BUILT_IN, "", "").unwrap();
        assert_eq!((clean.as_str(), removed), (BUILT_IN, 0));
    }

    #[test]
    fn a_fact_is_one_line() {
        assert_eq!(
            fact("pitfall", "Clock", "\n  Check it first.\nThen the rest."),
            "- pitfall: Clock. Check it first.\n"
        );
        let long = fact("fact", "T", &"é".repeat(300));
        assert_eq!(long.chars().count(), "- fact: T. \n".len() + FACT_LINE);
    }
}
