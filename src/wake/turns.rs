//! What turns prove of wakes (wake.md 2): a turn that began with a wake's line shows that the line was submitted. `activity` keeps the
//! turns; who takes a hook's report asks here for the wake of its tag, and tells us afterwards.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::State;
use super::facts::Facts;
use super::mail;
use super::nudge;
use super::row;
use super::row::Wake;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::WakeSeq;

/// What stands as evidence of a line that the agent's hook saw.
const EVIDENCE: &str = "turn";

pub(super) const TAGGED: &str =
    "SELECT seq FROM wake WHERE tag = ?1 AND +part = ?2 ORDER BY seq DESC LIMIT 1";

/// The part's newest wake with that tag, open or done.
///
/// # Errors
/// A fault of the store.
pub fn tagged(connection: &Connection, part: PartSeq, tag: &str) -> Outcome<Option<WakeSeq>> {
    let mut statement = connection.prepare_cached(TAGGED)?;
    Ok(statement
        .query_row((tag, part), |row| row.get(0))
        .optional()?)
}

/// A prompt that began with the wake's line was submitted at `at`: the wake is presented since then at the latest, open or done. What a
/// pager says of the line stays what is said of it.
///
/// # Errors
/// A fault of the store.
pub fn prompted(tx: &Tx<'_>, wake: WakeSeq, at: Time, now: Time) -> Outcome<()> {
    let wake = row::by_seq(tx, wake)?;
    // Not before there was such a line, whatever the clock of the hook says.
    let at = at.max(wake.nudged_at.unwrap_or(wake.issued_at)).min(now);
    let facts = Facts::of(tx, wake.part, now)?;
    nudge::prove(tx, &wake, EVIDENCE, at)?;
    match wake.state {
        State::Done => row::was_presented(tx, &facts, &wake, at)?,
        // The next line is due already: it stays so, and the wake was presented all the same.
        _ if !wake.typed => row::was_presented(tx, &facts, &wake, at)?,
        _ => row::presented(tx, &facts, &wake, at)?,
    }
    mail::presented(tx, wake.part, wake.seq, at)
}

/// What a pager says of a line whose wake the agent has come for meanwhile: nothing changes but that it is known. The fastest wakes are
/// among these.
pub(super) fn late(tx: &Tx<'_>, wake: &Wake, at: Time, now: Time) -> Outcome<()> {
    let facts = Facts::of(tx, wake.part, now)?;
    row::was_presented(tx, &facts, wake, at)?;
    mail::presented(tx, wake.part, wake.seq, at)
}
