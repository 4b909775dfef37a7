//! Writing an entry: `learn` by a part, `add` by a person (knowledge.md 2).

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;

use super::entry;
use super::entry::NewEntry;
use super::limit;
use crate::identity::Caller;
use crate::identity::project;
use crate::redact::redact;
use crate::store::KnowledgeSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::new_id;
use crate::store::parse_id;
use crate::store::text;

/// What `learn` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Learned {
    /// Id of the new entry.
    pub id: String,
    /// Always `candidate`.
    pub validation_state: &'static str,
    /// How many secrets were cut out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
}

/// A part writes down what it learned: a candidate no other agent sees until a person vouches for it.
///
/// # Errors
/// `unauthorized`, `invalid_argument`, `too_large`, `control_character`, `thread_not_found`, `rate_limited`,
/// `redaction_unresolvable`, `empty_after_redaction`; nothing is stored then.
pub fn learn(
    tx: &Tx<'_>,
    caller: &Caller,
    new: &NewEntry,
    source_thread: Option<&str>,
    now: Time,
) -> Outcome<Learned> {
    caller.may_write()?;
    let thread = source_thread
        .map(|id| thread_of(tx, caller.project, id))
        .transpose()?;
    if limit::learned_enough(tx, caller.part, now)? {
        return Err(Refusal::new(
            "rate_limited",
            "Nothing was stored: 20 entries an hour are the limit. Keep the most useful ones and try later.",
        )
        .into());
    }
    let (clean, removed) = clean(tx, caller.project, new)?;
    let stored = store(
        tx,
        caller.project,
        &clean,
        "learn",
        (Some(caller.part), caller.user),
        now,
    )?;
    if let Some(thread) = thread {
        cite(tx, stored.0, thread, false)?;
    }
    Ok(Learned {
        id: stored.1,
        validation_state: "candidate",
        removed: Some(removed).filter(|removed| *removed > 0),
    })
}

/// A person adds an entry; with `confirm` it is trusted at once.
///
/// # Errors
/// `redaction_unresolvable`, `empty_after_redaction`.
pub fn add(
    tx: &Tx<'_>,
    project: ProjectSeq,
    user: UserSeq,
    new: &NewEntry,
    confirm: bool,
    now: Time,
) -> Outcome<String> {
    let (clean, _) = clean(tx, project, new)?;
    let (_, id) = store(tx, project, &clean, "person", (None, user), now)?;
    if confirm {
        entry::confirm(tx, project, &id, user, now)?;
    }
    Ok(id)
}

/// The entry without secrets, and how many were cut out.
pub(super) fn clean(
    connection: &Connection,
    project: ProjectSeq,
    new: &NewEntry,
) -> Outcome<(NewEntry, usize)> {
    let code = project::get(connection, project)?.connect_code;
    let (Some((title, from_title)), Some((body, from_body))) =
        (redact(&new.title, &code, ""), redact(&new.body, &code, ""))
    else {
        return Err(Refusal::new(
            "redaction_unresolvable",
            "Nothing was stored: the redaction rules cannot be read. Ask the person.",
        )
        .into());
    };
    if body.trim().is_empty() {
        return Err(Refusal::new(
            "empty_after_redaction",
            "Nothing was stored: only a secret was left of the body. Write it without the secret.",
        )
        .into());
    }
    let title = if title.trim().is_empty() {
        "(redacted)".to_owned()
    } else {
        title
    };
    Ok((
        NewEntry {
            kind: new.kind,
            title,
            body,
        },
        from_title + from_body,
    ))
}

/// Writes the rows of a candidate.
pub(super) fn store(
    tx: &Tx<'_>,
    project: ProjectSeq,
    new: &NewEntry,
    source: &str,
    author: (Option<PartSeq>, UserSeq),
    now: Time,
) -> Outcome<(KnowledgeSeq, String)> {
    let id = new_id();
    tx.prepare_cached(
        "INSERT INTO knowledge (id, project, kind, title, body, state, source, author_part, author_user, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'candidate', ?6, ?7, ?8, ?9)",
    )?
    .execute((
        &id,
        project,
        new.kind.as_str(),
        &new.title,
        &new.body,
        source,
        author.0,
        author.1,
        now,
    ))?;
    let seq = KnowledgeSeq(tx.last_insert_rowid());
    tx.prepare_cached("INSERT INTO knowledge_text (rowid, title, body) VALUES (?1, ?2, ?3)")?
        .execute((seq, text::fold(&new.title), text::fold(&new.body)))?;
    entry::set_state(
        tx,
        seq,
        "candidate",
        (author.0, Some(author.1)),
        source,
        now,
    )?;
    Ok((seq, id))
}

pub(super) fn cite(
    tx: &Tx<'_>,
    knowledge: KnowledgeSeq,
    thread: ThreadSeq,
    lesson: bool,
) -> Outcome<()> {
    tx.execute(
        "INSERT INTO knowledge_thread (knowledge, thread, lesson) VALUES (?1, ?2, ?3)",
        (knowledge, thread, lesson),
    )?;
    Ok(())
}

fn thread_of(connection: &Connection, project: ProjectSeq, id: &str) -> Outcome<ThreadSeq> {
    let parsed = parse_id(id).ok_or_else(|| {
        Refusal::new(
            "invalid_argument",
            "Nothing was stored: sourceThreadId is not a UUID. Take one from inbox, threads or search.",
        )
    })?;
    let found = connection
        .query_row(
            "SELECT seq FROM thread WHERE id = ?1 AND project = ?2",
            (parsed, project),
            |row| row.get(0),
        )
        .optional()?;
    found.ok_or_else(|| {
        Refusal::new(
            "thread_not_found",
            "Nothing was stored: no thread of this project has that id. Take one from inbox, threads or search.",
        )
        .into()
    })
}
