//! What holds at any time, whatever just happened.

use relayroom::store::Outcome;
use relayroom::store::PartSeq;
use rusqlite::Connection;

use crate::relay::Checked;
use crate::world::World;

/// Rows of wakes and holds that must not be; `?1` is now. Each is a claim and the query that finds a part against it.
const NEVER: &[(&str, &str)] = &[
    (
        "a part has two open wakes",
        "SELECT part FROM wake WHERE ended_at IS NULL AND ?1 > 0 GROUP BY part HAVING count(*) > 1",
    ),
    (
        "an open wake has no loud mail in a live thread",
        "SELECT w.part FROM wake AS w WHERE w.ended_at IS NULL AND ?1 > 0 AND NOT EXISTS (
           SELECT 1 FROM recipient AS r JOIN message AS m ON m.seq = r.message JOIN thread AS t ON t.seq = m.thread
            WHERE r.part = w.part AND r.read_at IS NULL AND m.fyi = 0 AND t.status NOT IN ('closed', 'canceled'))",
    ),
    (
        "a hold lasts without loud mail",
        "SELECT h.part FROM hold AS h WHERE h.ended_at IS NULL AND ?1 > 0 AND NOT EXISTS (
           SELECT 1 FROM recipient AS r WHERE r.part = h.part AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0)",
    ),
    (
        "a part has two open holds",
        "SELECT part FROM hold WHERE ended_at IS NULL AND ?1 > 0 GROUP BY part HAVING count(*) > 1",
    ),
    (
        "a lease lasts longer than twice its length",
        "SELECT part FROM wake WHERE ended_at IS NULL AND lease_until > ?1 + 90000",
    ),
    (
        "a park lasts longer than twice its length",
        "SELECT seq FROM part WHERE limited_until > ?1 + 172800000",
    ),
    (
        "a brake holds longer than twice its longest",
        "SELECT low FROM brake WHERE until > ?1 + 3600000",
    ),
    (
        "a fifth line was typed for a wake",
        "SELECT part FROM nudge WHERE rung > 4 AND ?1 > 0",
    ),
];

/// Each part, whether it has new mail with neither a wake nor a hold, and whether it has a wake or a hold.
const PARTS_BUSY: &str = "SELECT seq, new AND NOT busy, busy FROM (
         SELECT p.seq,
                EXISTS (SELECT 1 FROM recipient AS r JOIN message AS m ON m.seq = r.message JOIN thread AS t ON t.seq = m.thread
                         WHERE r.part = p.seq AND r.read_at IS NULL AND r.seen_at IS NULL AND r.nudged_by IS NULL AND m.fyi = 0
                           AND t.status NOT IN ('closed', 'canceled')) AS new,
                EXISTS (SELECT 1 FROM wake WHERE part = p.seq AND ended_at IS NULL)
                OR EXISTS (SELECT 1 FROM hold WHERE part = p.seq AND ended_at IS NULL) AS busy
           FROM part AS p)";

/// What is wrong, if anything.
pub fn check(connection: &Connection, world: &World) -> Outcome<Checked> {
    let now = world.relay.now();
    for (claim, sql) in NEVER {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([now])?;
        if let Some(row) = rows.next()? {
            let part: PartSeq = row.get(0)?;
            return Ok(Err(format!("{claim}: part {}", part.0)));
        }
    }
    let mut statement = connection.prepare_cached(PARTS_BUSY)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let seq: PartSeq = row.get(0)?;
        let (forgotten, busy): (bool, bool) = (row.get(1)?, row.get(2)?);
        let seats = &world.relay.house.parts;
        let Some(part) = seats.iter().position(|seat| seat.seq == seq) else {
            continue;
        };
        let name = seats[part].name;
        match world.is_live(part) {
            true if forgotten => {
                return Ok(Err(format!(
                    "new mail has neither a wake nor a hold: {name}"
                )));
            }
            false if busy => {
                return Ok(Err(format!(
                    "a part that must not be woken has a wake or a hold: {name}"
                )));
            }
            _ => {}
        }
    }
    let stored: u32 = connection
        .prepare_cached("SELECT count(*) FROM message")?
        .query_row([], |row| row.get(0))?;
    if stored as usize != world.accepted.len() {
        return Ok(Err(format!(
            "{} messages were accepted, {stored} are stored",
            world.accepted.len()
        )));
    }
    Ok(Ok(()))
}
