//! The rows of the ledger (wake.md 9): every wake with its three facts and its end, every line typed, every hold; newest first.

use std::cmp::Reverse;

use rusqlite::Connection;

use super::HoldReason;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::quote;

/// What may hold a wake up in its pane (wake.md 3).
const HOLD_UPS: [&str; 8] = [
    "dialog", "draft", "busy", "mode", "no_agent", "no_pane", "no_pager", "unknown",
];

/// What a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A wake, from its issue to its end.
    Wake,
    /// A line typed.
    Nudge,
    /// A wake that was due and not issued.
    Hold,
}

impl What {
    /// The word of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wake => "wake",
            Self::Nudge => "nudge",
            Self::Hold => "hold",
        }
    }
}

/// One row. What does not apply to its kind is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is of.
    pub what: What,
    /// When the wake was issued, the line typed, the hold begun.
    pub at: Time,
    /// When the wake ended, the line's outcome was known, the hold was over.
    pub ended_at: Option<Time>,
    /// The part it is about.
    pub part: String,
    /// Who pays.
    pub owner: String,
    /// Outside id of the wake.
    pub wake: Option<String>,
    /// What is typed with the wake's line.
    pub tag: Option<String>,
    /// `normal`, `urgent` or `human`.
    pub lane: Option<String>,
    /// A nudge's number, 1 to 4; of a wake, the lines typed.
    pub rung: Option<u32>,
    /// A wake's state.
    pub state: Option<String>,
    /// `consumed`, `cleared`, `unanswered`, `canceled`; of a nudge `submitted` or `unconfirmed`.
    pub outcome: Option<String>,
    /// Why a hold holds; of a wake, what holds it up in the pane, or did when it ended.
    pub reason: Option<String>,
    /// Until when a hold holds, where that is known.
    pub until: Option<Time>,
    /// Messages a hold held back.
    pub count: Option<u32>,
    /// When the message that caused the wake was stored; without new mail, when it was issued.
    pub stored_at: Option<Time>,
    /// When a line of the wake was first known to be submitted.
    pub presented_at: Option<Time>,
    /// When the agent came for its mail.
    pub consumed_at: Option<Time>,
    /// The part whose message caused it, or `human`.
    pub cause: Option<String>,
    /// Outside id of the thread that caused it.
    pub thread: Option<String>,
    /// The agent CLI the line was typed into.
    pub cli: Option<String>,
    /// Its version.
    pub cli_version: Option<String>,
    /// tmux's version.
    pub tmux: Option<String>,
}

/// Which rows to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of this project.
    pub project: ProjectSeq,
    /// Of this part only.
    pub part: Option<PartSeq>,
    /// Only holds for this reason, and wakes it holds up in the pane or did when they ended.
    pub reason: Option<String>,
    /// Only what began after this.
    pub since: Option<Time>,
    /// At most so many.
    pub limit: u32,
}

// The three kinds are read with the same columns, in the order of `Row`. Each walks its table from its end and stops at the limit: the
// plus sign keeps the planner from an index of times, whose rows it would have to sort.

pub(super) const WAKES: &str = "SELECT x.issued_at, x.ended_at, p.slug, u.name, x.id, x.tag, x.lane, x.rung - 1 + x.typed, x.state, x.outcome,
           x.hold_reason, NULL, NULL, x.stored_at, x.presented_at, x.consumed_at, coalesce(c.slug, 'human'), t.id, NULL, NULL, NULL
      FROM wake AS x CROSS JOIN part AS p ON p.seq = x.part JOIN user AS u ON u.seq = x.owner
      LEFT JOIN part AS c ON c.seq = x.cause_part LEFT JOIN thread AS t ON t.seq = x.cause_thread
     WHERE +x.issued_at > ?2 AND (?3 IS NULL OR x.hold_reason = ?3)";

pub(super) const NUDGES: &str = "SELECT x.at, x.outcome_at, p.slug, u.name, w.id, w.tag, x.lane, x.rung, NULL, x.outcome,
           NULL, NULL, NULL, NULL, NULL, NULL, coalesce(c.slug, 'human'), t.id, x.cli, x.cli_version, x.tmux
      FROM nudge AS x CROSS JOIN part AS p ON p.seq = x.part JOIN user AS u ON u.seq = x.owner JOIN wake AS w ON w.seq = x.wake
      LEFT JOIN part AS c ON c.seq = x.cause_part LEFT JOIN thread AS t ON t.seq = x.cause_thread
     WHERE +x.at > ?2 AND ?3 IS NULL";

pub(super) const HOLDS: &str = "SELECT x.since, x.ended_at, p.slug, u.name, NULL, NULL, NULL, NULL, NULL, NULL,
           x.reason, x.until, x.count, NULL, NULL, NULL, CASE WHEN x.count > 0 THEN coalesce(c.slug, 'human') END, t.id, NULL, NULL, NULL
      FROM hold AS x CROSS JOIN part AS p ON p.seq = x.part JOIN user AS u ON u.seq = x.owner
      LEFT JOIN part AS c ON c.seq = x.last_sender LEFT JOIN message AS m ON m.seq = x.last_seq
      LEFT JOIN thread AS t ON t.seq = m.thread
     WHERE +x.since > ?2 AND (?3 IS NULL OR x.reason = ?3)";

pub(super) const OF_PROJECT: &str = " AND p.project = ?1 ORDER BY x.seq DESC LIMIT ?4";
pub(super) const OF_PART: &str = " AND x.part = ?1 ORDER BY x.seq DESC LIMIT ?4";

/// The newest rows.
///
/// # Errors
/// `invalid_argument` for a reason nothing is ever held for.
pub fn rows(connection: &Connection, filter: &Filter) -> Outcome<Vec<Row>> {
    if let Some(reason) = &filter.reason {
        check_reason(reason)?;
    }
    let (scope, seq) = match filter.part {
        Some(part) => (OF_PART, part.0),
        None => (OF_PROJECT, filter.project.0),
    };
    let since = filter.since.unwrap_or(Time(i64::MIN));
    let mut all = Vec::new();
    for (what, sql) in [
        (What::Nudge, NUDGES),
        (What::Wake, WAKES),
        (What::Hold, HOLDS),
    ] {
        let mut statement = connection.prepare_cached(&format!("{sql}{scope}"))?;
        let rows = statement.query_map((seq, since, &filter.reason, filter.limit), |row| {
            read(what, row)
        })?;
        for row in rows {
            all.push(row?);
        }
    }
    all.sort_by_key(|row| Reverse(row.at));
    all.truncate(usize::try_from(filter.limit).unwrap_or(usize::MAX));
    Ok(all)
}

fn read(what: What, row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        what,
        at: row.get(0)?,
        ended_at: row.get(1)?,
        part: row.get(2)?,
        owner: row.get(3)?,
        wake: row.get(4)?,
        tag: row.get(5)?,
        lane: row.get(6)?,
        rung: row.get(7)?,
        state: row.get(8)?,
        outcome: row.get(9)?,
        reason: row.get(10)?,
        until: row.get(11)?,
        count: row.get(12)?,
        stored_at: row.get(13)?,
        presented_at: row.get(14)?,
        consumed_at: row.get(15)?,
        cause: row.get(16)?,
        thread: row.get(17)?,
        cli: row.get(18)?,
        cli_version: row.get(19)?,
        tmux: row.get(20)?,
    })
}

fn check_reason(reason: &str) -> Outcome<()> {
    let holds = HoldReason::ALL.iter().map(|known| known.as_str());
    let known: Vec<&str> = holds.chain(HOLD_UPS).collect();
    if known.contains(&reason) {
        return Ok(());
    }
    Err(Refusal::new(
        "invalid_argument",
        format!(
            "{} is no reason; one of {}",
            quote(reason),
            known.join(", ")
        ),
    )
    .into())
}
