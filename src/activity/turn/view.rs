//! What a part is doing, by what its hook reported.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::state;
use super::state::Active;
use crate::api::HookSeen;
use crate::api::TurnView;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

pub(in crate::activity) const ACTIVE: &str = "SELECT s.provider, s.session, s.open_turn, t.started_at, w.tag, s.blocked_at, s.heard_at
       FROM session AS s LEFT JOIN turn AS t ON t.seq = s.open_turn LEFT JOIN wake AS w ON w.seq = t.wake
      WHERE s.part = ?1 AND (s.open_turn IS NOT NULL OR s.blocked_at IS NOT NULL)";

pub(in crate::activity) const IDLE: &str =
    "SELECT max(idle_at) FROM session WHERE part = ?1 AND idle_at IS NOT NULL";

pub(super) fn active(connection: &Connection, part: PartSeq) -> Outcome<Vec<Active>> {
    let mut statement = connection.prepare_cached(ACTIVE)?;
    let rows = statement.query_map([part], |row| {
        Ok(Active {
            provider: row.get(0)?,
            session: row.get(1)?,
            turn: row.get(2)?,
            began: row.get(3)?,
            tag: row.get(4)?,
            blocked_at: row.get(5)?,
            heard_at: row.get(6)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The part's turn as its hook reports it: `none` without any report.
///
/// # Errors
/// A fault of the store.
pub fn of(connection: &Connection, part: PartSeq) -> Outcome<TurnView> {
    let active = active(connection, part)?;
    let idle_at = connection
        .prepare_cached(IDLE)?
        .query_row([part], |row| row.get(0))?;
    Ok(state::view(&active, idle_at))
}

/// Since when the part has a turn that is known to be running, blocked or not.
///
/// # Errors
/// A fault of the store.
pub fn running_since(connection: &Connection, part: PartSeq) -> Outcome<Option<Time>> {
    let active = active(connection, part)?;
    Ok(active
        .iter()
        .filter_map(|one| one.began.or(one.blocked_at))
        .min())
}

pub(in crate::activity) const FROM: &str =
    "SELECT heard_at, tmux, pane FROM session WHERE part = ?1 ORDER BY heard_at DESC LIMIT 1";

/// The last report of the part's hook, and where that hook ran.
///
/// # Errors
/// A fault of the store.
pub fn hook_seen(connection: &Connection, part: PartSeq) -> Outcome<Option<HookSeen>> {
    let seen = connection
        .prepare_cached(FROM)?
        .query_row([part], |row| {
            Ok(HookSeen {
                at: row.get::<_, Time>(0)?.rfc3339(),
                tmux: row.get(1)?,
                pane: row.get(2)?,
            })
        })
        .optional()?;
    Ok(seen)
}

pub(in crate::activity) const HEARD: &str = "SELECT max(heard_at) FROM session WHERE part = ?1";

/// When a report of the part's hook last came, old ones from a spool too.
///
/// # Errors
/// A fault of the store.
pub fn heard(connection: &Connection, part: PartSeq) -> Outcome<Option<Time>> {
    let mut statement = connection.prepare_cached(HEARD)?;
    Ok(statement.query_row([part], |row| row.get(0))?)
}

pub(in crate::activity) const TOLD: &str =
    "SELECT max(told_at) FROM session WHERE part = ?1 AND told_at IS NOT NULL";

/// When the part's hook last said anything of the present: then the agent was there.
///
/// # Errors
/// A fault of the store.
pub fn told_at(connection: &Connection, part: PartSeq) -> Outcome<Option<Time>> {
    let mut statement = connection.prepare_cached(TOLD)?;
    Ok(statement.query_row([part], |row| row.get(0))?)
}
