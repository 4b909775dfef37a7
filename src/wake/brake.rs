//! The brakes of a thread (wake.md 6): on a pair of parts that answer each other too fast, and on too long a chain. They hold wakes,
//! never messages, double while they trip again within the hour, and are let go by a person's message.

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::chain;
use super::due::New;
use super::pingpong;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;

/// First hold, and the longest.
const SHORTEST: Duration = Duration::from_secs(2 * 60);
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// A trip this long after the one before doubles the hold.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

/// The pair that stands for the brake on chains.
const CHAIN: (i64, i64) = (0, 0);

/// A brake that tripped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Brake {
    ordinal: i64,
    tripped_at: Time,
    until: Time,
    step: u32,
}

/// The brake after it trips (again) on the message of that ordinal.
fn trip(before: Option<&Brake>, ordinal: i64, now: Time) -> Brake {
    let step = before
        .filter(|before| before.tripped_at > now - REMEMBERED)
        .map_or(0, |before| before.step + 1);
    let hold = SHORTEST.saturating_mul(1 << step.min(4)).min(LONGEST);
    Brake {
        ordinal,
        tripped_at: now,
        until: now + hold,
        step,
    }
}

/// Until when the brakes of its thread hold back the wake that `new` would cause at `part`. A brake trips on messages stored after its
/// last hold, so that what it held is let through when the hold ends.
pub(super) fn until(
    tx: &Tx<'_>,
    part: PartSeq,
    sender: PartSeq,
    new: &New,
    now: Time,
) -> Outcome<Option<Time>> {
    let pair = pingpong::pair(sender, part);
    let ping_pong = check(tx, new, pair, now, |tx| {
        Ok(alternations(tx, new, pair, now)? >= pingpong::TRIP)
    })?;
    if ping_pong.is_some() || new.hops < chain::LONG {
        return Ok(ping_pong);
    }
    check(tx, new, CHAIN, now, |tx| {
        chain::too_fast(tx, new.message, now)
    })
}

fn check(
    tx: &Tx<'_>,
    new: &New,
    pair: (i64, i64),
    now: Time,
    trips: impl FnOnce(&Tx<'_>) -> Outcome<bool>,
) -> Outcome<Option<Time>> {
    let mut before = load(tx, new.thread, pair)?;
    if let Some(brake) = &before
        && person_since(tx, new.thread, brake.ordinal)?
    {
        let_go(tx, new.thread, pair)?;
        before = None;
    }
    if let Some(brake) = &before {
        if now < brake.until {
            return Ok(Some(brake.until));
        }
        if new.at < brake.until {
            return Ok(None);
        }
    }
    if !trips(tx)? {
        return Ok(None);
    }
    let brake = trip(before.as_ref(), new.ordinal, now);
    store(tx, new.thread, pair, &brake)?;
    Ok(Some(brake.until))
}

pub(super) const RUN: &str =
    "SELECT sender, at FROM message WHERE thread = ?1 AND ordinal <= ?2 ORDER BY ordinal DESC";

fn alternations(connection: &Connection, new: &New, pair: (i64, i64), now: Time) -> Outcome<usize> {
    let mut statement = connection.prepare_cached(RUN)?;
    let messages = statement.query_map((new.thread, new.ordinal), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    Ok(pingpong::alternations(messages, pair, now)?)
}

fn load(connection: &Connection, thread: ThreadSeq, pair: (i64, i64)) -> Outcome<Option<Brake>> {
    Ok(connection
        .prepare_cached(
            "SELECT ordinal, tripped_at, until, step FROM brake WHERE thread = ?1 AND low = ?2 AND high = ?3",
        )?
        .query_row((thread, pair.0, pair.1), |row| {
            Ok(Brake {
                ordinal: row.get(0)?,
                tripped_at: row.get(1)?,
                until: row.get(2)?,
                step: row.get(3)?,
            })
        })
        .optional()?)
}

fn store(tx: &Tx<'_>, thread: ThreadSeq, pair: (i64, i64), brake: &Brake) -> Outcome<()> {
    tx.prepare_cached(
        "INSERT INTO brake (thread, low, high, ordinal, tripped_at, until, step) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (thread, low, high) DO UPDATE
         SET ordinal = excluded.ordinal, tripped_at = excluded.tripped_at, until = excluded.until, step = excluded.step",
    )?
    .execute((
        thread,
        pair.0,
        pair.1,
        brake.ordinal,
        brake.tripped_at,
        brake.until,
        brake.step,
    ))?;
    Ok(())
}

fn let_go(tx: &Tx<'_>, thread: ThreadSeq, pair: (i64, i64)) -> Outcome<()> {
    tx.prepare_cached("DELETE FROM brake WHERE thread = ?1 AND low = ?2 AND high = ?3")?
        .execute((thread, pair.0, pair.1))?;
    Ok(())
}

fn person_since(connection: &Connection, thread: ThreadSeq, ordinal: i64) -> Outcome<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM message WHERE thread = ?1 AND ordinal > ?2 AND sender IS NULL)",
        )?
        .query_row((thread, ordinal), |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn the_hold_doubles_to_half_an_hour_and_starts_over_after_a_quiet_hour() {
        let mut now = Time(0);
        let mut brake = None;
        for minutes in [2, 4, 8, 16, 30, 30] {
            let next = trip(brake.as_ref(), 1, now);
            assert_eq!(next.until.since(now), minutes * MINUTE);
            now = next.until;
            brake = Some(next);
        }
        let late = brake.unwrap().tripped_at + REMEMBERED;
        assert_eq!(trip(brake.as_ref(), 1, late).until.since(late), 2 * MINUTE);
    }

    proptest! {
        #[test]
        fn holds_are_two_to_thirty_minutes(waits in prop::collection::vec(0..90 * MINUTE, 1..20)) {
            let mut now = Time(0);
            let mut brake: Option<Brake> = None;
            for wait in waits {
                let next = trip(brake.as_ref(), 1, now);
                let hold = next.until.since(now);
                prop_assert!((2 * MINUTE..=30 * MINUTE).contains(&hold));
                let longer = brake.as_ref().is_some_and(|before| now.since(before.tripped_at) < 60 * MINUTE);
                prop_assert_eq!(next.step > 0, longer);
                now = Time(next.until.0 + wait);
                brake = Some(next);
            }
        }
    }
}
