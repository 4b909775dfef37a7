//! Finding threads by text (tools.md 6, search). Every term is data: quoted for the trigram index, escaped for LIKE.
//!
//! The index is walked from the newest thread downwards. Each condition (the project's threads, each long term) can say which is the
//! next thread at or below a place that meets it; the walk jumps to the lowest of these until all agree. So neither a term that is
//! everywhere nor another project's mail makes it read more than the rarest condition asks for.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;

use super::find;
use super::list;
use super::list::List;
use super::threads;
use crate::store::Outcome;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::ThreadSeq;
use crate::store::text;

/// Row of a thread's first message in `mail_text`; the thread's rows reach up to the next thread's.
pub(super) const ROWS_PER_THREAD: i64 = 1 << 20;

/// How often a short term may fail in a thread that meets everything else before it is asked where it occurs next: the one is cheap in
/// few threads, the other reads all text down to its answer, but no text twice.
const PATIENCE: u32 = 32;

/// Rows of the index fetched at once.
const CHUNK: u32 = 64;

/// Arguments of `search`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchArgs {
    /// 1–200 characters: terms apart by white space.
    pub query: String,
    /// 1–20, 10 if not given.
    pub limit: Option<i64>,
    /// Only threads older than this one of the project.
    pub before: Option<String>,
}

/// A thread that holds every term.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// Id.
    pub thread_id: String,
    /// Subject.
    pub subject: String,
    /// State.
    pub status: &'static str,
    /// When its first message was stored.
    pub created_at: String,
}

/// The newest threads of the project in which every term occurs, in the subject or in some body.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`, `bad_cursor`.
pub fn search(
    connection: &Connection,
    project: ProjectSeq,
    args: &SearchArgs,
) -> Outcome<List<SearchHit>> {
    let terms = Terms::read(&args.query)?;
    let limit = list::limit(args.limit, 1..=20, 10)?;
    let place = match &args.before {
        None => i64::MAX / ROWS_PER_THREAD - 1,
        Some(cursor) => threads::place(connection, project, cursor)? - 1,
    };
    let mut walk = Walk {
        connection,
        project,
        long: terms.long.into_iter().map(Phrase::new).collect(),
        short: terms.short,
        place,
        misses: 0,
    };
    let mut hits = Vec::new();
    while i64::try_from(hits.len()) != Ok(limit)
        && let Some(thread) = walk.next()?
    {
        let thread = find::thread_at(connection, thread)?;
        hits.push(SearchHit {
            thread_id: thread.id,
            subject: thread.subject,
            status: thread.status.as_str(),
            created_at: thread.created_at.rfc3339(),
        });
    }
    Ok(list::cut(hits, |hit: &SearchHit| &hit.thread_id))
}

/// What a thread must hold.
#[derive(Debug, PartialEq, Eq)]
struct Terms {
    /// Three characters and more, as quoted phrases of the trigram index.
    long: Vec<String>,
    /// Shorter ones, as patterns of LIKE with `\` as escape.
    short: Vec<String>,
}

impl Terms {
    fn read(query: &str) -> Result<Self, Refusal> {
        let query = text::lines("query", query)?;
        text::not_blank("query", &query)?;
        text::at_most_chars("query", &query, 200)?;
        let folded = text::fold(&query);
        let mut terms: Vec<&str> = folded.split_whitespace().collect();
        terms.sort_unstable();
        terms.dedup();
        let (long, short): (Vec<&str>, Vec<&str>) = terms
            .into_iter()
            .partition(|term| term.chars().count() >= 3);
        Ok(Self {
            long: long.into_iter().map(phrase).collect(),
            short: short.into_iter().map(pattern).collect(),
        })
    }
}

/// The way down the project's threads.
struct Walk<'a> {
    connection: &'a Connection,
    project: ProjectSeq,
    long: Vec<Phrase>,
    short: Vec<String>,
    /// Threads above it were looked at.
    place: i64,
    /// Threads that met all but a short term.
    misses: u32,
}

impl Walk<'_> {
    /// The newest thread at or below the place that holds every term; the place moves below it.
    fn next(&mut self) -> Outcome<Option<ThreadSeq>> {
        'walk: loop {
            let candidate = match (&self.long[..], &self.short[..]) {
                ([], [first, ..]) => self.next_like(first)?,
                _ => self.next_of_project()?,
            };
            let Some(thread) = candidate else {
                return Ok(None);
            };
            self.place = thread;
            for phrase in &mut self.long {
                match phrase.next(self.connection, thread)? {
                    None => return Ok(None),
                    Some(lower) if lower < thread => {
                        self.place = lower;
                        continue 'walk;
                    }
                    Some(_) => {}
                }
            }
            for pattern in &self.short {
                if self.holds(pattern)? {
                    continue;
                }
                self.place = thread - 1;
                self.misses += 1;
                if self.misses > PATIENCE {
                    match self.next_like(pattern)? {
                        None => return Ok(None),
                        Some(lower) => self.place = lower,
                    }
                }
                continue 'walk;
            }
            self.place = thread - 1;
            return Ok(Some(ThreadSeq(thread)));
        }
    }

    fn next_of_project(&self) -> Outcome<Option<i64>> {
        Ok(self
            .connection
            .prepare_cached(NEXT_OF_PROJECT)?
            .query_row((self.project, self.place), |row| row.get(0))
            .optional()?)
    }

    fn next_like(&self, pattern: &str) -> Outcome<Option<i64>> {
        Ok(self
            .connection
            .prepare_cached(NEXT_LIKE)?
            .query_row((self.project, self.place, pattern), |row| row.get(0))
            .optional()?)
    }

    /// Whether a short term occurs in the thread at the place.
    fn holds(&self, pattern: &str) -> Outcome<bool> {
        let first = self.place * ROWS_PER_THREAD;
        Ok(self
            .connection
            .prepare_cached(HOLDS)?
            .query_row((first, first + ROWS_PER_THREAD, pattern), |row| row.get(0))?)
    }
}

/// A long term and where it occurs next. Opening the index costs more than walking it, so threads are fetched by the chunk.
struct Phrase {
    quoted: String,
    /// Threads it occurs in from the last fetch on, the newest at the end.
    fetched: Vec<i64>,
    /// There is nothing below them.
    exhausted: bool,
}

impl Phrase {
    fn new(quoted: String) -> Self {
        Self {
            quoted,
            fetched: Vec::new(),
            exhausted: false,
        }
    }

    /// The newest thread at or below `place` it occurs in. Places only go down.
    fn next(&mut self, connection: &Connection, place: i64) -> Outcome<Option<i64>> {
        while self.fetched.pop_if(|thread| *thread > place).is_some() {}
        if self.fetched.is_empty() && !self.exhausted {
            let below = (place + 1) * ROWS_PER_THREAD;
            let mut threads: Vec<i64> = connection
                .prepare_cached(MATCHES)?
                .query_map((&self.quoted, below, CHUNK), |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            self.exhausted = threads.len() < CHUNK as usize;
            threads.dedup();
            threads.reverse();
            self.fetched = threads;
        }
        Ok(self.fetched.last().copied())
    }
}

pub(super) const NEXT_OF_PROJECT: &str =
    "SELECT seq FROM thread WHERE project = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1";

pub(super) const MATCHES: &str =
    "SELECT rowid / 1048576 FROM mail_text WHERE mail_text MATCH ?1 AND rowid < ?2
      ORDER BY rowid DESC LIMIT ?3";

/// CROSS JOIN keeps the threads outside, newest first, and the text of each a range.
pub(super) const NEXT_LIKE: &str = r"
    SELECT t.seq FROM thread AS t CROSS JOIN mail_text AS x
     WHERE t.project = ?1 AND t.seq <= ?2
       AND x.rowid >= t.seq * 1048576 AND x.rowid < (t.seq + 1) * 1048576
       AND (x.subject LIKE ?3 ESCAPE '\' OR x.body LIKE ?3 ESCAPE '\')
     ORDER BY t.seq DESC LIMIT 1";

pub(super) const HOLDS: &str = r"
    SELECT EXISTS (SELECT 1 FROM mail_text
     WHERE rowid >= ?1 AND rowid < ?2
       AND (subject LIKE ?3 ESCAPE '\' OR body LIKE ?3 ESCAPE '\'))";

/// The term as a string of FTS5's query language, in which only the quotation mark means anything.
fn phrase(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// The term as a pattern of LIKE that means nothing but itself, anywhere.
fn pattern(term: &str) -> String {
    let mut pattern = String::from("%");
    for c in term.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_quoted_escaped_and_told_apart_by_length() {
        let terms = Terms::read("  Ok 100% a_b say\"so 用户 用户 ÉCOLE ").unwrap();
        assert_eq!(
            terms.long,
            ["\"100%\"", "\"a_b\"", "\"say\"\"so\"", "\"école\""]
        );
        assert_eq!(terms.short, ["%ok%", "%用户%"]);
        assert_eq!(Terms::read(r"% \").unwrap().short, [r"%\%%", r"%\\%"]);
    }

    #[test]
    fn tools_072_blank_and_long_queries_are_refused() {
        assert_eq!(Terms::read(" \t\n").unwrap_err().code, "invalid_argument");
        assert_eq!(Terms::read(&"x".repeat(201)).unwrap_err().code, "too_large");
        assert!(Terms::read(&"x".repeat(200)).is_ok());
    }
}
