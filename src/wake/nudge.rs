//! Nudges: one row per line typed, never changed but for its outcome, which is written once (wake.md 9).

use super::row::Wake;
use crate::store;
use crate::store::MessageSeq;
use crate::store::Time;
use crate::store::Tx;

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The pager saw it leave the composer.
    Submitted,
    /// That is not known.
    Unconfirmed,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Unconfirmed => "unconfirmed",
        }
    }
}

/// Writes the nudge of the wake's present rung, which covers all loud mail up to `newest`, with the CLI and tmux the pager last named.
pub(super) fn write(tx: &Tx<'_>, wake: &Wake, newest: MessageSeq, now: Time) -> store::Outcome<()> {
    tx.prepare_cached(
        "INSERT INTO nudge (wake, part, owner, lane, rung, at, last_seq, cause_part, cause_thread, cli, cli_version, tmux)
         SELECT w.seq, w.part, w.owner, w.lane, w.rung, ?2, ?3, w.cause_part, w.cause_thread, p.cli, p.cli_version, p.tmux
           FROM wake AS w LEFT JOIN pane AS p ON p.part = w.part WHERE w.seq = ?1",
    )?
    .execute((wake.seq, now, newest))?;
    Ok(())
}

/// Writes the outcome of the wake's present rung; false if it has one. A pager's own evidence takes the place of a turn's.
pub(super) fn conclude(
    tx: &Tx<'_>,
    wake: &Wake,
    outcome: Outcome,
    evidence: &str,
    enters: Option<u32>,
    now: Time,
) -> store::Outcome<bool> {
    let written = tx
        .prepare_cached(
            "UPDATE nudge SET outcome = ?3, outcome_at = coalesce(outcome_at, ?4), evidence = ?5, enters = ?6
              WHERE wake = ?1 AND rung = ?2 AND (outcome IS NULL OR outcome = ?3 AND proved = 1 AND enters IS NULL AND ?6 IS NOT NULL)",
        )?
        .execute((wake.seq, wake.rung, outcome.as_str(), now, evidence, enters))?;
    Ok(written > 0)
}

/// A turn began with the line: if nobody has said what became of the newest, it was submitted.
pub(super) fn prove(tx: &Tx<'_>, wake: &Wake, evidence: &str, at: Time) -> store::Outcome<()> {
    tx.prepare_cached(
        "UPDATE nudge SET outcome = 'submitted', outcome_at = ?2, evidence = ?3, proved = 1
          WHERE seq = (SELECT max(seq) FROM nudge WHERE wake = ?1) AND outcome IS NULL",
    )?
    .execute((wake.seq, at, evidence))?;
    Ok(())
}
