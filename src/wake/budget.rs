//! How many lines a person pays for (wake.md 4, "Budgets"): what was typed in the last hour, and one place for every line that may
//! still be typed.

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Lane;
use super::row::Wake;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::UserSeq;
use crate::store::WakeSeq;

/// The sliding window.
const WINDOW: Duration = Duration::from_secs(60 * 60);

/// Lines of the human lane per part and window: a ceiling on abuse, no budget.
const HUMAN_CEILING: u32 = 60;

/// The lane a wake that wishes for `wished` gets: urgent falls to normal where its own allowance is spent. `None`: nothing is free.
pub(super) fn lane(wished: Lane, free: impl Fn(Lane) -> Outcome<u32>) -> Outcome<Option<Lane>> {
    Ok(match wished {
        Lane::Human => Some(Lane::Human),
        Lane::Urgent if free(Lane::Urgent)? > 0 => Some(Lane::Urgent),
        Lane::Urgent | Lane::Normal => (free(Lane::Normal)? > 0).then_some(Lane::Normal),
    })
}

const LIMITS: &str = "SELECT normal_budget, urgent_budget FROM user WHERE seq = ?1";

pub(super) const NUDGES: &str =
    "SELECT count(*) FROM nudge WHERE owner = ?1 AND lane = ?2 AND at > ?3";

/// A part that is paused or parked holds no place: nothing can be typed for it, and others must not wait for its return.
pub(super) const PLACES: &str = "SELECT count(*) FROM wake AS w JOIN part AS p ON p.seq = w.part
      WHERE w.owner = ?1 AND w.lane = ?2 AND w.ended_at IS NULL AND w.typed = 0 AND w.seq < ?3
        AND p.paused_at IS NULL AND (p.limited_until IS NULL OR p.limited_until <= ?4)";

/// What an owner may spend in a lane within the window.
pub(super) fn limit(connection: &Connection, owner: UserSeq, lane: Lane) -> Outcome<u32> {
    Ok(connection
        .prepare_cached(LIMITS)?
        .query_row([owner], |row| match lane {
            Lane::Normal => row.get(0),
            Lane::Urgent => row.get(1),
            Lane::Human => Ok(u32::MAX),
        })?)
}

/// What an owner has spent in a lane: lines typed within the window, and the places of wakes before `before`.
fn used_before(
    connection: &Connection,
    owner: UserSeq,
    lane: Lane,
    before: WakeSeq,
    now: Time,
) -> Outcome<u32> {
    let nudges: u32 = connection
        .prepare_cached(NUDGES)?
        .query_row((owner, lane, now - WINDOW), |row| row.get(0))?;
    let places: u32 = connection
        .prepare_cached(PLACES)?
        .query_row((owner, lane, before, now), |row| row.get(0))?;
    Ok(nudges + places)
}

/// What an owner has spent in a lane.
pub(super) fn used(connection: &Connection, owner: UserSeq, lane: Lane, now: Time) -> Outcome<u32> {
    used_before(connection, owner, lane, WakeSeq(i64::MAX), now)
}

/// What is free in an owner's lane, counting only the places of wakes before `before`.
fn free_before(
    connection: &Connection,
    owner: UserSeq,
    lane: Lane,
    before: WakeSeq,
    now: Time,
) -> Outcome<u32> {
    let limit = limit(connection, owner, lane)?;
    Ok(limit.saturating_sub(used_before(connection, owner, lane, before, now)?))
}

/// Places free in an owner's lane.
pub(super) fn free(connection: &Connection, owner: UserSeq, lane: Lane, now: Time) -> Outcome<u32> {
    free_before(connection, owner, lane, WakeSeq(i64::MAX), now)
}

/// Whether the line of this wake, not yet typed, still has its place: budgets are lowered and parts come back from a pause after places
/// were given. The oldest wakes keep theirs, so that never more lines are typed than the budget holds.
pub(super) fn keeps_place(connection: &Connection, wake: &Wake, now: Time) -> Outcome<bool> {
    if wake.lane == Lane::Human {
        return Ok(true);
    }
    Ok(free_before(connection, wake.owner, wake.lane, wake.seq, now)? > 0)
}

/// When the oldest line in the window leaves it.
pub(super) fn next_free(
    connection: &Connection,
    owner: UserSeq,
    lane: Lane,
    now: Time,
) -> Outcome<Option<Time>> {
    let oldest: Option<Time> = connection
        .prepare_cached(
            "SELECT at FROM nudge WHERE owner = ?1 AND lane = ?2 AND at > ?3 ORDER BY at LIMIT 1",
        )?
        .query_row((owner, lane, now - WINDOW), |row| row.get(0))
        .optional()?;
    Ok(oldest.map(|oldest| oldest + WINDOW))
}

pub(super) const HUMAN_NUDGES: &str =
    "SELECT count(*), min(at) FROM nudge WHERE part = ?1 AND lane = 'human' AND at > ?2";

/// Until when persons have woken the part too often, if they have.
pub(super) fn human_ceiling(
    connection: &Connection,
    part: PartSeq,
    now: Time,
) -> Outcome<Option<Time>> {
    let (count, oldest): (u32, Option<Time>) = connection
        .prepare_cached(HUMAN_NUDGES)?
        .query_row((part, now - WINDOW), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(oldest
        .filter(|_| count >= HUMAN_CEILING)
        .map(|oldest| oldest + WINDOW))
}
