//! An entry, its states, and who may move it (knowledge.md 1 and 4).

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::store::KnowledgeSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::quote;
use crate::store::text;

/// What sort of thing was learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the kinds of knowledge.md 1")]
pub enum Kind {
    Fact,
    Convention,
    Pitfall,
    Decision,
}

impl Kind {
    /// The word of the tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Convention => "convention",
            Self::Pitfall => "pitfall",
            Self::Decision => "decision",
        }
    }

    /// Reads that word.
    ///
    /// # Errors
    /// `invalid_argument`, naming the four.
    pub fn read(word: &str) -> Result<Self, Refusal> {
        [Self::Fact, Self::Convention, Self::Pitfall, Self::Decision]
            .into_iter()
            .find(|kind| kind.as_str() == word.trim())
            .ok_or_else(|| {
                Refusal::new(
                    "invalid_argument",
                    format!(
                        "Nothing was done: kind is {}; give fact, convention, pitfall or decision.",
                        quote(word)
                    ),
                )
            })
    }
}

/// An entry to be written, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Kind.
    pub kind: Kind,
    /// One line, 1–200 characters.
    pub title: String,
    /// 1–4,000 characters.
    pub body: String,
}

impl NewEntry {
    /// Checks the three fields of `learn`, of a lesson and of `knowledge add`.
    ///
    /// # Errors
    /// `invalid_argument`, `too_large`, `control_character`.
    pub fn check(kind: &str, title: &str, body: &str) -> Result<Self, Refusal> {
        let title = text::line("title", title)?;
        text::not_blank("title", &title)?;
        text::at_most_chars("title", &title, 200)?;
        let body = text::lines("body", body)?;
        text::not_blank("body", &body)?;
        text::at_most_chars("body", &body, 4000)?;
        Ok(Self {
            kind: Kind::read(kind)?,
            title,
            body,
        })
    }
}

/// An entry as a person sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Outside id.
    pub id: String,
    /// Kind.
    pub kind: String,
    /// `candidate`, `trusted`, `contradicted` or `retired`.
    pub state: String,
    /// Title.
    pub title: String,
    /// Body.
    pub body: String,
    /// Who wrote it: a part's name or `human`.
    pub author: String,
    /// When it was written.
    pub created_at: String,
    /// 0 to 1, rounded to 3 decimals.
    pub confidence: f64,
}

/// `a / (a + b)` of knowledge.md 7, rounded to 3 decimals.
#[must_use]
pub fn confidence(voices: u32, used: u32, unused: u32, contradictions: u32) -> f64 {
    let a = 1.0 + 2.0 * f64::from(voices) + f64::from(used);
    let b = 1.0 + 0.25 * f64::from(unused) + 3.0 * f64::from(contradictions);
    (a / (a + b) * 1000.0).round() / 1000.0
}

/// The entries of a project, oldest first, of one state or of all.
///
/// # Errors
/// A fault of the store.
pub fn list(
    connection: &Connection,
    project: ProjectSeq,
    state: Option<&str>,
) -> Outcome<Vec<Entry>> {
    let mut statement = connection.prepare_cached(
        "SELECT k.id, k.kind, k.state, k.title, k.body, coalesce(p.slug, 'human'), k.created_at,
                k.voices, k.used, k.unused, k.contradictions
           FROM knowledge AS k LEFT JOIN part AS p ON p.seq = k.author_part
          WHERE k.project = ?1 AND (?2 IS NULL OR k.state = ?2)
          ORDER BY k.seq",
    )?;
    let rows = statement.query_map((project, state), |row| {
        Ok(Entry {
            id: row.get(0)?,
            kind: row.get(1)?,
            state: row.get(2)?,
            title: row.get(3)?,
            body: row.get(4)?,
            author: row.get(5)?,
            created_at: row.get::<_, Time>(6)?.rfc3339(),
            confidence: confidence(row.get(7)?, row.get(8)?, row.get(9)?, row.get(10)?),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// An owner vouches for a candidate: it is trusted from now on. Confirming a trusted one changes nothing.
///
/// # Errors
/// `not_found` for an id no entry of the project has; `conflict` for a contradicted or retired one.
pub fn confirm(
    tx: &Tx<'_>,
    project: ProjectSeq,
    id: &str,
    owner: UserSeq,
    now: Time,
) -> Outcome<()> {
    let found: Option<(KnowledgeSeq, String)> = tx
        .query_row(
            "SELECT seq, state FROM knowledge WHERE id = ?1 AND project = ?2",
            (id, project),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let (seq, state) = found.ok_or_else(|| {
        Refusal::new(
            "not_found",
            format!("no entry {} (relayroom knowledge list)", quote(id)),
        )
    })?;
    match state.as_str() {
        "trusted" => Ok(()),
        "candidate" => {
            tx.execute(
                "UPDATE knowledge SET voices = voices + 1, promoted_at = coalesce(promoted_at, ?2) WHERE seq = ?1",
                (seq, now),
            )?;
            set_state(
                tx,
                seq,
                "trusted",
                (None, Some(owner)),
                "confirmed by an owner",
                now,
            )
        }
        other => Err(Refusal::new(
            "conflict",
            format!("the entry is {other}: only a candidate can be confirmed"),
        )
        .into()),
    }
}

/// Moves an entry to a state and writes the audit row.
pub(super) fn set_state(
    tx: &Tx<'_>,
    seq: KnowledgeSeq,
    to: &str,
    by: (Option<PartSeq>, Option<UserSeq>),
    why: &str,
    now: Time,
) -> Outcome<()> {
    tx.execute(
        "INSERT INTO knowledge_audit (knowledge, by_part, by_user, from_state, to_state, why, at)
         SELECT id, ?2, ?3, state, ?4, ?5, ?6 FROM knowledge WHERE seq = ?1",
        (seq, by.0, by.1, to, why, now),
    )?;
    tx.execute("UPDATE knowledge SET state = ?2 WHERE seq = ?1", (seq, to))?;
    let (project, id) = tx.query_row(
        "SELECT project, id FROM knowledge WHERE seq = ?1",
        [seq],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    tx.signal(Signal {
        topic: Topic::Knowledge,
        project: Some(project),
        part: None,
        id,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::confidence;

    #[test]
    fn knowledge_026_confidence_of_the_spec() {
        assert_eq!(confidence(0, 0, 0, 0), 0.5);
        assert_eq!(confidence(1, 0, 0, 0), 0.75);
        assert_eq!(confidence(1, 4, 0, 0), 0.875);
        assert_eq!(confidence(1, 0, 4, 0), 0.6);
        assert_eq!(confidence(1, 0, 0, 1), 0.429);
    }
}
