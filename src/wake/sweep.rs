//! Looking at every part that may be due (wake.md 4). Who that is, is read from indexes: a relay with thousands of quiet parts sweeps
//! as fast as one without.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::Params;

use super::consider;
use super::remind;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::UserSeq;

/// Reports are remembered this long: a pager repeats one until it is answered, and a wake this old is over.
const REPORTS: Duration = Duration::from_secs(24 * 60 * 60);

/// Considers every part that may be due; run every 30 s and once at start.
///
/// # Errors
/// A fault of the store.
pub fn sweep(tx: &Tx<'_>, now: Time) -> Outcome<()> {
    tx.prepare_cached("UPDATE recipient SET later = 0 WHERE later = 1")?
        .execute([])?;
    tx.prepare_cached("DELETE FROM report WHERE at <= ?1")?
        .execute([now - REPORTS])?;
    let mut rest = BTreeSet::new();
    rest.extend(parts(tx, OPEN, [])?);
    rest.extend(parts(tx, HELD, [])?);
    rest.extend(remind::parts(tx, now)?);
    in_turn(tx, parts(tx, NEW, [])?, rest, now)
}

/// Considers the parts of a person, after a change of budget, or a ban or its end.
///
/// # Errors
/// A fault of the store.
pub fn consider_owner(tx: &Tx<'_>, owner: UserSeq, now: Time) -> Outcome<()> {
    let all = parts(tx, "SELECT seq FROM part WHERE owner = ?1", [owner])?;
    some(tx, all, now)
}

/// Considers the parts of a project, after it was archived or taken back, or a member banned.
///
/// # Errors
/// A fault of the store.
pub fn consider_project(tx: &Tx<'_>, project: ProjectSeq, now: Time) -> Outcome<()> {
    let all = parts(tx, "SELECT seq FROM part WHERE project = ?1", [project])?;
    some(tx, all, now)
}

pub(super) const OPEN: &str = "SELECT part FROM wake WHERE ended_at IS NULL";

pub(super) const HELD: &str = "SELECT part FROM hold WHERE ended_at IS NULL";

/// Parts with new mail, the one whose oldest is oldest first.
pub(super) const NEW: &str = "SELECT part FROM recipient
      WHERE live = 1 AND read_at IS NULL AND fyi = 0 AND seen_at IS NULL AND nudged_by IS NULL AND part IS NOT NULL
      GROUP BY part ORDER BY min(message)";

pub(super) const OLDEST_NEW: &str = "SELECT min(message) FROM recipient
      WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0 AND seen_at IS NULL AND nudged_by IS NULL";

fn parts(connection: &Connection, sql: &str, of: impl Params) -> Outcome<Vec<PartSeq>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(of, |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Considers these parts, those with new mail first and in its order.
fn some(tx: &Tx<'_>, all: Vec<PartSeq>, now: Time) -> Outcome<()> {
    let mut new = Vec::new();
    for part in &all {
        let oldest: Option<i64> = tx
            .prepare_cached(OLDEST_NEW)?
            .query_row([part], |row| row.get(0))?;
        new.extend(oldest.map(|oldest| (oldest, *part)));
    }
    new.sort_unstable();
    let new = new.into_iter().map(|(_, part)| part).collect();
    in_turn(tx, new, all.into_iter().collect(), now)
}

fn in_turn(tx: &Tx<'_>, new: Vec<PartSeq>, mut rest: BTreeSet<PartSeq>, now: Time) -> Outcome<()> {
    for part in new {
        rest.remove(&part);
        consider::consider(tx, part, now)?;
    }
    for part in rest {
        consider::consider(tx, part, now)?;
    }
    Ok(())
}
