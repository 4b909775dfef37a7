//! Lines typed since the last step: budgets in any 60 minutes, and the distance between the lines of one wake.

use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use relayroom::store::UserSeq;
use rusqlite::Connection;

use crate::relay::Checked;
use crate::world::World;

const HOUR: i64 = 60 * 60_000;

struct Nudge {
    seq: i64,
    wake: i64,
    part: PartSeq,
    owner: UserSeq,
    lane: String,
    rung: u32,
    at: i64,
}

/// The newest nudge, and what is wrong with those after `last`.
pub fn check(connection: &Connection, world: &World, last: i64) -> Outcome<(i64, Checked)> {
    let new: Vec<Nudge> = connection
        .prepare_cached(
            "SELECT seq, wake, part, owner, lane, rung, at FROM nudge WHERE seq > ?1 ORDER BY seq",
        )?
        .query_map([last], |row| {
            Ok(Nudge {
                seq: row.get(0)?,
                wake: row.get(1)?,
                part: row.get(2)?,
                owner: row.get(3)?,
                lane: row.get(4)?,
                rung: row.get(5)?,
                at: row.get(6)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    for nudge in &new {
        if let Err(wrong) = one(connection, world, nudge)? {
            return Ok((nudge.seq, Err(wrong)));
        }
    }
    Ok((new.last().map_or(last, |nudge| nudge.seq), Ok(())))
}

fn one(connection: &Connection, world: &World, nudge: &Nudge) -> Outcome<Checked> {
    let count = |column: &str, of: i64| -> Outcome<u32> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT count(*) FROM nudge WHERE {column} = ?1 AND lane = ?2 AND at > ?3 AND at <= ?4"
            ))?
            .query_row((of, &nudge.lane, nudge.at - HOUR, nudge.at), |row| row.get(0))?)
    };
    let owner = usize::from(nudge.owner == world.relay.house.people[1]);
    let (normal, urgent) = world.limits[owner];
    let (typed, most) = match nudge.lane.as_str() {
        "normal" => (count("owner", nudge.owner.0)?, normal),
        "urgent" => (count("owner", nudge.owner.0)?, urgent),
        _ => (count("part", nudge.part.0)?, 60),
    };
    if typed > most {
        return Ok(Err(format!(
            "{typed} {} lines within 60 minutes, {most} are allowed",
            nudge.lane
        )));
    }
    let (before, newest): (Option<i64>, Option<i64>) = connection
        .prepare_cached(
            "SELECT (SELECT at FROM nudge WHERE wake = ?1 AND rung = ?2 - 1), (SELECT max(at) FROM nudge WHERE seq < ?3)",
        )?
        .query_row((nudge.wake, nudge.rung, nudge.seq), |row| Ok((row.get(0)?, row.get(1)?)))?;
    if nudge.rung > 1 && before.is_none() {
        return Ok(Err(format!(
            "nudge {} of a wake came without the one before",
            nudge.rung
        )));
    }
    if before.is_some_and(|before| nudge.at - before <= 60_000) {
        return Ok(Err("two lines of one wake within 60 s".into()));
    }
    if newest.is_some_and(|newest| nudge.at < newest) {
        return Ok(Err("the ledger went back in time".into()));
    }
    Ok(Ok(()))
}

/// Whether the line of the part's wake was typed already.
pub fn in_hand(connection: &Connection, part: PartSeq) -> Outcome<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM wake WHERE part = ?1 AND ended_at IS NULL AND typed = 1)",
        )?
        .query_row([part], |row| row.get(0))?)
}

/// The wake and rung of the newest nudge.
pub fn newest(connection: &Connection) -> Outcome<(String, u32)> {
    Ok(connection
        .prepare_cached("SELECT w.id, n.rung FROM nudge AS n JOIN wake AS w ON w.seq = n.wake ORDER BY n.seq DESC LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
}
