//! Recall: trusted, unexpired entries of the project whose words match, best first (knowledge.md 8). The query's words are kept
//! nowhere, only their hash.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;
use sha2::Digest;
use sha2::Sha256;

use super::entry::Kind;
use super::entry::confidence;
use crate::identity::Caller;
use crate::store::KnowledgeSeq;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::new_id;
use crate::store::parse_id;
use crate::store::text;

/// Characters of body one answer carries; what no longer fits is cut.
const BODY_CHARS: usize = 8_000;

/// The arguments of `recall`, bounds not yet checked.
#[derive(Debug, Clone)]
pub struct RecallArgs {
    /// 1–500 characters.
    pub query: String,
    /// Only entries of this kind.
    pub kind: Option<String>,
    /// 1–20.
    pub limit: u32,
}

/// What `recall` answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recalled {
    /// Best first.
    pub entries: Vec<RecalledEntry>,
    /// To be named by `recall_used`.
    pub query_id: String,
}

/// One entry of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecalledEntry {
    /// Outside id.
    pub id: String,
    /// Kind.
    pub kind: String,
    /// Title.
    pub title: String,
    /// Body, perhaps cut.
    pub body: String,
    /// 0 to 1.
    pub confidence: f64,
    /// Threads it cites.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source_refs: Vec<SourceRef>,
    /// Whether the body was cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A thread an entry cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceRef {
    /// Outside id.
    pub thread_id: String,
}

/// Finds entries and logs who asked and what came back.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`.
pub fn recall(tx: &Tx<'_>, caller: &Caller, args: &RecallArgs, now: Time) -> Outcome<Recalled> {
    let query = text::lines("query", &args.query)?;
    text::not_blank("query", &query)?;
    text::at_most_chars("query", &query, 500)?;
    let kind = args.kind.as_deref().map(Kind::read).transpose()?;
    let normal = normal(&query);
    let found = find(tx, caller, &normal, kind, args.limit, now)?;

    let query_id = new_id();
    tx.execute(
        "INSERT INTO recall (id, part, query_hash, kind, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        (
            &query_id,
            caller.part,
            Sha256::digest(normal.as_bytes()).to_vec(),
            kind.map(Kind::as_str),
            now,
        ),
    )?;
    let recall = tx.last_insert_rowid();
    let mut left = BODY_CHARS;
    let mut entries = Vec::with_capacity(found.len());
    for (seq, mut entry) in found {
        tx.execute(
            "INSERT INTO recall_entry (recall, knowledge) VALUES (?1, ?2)",
            (recall, seq),
        )?;
        let size = entry.body.chars().count();
        if size > left {
            entry.body = entry.body.chars().take(left).collect();
            entry.truncated = true;
        }
        left -= size.min(left);
        entry.source_refs = source_refs(tx, seq)?;
        entries.push(entry);
    }
    Ok(Recalled { entries, query_id })
}

/// An agent reports that an entry of its own recall helped. Saying it again changes nothing.
///
/// # Errors
/// `invalid_argument` for a malformed id; `query_not_found`, another part's too; `not_returned`.
pub fn recall_used(
    tx: &Tx<'_>,
    caller: &Caller,
    query_id: &str,
    knowledge_id: &str,
    now: Time,
) -> Outcome<()> {
    let read = |argument: &str, id: &str| {
        parse_id(id).ok_or_else(|| {
            Refusal::new(
                "invalid_argument",
                format!("Nothing was done: {argument} is not a UUID. Take it from recall."),
            )
        })
    };
    let query_id = read("queryId", query_id)?;
    let knowledge_id = read("knowledgeId", knowledge_id)?;
    let recall: Option<i64> = tx
        .query_row(
            "SELECT seq FROM recall WHERE id = ?1 AND part = ?2",
            (query_id, caller.part),
            |row| row.get(0),
        )
        .optional()?;
    let recall = recall.ok_or_else(|| {
        Refusal::new(
            "query_not_found",
            "Nothing was done: no recall of yours has that queryId. Take it from recall.",
        )
    })?;
    let entry: Option<(KnowledgeSeq, Option<Time>)> = tx
        .query_row(
            "SELECT e.knowledge, e.used_at FROM recall_entry AS e JOIN knowledge AS k ON k.seq = e.knowledge
              WHERE e.recall = ?1 AND k.id = ?2",
            (recall, knowledge_id),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let (entry, used_at) = entry.ok_or_else(|| {
        Refusal::new(
            "not_returned",
            "Nothing was done: that recall did not return that entry.",
        )
    })?;
    if used_at.is_some() {
        return Ok(());
    }
    let first: bool = tx.query_row(
        "SELECT NOT EXISTS (SELECT 1 FROM recall_entry WHERE recall = ?1 AND used_at IS NOT NULL)",
        [recall],
        |row| row.get(0),
    )?;
    tx.execute(
        "UPDATE recall_entry SET used_at = ?3 WHERE recall = ?1 AND knowledge = ?2",
        (recall, entry, now),
    )?;
    if first {
        tx.execute(
            "UPDATE knowledge SET unused = unused + 1
              WHERE seq IN (SELECT knowledge FROM recall_entry WHERE recall = ?1 AND knowledge <> ?2)",
            (recall, entry),
        )?;
    } else {
        tx.execute(
            "UPDATE knowledge SET unused = unused - 1 WHERE seq = ?1",
            [entry],
        )?;
    }
    tx.execute(
        "UPDATE knowledge SET used = used + 1 WHERE seq = ?1",
        [entry],
    )?;
    Ok(())
}

/// Lower case, runs of white space one blank, trimmed.
fn normal(query: &str) -> String {
    text::fold(query)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Entries that hold any of the query's terms, those with the title first; terms of three characters and more by the trigram index,
/// shorter ones by LIKE.
fn find(
    connection: &Connection,
    caller: &Caller,
    query: &str,
    kind: Option<Kind>,
    limit: u32,
    now: Time,
) -> Outcome<Vec<(KnowledgeSeq, RecalledEntry)>> {
    let (long, short): (Vec<&str>, Vec<&str>) =
        query.split(' ').partition(|term| term.chars().count() >= 3);
    let matched = if long.is_empty() {
        None
    } else {
        let terms: Vec<String> = long
            .iter()
            .map(|term| format!("\"{}\"", term.replace('"', "\"\"")))
            .collect();
        Some(terms.join(" OR "))
    };
    let mut ranks: Vec<(KnowledgeSeq, f64)> = Vec::new();
    if let Some(matched) = matched {
        let mut statement = connection.prepare_cached(
            "SELECT rowid, bm25(knowledge_text, 4.0, 1.0) FROM knowledge_text WHERE knowledge_text MATCH ?1
              ORDER BY 2 LIMIT 300",
        )?;
        let rows = statement.query_map([matched], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            ranks.push(row?);
        }
    }
    for term in short {
        let like = format!(
            "%{}%",
            term.replace('\\', "\\\\")
                .replace('%', "\\%")
                .replace('_', "\\_")
        );
        let mut statement = connection.prepare_cached(
            "SELECT rowid FROM knowledge_text WHERE title LIKE ?1 ESCAPE '\\' OR body LIKE ?1 ESCAPE '\\'
              ORDER BY rowid DESC LIMIT 100",
        )?;
        let rows = statement.query_map([like], |row| row.get(0))?;
        for row in rows {
            let seq = row?;
            if !ranks.iter().any(|(known, _)| *known == seq) {
                ranks.push((seq, 0.0));
            }
        }
    }
    let mut statement = connection.prepare_cached(
        "SELECT id, kind, title, body, voices, used, unused, contradictions FROM knowledge
          WHERE seq = ?1 AND project = ?2 AND state = 'trusted' AND (expires_at IS NULL OR expires_at > ?3)
            AND (?4 IS NULL OR kind = ?4)",
    )?;
    let mut entries = Vec::new();
    for (seq, rank) in ranks {
        let entry = statement
            .query_row((seq, caller.project, now, kind.map(Kind::as_str)), |row| {
                Ok(RecalledEntry {
                    id: row.get(0)?,
                    kind: row.get(1)?,
                    title: row.get(2)?,
                    body: row.get(3)?,
                    confidence: confidence(row.get(4)?, row.get(5)?, row.get(6)?, row.get(7)?),
                    source_refs: Vec::new(),
                    truncated: false,
                })
            })
            .optional()?;
        if let Some(entry) = entry {
            // bm25 is better the smaller; confidence only orders.
            let score = -rank * (0.5 + entry.confidence);
            entries.push((seq, score, entry));
        }
    }
    entries.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    Ok(entries
        .into_iter()
        .take(limit as usize)
        .map(|(seq, _, entry)| (seq, entry))
        .collect())
}

fn source_refs(connection: &Connection, seq: KnowledgeSeq) -> Outcome<Vec<SourceRef>> {
    let mut statement = connection.prepare_cached(
        "SELECT t.id FROM knowledge_thread AS k JOIN thread AS t ON t.seq = k.thread WHERE k.knowledge = ?1 ORDER BY t.seq",
    )?;
    let rows = statement.query_map([seq], |row| {
        Ok(SourceRef {
            thread_id: row.get(0)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn knowledge_034_spellings_share_one_hash() {
        assert_eq!(normal("  REDIS   Port "), normal("redis port"));
    }
}
