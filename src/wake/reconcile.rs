//! Wakes beside the turns they caused, per part and day (usage.md 8, wake.md 9): what was issued, typed and presented, which turns came of
//! it, and what of the ledger is missing.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::ToSql;
use rusqlite::named_params;

use crate::activity::Cause;
use crate::activity::What;
use crate::activity::turn;
use crate::activity::usage;
use crate::activity::zone::Zone;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;

/// A presented wake without a turn within this time was silent, in milliseconds.
const SILENT_MS: i64 = 10 * 60 * 1_000;

/// One part on one day. A wake counts on the day it was issued.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The part.
    pub part: String,
    /// Begin of the day.
    pub day: Time,
    /// Wakes issued.
    pub issued: u64,
    /// Lines typed.
    pub typed: u64,
    /// Wakes of which a line is known to have been submitted.
    pub presented: u64,
    /// Of those, wakes that no turn followed within 10 min.
    pub silent: u64,
    /// Turns that began with the line of a wake.
    pub woken: u64,
    /// Of those, second and later ones of one wake.
    pub duplicates: u64,
    /// What these duplicates cost, in tokens.
    pub duplicate_tokens: i64,
    /// Turns a person began.
    pub human: u64,
    /// Turns the CLI began itself.
    pub own: u64,
    /// Lines of transcripts passed over.
    pub skipped: u64,
    /// Reports a hook had to drop.
    pub dropped: u64,
    /// Prompts with a tag of no wake of the part.
    pub foreign_tags: u64,
    /// When a report of the part's hook last came.
    pub last_report: Option<Time>,
}

impl Line {
    fn add(&mut self, other: &Self) {
        self.issued += other.issued;
        self.typed += other.typed;
        self.presented += other.presented;
        self.silent += other.silent;
        self.woken += other.woken;
        self.duplicates += other.duplicates;
        self.duplicate_tokens += other.duplicate_tokens;
        self.human += other.human;
        self.own += other.own;
        self.skipped += other.skipped;
        self.dropped += other.dropped;
        self.foreign_tags += other.foreign_tags;
    }
}

/// The same, one line per part over all its days.
#[must_use]
pub fn by_part(lines: Vec<Line>) -> Vec<Line> {
    let mut parts: BTreeMap<String, Line> = BTreeMap::new();
    for line in lines {
        match parts.get_mut(&line.part) {
            Some(all) => all.add(&line),
            None => {
                parts.insert(line.part.clone(), line);
            }
        }
    }
    parts.into_values().collect()
}

/// What to reconcile.
#[derive(Debug, Clone)]
pub struct Span<'a> {
    /// Of this project's parts, deleted ones too.
    pub project: ProjectSeq,
    /// Of this part only.
    pub part: Option<PartSeq>,
    /// From then on.
    pub from: Time,
    /// Before then.
    pub to: Time,
    /// Whose days.
    pub zone: &'a Zone,
}

pub(super) const WAKES: &str = "SELECT w.part, w.issued_at, w.presented_at,
            (SELECT min(started_at) FROM turn WHERE wake = w.seq AND wake IS NOT NULL)
       FROM part AS p CROSS JOIN wake AS w ON w.part = p.seq
      WHERE p.project = :project AND (:part IS NULL OR p.seq = :part) AND w.issued_at >= :from AND w.issued_at < :to";

pub(super) const NUDGES: &str = "SELECT n.part, n.at FROM part AS p CROSS JOIN nudge AS n ON n.part = p.seq
      WHERE p.project = :project AND (:part IS NULL OR p.seq = :part) AND n.lane IN ('normal', 'urgent', 'human')
        AND n.at >= :from AND n.at < :to";

/// A turn whose begin nobody saw stands at its end.
pub(super) const TURNS: &str = "SELECT t.part, coalesce(t.started_at, t.ended_at), t.cause, t.seq,
            t.wake IS NOT NULL AND EXISTS (SELECT 1 FROM turn AS o WHERE o.wake = t.wake AND o.started_at < t.started_at)
       FROM part AS p CROSS JOIN turn AS t ON t.part = p.seq
      WHERE p.project = :project AND (:part IS NULL OR p.seq = :part)
        AND coalesce(t.started_at, t.ended_at) >= :from AND coalesce(t.started_at, t.ended_at) < :to";

pub(super) const LOST: &str = "SELECT l.part, l.quarter * 900000, l.what, l.count
       FROM part AS p CROSS JOIN usage_lost AS l ON l.part = p.seq
      WHERE p.project = :project AND (:part IS NULL OR p.seq = :part)
        AND l.quarter >= :from / 900000 AND l.quarter * 900000 < :to";

/// The lines of the span, by day and part; a day on which nothing happened has none. `now` decides whether a wake is silent yet.
///
/// # Errors
/// A fault of the store.
pub fn lines(connection: &Connection, span: &Span<'_>, now: Time) -> Outcome<Vec<Line>> {
    let mut book = Book {
        zone: span.zone,
        lines: BTreeMap::new(),
    };
    let bounds: &[(&str, &dyn ToSql)] = named_params! {
        ":project": span.project, ":part": span.part, ":from": span.from, ":to": span.to,
    };
    let mut statement = connection.prepare_cached(WAKES)?;
    let mut rows = statement.query(bounds)?;
    while let Some(row) = rows.next()? {
        let line = book.line(row.get(0)?, row.get(1)?);
        line.issued += 1;
        if let Some(presented) = row.get::<_, Option<Time>>(2)? {
            line.presented += 1;
            let end = presented.0 + SILENT_MS;
            let followed = row.get::<_, Option<Time>>(3)?.is_some_and(|at| at.0 <= end);
            line.silent += u64::from(!followed && now.0 > end);
        }
    }
    let mut statement = connection.prepare_cached(NUDGES)?;
    let mut rows = statement.query(bounds)?;
    while let Some(row) = rows.next()? {
        book.line(row.get(0)?, row.get(1)?).typed += 1;
    }
    let mut statement = connection.prepare_cached(TURNS)?;
    let mut rows = statement.query(bounds)?;
    while let Some(row) = rows.next()? {
        let line = book.line(row.get(0)?, row.get(1)?);
        match row.get(2)? {
            Cause::Human => line.human += 1,
            Cause::Itself => line.own += 1,
            Cause::Wake => {
                line.woken += 1;
                if row.get(4)? {
                    line.duplicates += 1;
                    line.duplicate_tokens += usage::of_turn(connection, row.get(3)?)?.total();
                }
            }
        }
    }
    let mut statement = connection.prepare_cached(LOST)?;
    let mut rows = statement.query(bounds)?;
    while let Some(row) = rows.next()? {
        let line = book.line(row.get(0)?, row.get(1)?);
        let count = row.get::<_, i64>(3)?.unsigned_abs();
        match row.get(2)? {
            What::Skipped => line.skipped += count,
            What::Dropped => line.dropped += count,
            What::ForeignTag => line.foreign_tags += count,
        }
    }
    book.finish(connection)
}

/// Lines in the making, by day and part.
struct Book<'a> {
    zone: &'a Zone,
    lines: BTreeMap<(Time, PartSeq), Line>,
}

impl Book<'_> {
    fn line(&mut self, part: PartSeq, at: Time) -> &mut Line {
        self.lines.entry((self.zone.day(at), part)).or_default()
    }

    fn finish(self, connection: &Connection) -> Outcome<Vec<Line>> {
        let mut lines = Vec::with_capacity(self.lines.len());
        for ((day, part), line) in self.lines {
            let name = connection
                .prepare_cached("SELECT slug FROM part WHERE seq = ?1")?
                .query_row([part], |row| row.get(0))?;
            lines.push(Line {
                part: name,
                day,
                last_report: turn::heard(connection, part)?,
                ..line
            });
        }
        Ok(lines)
    }
}
