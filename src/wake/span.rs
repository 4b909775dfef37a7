//! The rows of a span of the ledger, read for its [`Summary`]: what was issued in it, and what was held.

use rusqlite::Connection;

use super::Ending;
use super::HoldReason;
use super::summary;
use super::summary::Summary;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;

/// A wake as the summary needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wake {
    pub id: String,
    pub tag: String,
    pub part: String,
    pub issued_at: Time,
    pub stored_at: Time,
    pub presented_at: Option<Time>,
    pub consumed_at: Option<Time>,
    pub ending: Option<Ending>,
    pub hold_up: Option<String>,
    pub thread: Option<String>,
    /// Whether a line was typed for it.
    pub typed: bool,
    pub cli: Option<String>,
    pub cli_version: Option<String>,
    pub tmux: Option<String>,
}

/// A hold as the summary needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hold {
    pub part: String,
    pub reason: HoldReason,
    pub since: Time,
    pub ended_at: Option<Time>,
}

pub(super) const WAKES: &str = "SELECT w.id, w.tag, p.slug, w.issued_at, w.stored_at, w.presented_at, w.consumed_at, w.outcome, w.hold_reason,
           t.id, n.seq IS NOT NULL, n.cli, n.cli_version, n.tmux
      FROM wake AS w CROSS JOIN part AS p ON p.seq = w.part
      LEFT JOIN nudge AS n ON n.wake = w.seq AND n.rung = w.rung - 1 + w.typed
      LEFT JOIN thread AS t ON t.seq = w.cause_thread
     WHERE w.issued_at > ?2 AND w.issued_at <= ?3 AND p.project = ?1 AND (?4 IS NULL OR w.part = ?4) ORDER BY w.issued_at";

/// What was over within the span, and what lasts: the few open holds have an index of their own.
pub(super) const OVER: &str = "SELECT p.slug, h.reason, h.since, h.ended_at
      FROM hold AS h INDEXED BY hold_by_end CROSS JOIN part AS p ON p.seq = h.part
     WHERE h.ended_at > ?2 AND h.since <= ?3 AND p.project = ?1 AND (?4 IS NULL OR h.part = ?4)";
pub(super) const LASTING: &str = "SELECT p.slug, h.reason, h.since, h.ended_at
      FROM hold AS h INDEXED BY hold_open CROSS JOIN part AS p ON p.seq = h.part
     WHERE h.ended_at IS NULL AND ?2 < ?3 AND h.since <= ?3 AND p.project = ?1 AND (?4 IS NULL OR h.part = ?4)";

/// What the project's ledger, or that of one of its parts, says of the time from `from` to `now`.
///
/// # Errors
/// A fault of the store.
pub fn summary(
    connection: &Connection,
    project: ProjectSeq,
    part: Option<PartSeq>,
    from: Time,
    now: Time,
) -> Outcome<Summary> {
    let mut statement = connection.prepare_cached(WAKES)?;
    let wakes = statement.query_map((project, from, now, part), |row| {
        Ok(Wake {
            id: row.get(0)?,
            tag: row.get(1)?,
            part: row.get(2)?,
            issued_at: row.get(3)?,
            stored_at: row.get(4)?,
            presented_at: row.get(5)?,
            consumed_at: row.get(6)?,
            ending: row.get(7)?,
            hold_up: row.get(8)?,
            thread: row.get(9)?,
            typed: row.get(10)?,
            cli: row.get(11)?,
            cli_version: row.get(12)?,
            tmux: row.get(13)?,
        })
    })?;
    let wakes: Vec<Wake> = wakes.collect::<rusqlite::Result<_>>()?;
    let mut holds = Vec::new();
    for sql in [OVER, LASTING] {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map((project, from, now, part), |row| {
            Ok(Hold {
                part: row.get(0)?,
                reason: row.get(1)?,
                since: row.get(2)?,
                ended_at: row.get(3)?,
            })
        })?;
        for row in rows {
            holds.push(row?);
        }
    }
    Ok(summary::of(&wakes, &holds, from, now))
}
