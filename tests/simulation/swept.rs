//! What a sweep leaves behind: no hold without its cause, no lease that ended, no rung that is overdue.

use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use relayroom::store::UserSeq;
use rusqlite::Connection;

use crate::relay::Checked;
use crate::world::World;

const HOUR: i64 = 60 * 60_000;

/// How long after the nudge of that number the next is due, or the end.
const RUNGS: [i64; 4] = [90_000, 5 * 60_000, 15 * 60_000, 15 * 60_000];

/// What is wrong, if anything.
pub fn check(connection: &Connection, world: &World) -> Outcome<Checked> {
    let holds = holds(connection, world)?;
    if holds.is_err() {
        return Ok(holds);
    }
    wakes(connection, world)
}

fn holds(connection: &Connection, world: &World) -> Outcome<Checked> {
    let now = world.relay.now().0;
    if let Some(part) = person_waits(connection)? {
        return Ok(Err(format!(
            "a person's message to part {} waits for what it is exempt from",
            part.0
        )));
    }
    let open: Vec<(PartSeq, UserSeq, String, Option<i64>)> = connection
        .prepare_cached("SELECT part, owner, reason, until FROM hold WHERE ended_at IS NULL")?
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (part, owner, reason, until) in open {
        let lasts = match reason.as_str() {
            "paused" => one(
                connection,
                "SELECT paused_at IS NOT NULL FROM part WHERE seq = ?1",
                part,
            )?,
            "budget" => spent(connection, world, owner, now)?,
            "broadcast" => false,
            _ => until.is_some_and(|until| until > now),
        };
        if !lasts {
            return Ok(Err(format!(
                "a sweep left part {} held for {reason} without cause",
                part.0
            )));
        }
    }
    Ok(Ok(()))
}

/// A part held for what a person's message passes, though it has new mail of a person.
fn person_waits(connection: &Connection) -> Outcome<Option<PartSeq>> {
    let mut statement = connection.prepare_cached(
        "SELECT h.part FROM hold AS h WHERE h.ended_at IS NULL AND h.reason IN ('cooldown', 'ping_pong', 'broadcast', 'budget')
            AND EXISTS (SELECT 1 FROM recipient AS r JOIN message AS m ON m.seq = r.message
                         WHERE r.part = h.part AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0 AND r.seen_at IS NULL
                           AND r.nudged_by IS NULL AND m.sender IS NULL)",
    )?;
    let mut rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.next().transpose()?)
}

fn one(connection: &Connection, sql: &str, part: PartSeq) -> Outcome<bool> {
    Ok(connection
        .prepare_cached(sql)?
        .query_row([part], |row| row.get(0))?)
}

/// Whether the owner's normal lane has no place free.
fn spent(connection: &Connection, world: &World, owner: UserSeq, now: i64) -> Outcome<bool> {
    let limit = world.limits[usize::from(owner == world.relay.house.people[1])].0;
    let taken: u32 = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM nudge WHERE owner = ?1 AND lane = 'normal' AND at > ?2 - ?3)
                  + (SELECT count(*) FROM wake AS w JOIN part AS p ON p.seq = w.part
                      WHERE w.owner = ?1 AND w.lane = 'normal' AND w.state IN ('waiting', 'leased') AND w.typed = 0
                        AND p.paused_at IS NULL AND coalesce(p.limited_until, 0) <= ?2)",
        )?
        .query_row((owner, now, HOUR), |row| row.get(0))?;
    Ok(taken >= limit)
}

/// An open wake as it bears on the clock.
struct Open {
    part: PartSeq,
    state: String,
    rung: u32,
    nudged_at: Option<i64>,
    lease_until: Option<i64>,
    /// Paused, parked or held.
    held: bool,
}

fn wakes(connection: &Connection, world: &World) -> Outcome<Checked> {
    let now = world.relay.now().0;
    let open: Vec<Open> = connection
        .prepare_cached(
            "SELECT w.part, w.state, w.rung, w.nudged_at, w.lease_until,
                    p.paused_at IS NOT NULL OR coalesce(p.limited_until, 0) > ?1
                    OR EXISTS (SELECT 1 FROM hold WHERE part = w.part AND ended_at IS NULL)
               FROM wake AS w JOIN part AS p ON p.seq = w.part WHERE w.ended_at IS NULL",
        )?
        .query_map([now], |row| {
            Ok(Open {
                part: row.get(0)?,
                state: row.get(1)?,
                rung: row.get(2)?,
                nudged_at: row.get(3)?,
                lease_until: row.get(4)?,
                held: row.get(5)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    for wake in open {
        let part = wake.part.0;
        if wake.state == "leased" && wake.lease_until.is_none_or(|until| until <= now) {
            return Ok(Err(format!(
                "a sweep left part {part}'s wake in a lease that ended"
            )));
        }
        let typed = wake.state == "presented" || wake.state == "unconfirmed";
        let step = RUNGS[wake.rung.clamp(1, 4) as usize - 1];
        if typed && !wake.held && wake.nudged_at.is_none_or(|at| now >= at + step) {
            return Ok(Err(format!(
                "a sweep left part {part} on rung {} though what follows is due",
                wake.rung
            )));
        }
    }
    Ok(Ok(()))
}
