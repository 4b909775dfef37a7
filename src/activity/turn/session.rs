//! The rows of sessions: which of its turns a part is busy with, by its own reports.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::row;
use super::rule::Prompt;
use super::rule::Queued;
use super::rule::Turn;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::TurnSeq;
use crate::store::Tx;

/// Names a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Session<'a> {
    /// Whose.
    pub part: PartSeq,
    /// The agent CLI's name.
    pub provider: &'a str,
    /// The CLI's id of it.
    pub name: &'a str,
}

/// Where a hook ran, where it said so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// Socket of the tmux server.
    pub tmux: Option<&'a str>,
    /// `%3`.
    pub pane: Option<&'a str>,
}

/// What a session counts for in its part's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub told_at: Option<Time>,
    pub open_turn: Option<TurnSeq>,
    pub blocked_at: Option<Time>,
    pub idle_at: Option<Time>,
    pub queued: Option<Queued>,
}

/// Notes that a report of the session came.
pub(super) fn hear(
    tx: &Tx<'_>,
    of: &Session<'_>,
    place: Place<'_>,
    version: Option<&str>,
    now: Time,
) -> Outcome<()> {
    tx.prepare_cached(
        "INSERT INTO session (part, provider, session, tmux, pane, version, heard_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (part, provider, session) DO UPDATE SET
           tmux = coalesce(excluded.tmux, tmux), pane = coalesce(excluded.pane, pane),
           version = coalesce(excluded.version, version), heard_at = max(excluded.heard_at, heard_at)",
    )?
    .execute((
        of.part,
        of.provider,
        of.name,
        place.tmux,
        place.pane,
        version,
        now,
    ))?;
    Ok(())
}

/// How the session stands.
pub(super) fn standing(connection: &Connection, of: &Session<'_>) -> Outcome<Standing> {
    let mut statement = connection.prepare_cached(
        "SELECT told_at, open_turn, blocked_at, idle_at, queued_at, queued_cause, queued_wake FROM session
          WHERE part = ?1 AND provider = ?2 AND session = ?3",
    )?;
    let found = statement.query_row((of.part, of.provider, of.name), |row| {
        let queued_at: Option<Time> = row.get(4)?;
        let prompt = match row.get(5)? {
            Some(cause) => Some(Prompt {
                cause,
                wake: row.get(6)?,
            }),
            None => None,
        };
        Ok(Standing {
            told_at: row.get(0)?,
            open_turn: row.get(1)?,
            blocked_at: row.get(2)?,
            idle_at: row.get(3)?,
            queued: queued_at
                .zip(prompt)
                .map(|(at, prompt)| Queued { at, prompt }),
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

/// Writes how the session stands.
pub(super) fn stand(tx: &Tx<'_>, of: &Session<'_>, standing: &Standing) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE session SET told_at = ?4, open_turn = ?5, blocked_at = ?6, idle_at = ?7,
                            queued_at = ?8, queued_cause = ?9, queued_wake = ?10
          WHERE part = ?1 AND provider = ?2 AND session = ?3",
    )?
    .execute((
        of.part,
        of.provider,
        of.name,
        standing.told_at,
        standing.open_turn,
        standing.blocked_at,
        standing.idle_at,
        standing.queued.map(|queued| queued.at),
        standing.queued.map(|queued| queued.prompt.cause),
        standing.queued.and_then(|queued| queued.prompt.wake),
    ))?;
    Ok(())
}

pub(in crate::activity) const BESIDE: &str = "SELECT session FROM session INDEXED BY session_active
      WHERE part = ?1 AND provider = ?2 AND session <> ?3 AND tmux IS ?4 AND pane IS ?5
        AND (open_turn IS NOT NULL OR blocked_at IS NOT NULL)";

/// Open turns of the other sessions that ran where this one does: one pane holds one agent. Their dialogs are gone with them.
pub(super) fn open_beside(tx: &Tx<'_>, of: &Session<'_>, place: Place<'_>) -> Outcome<Vec<Turn>> {
    let mut statement = tx.prepare_cached(BESIDE)?;
    let names = statement.query_map(
        (of.part, of.provider, of.name, place.tmux, place.pane),
        |row| row.get::<_, String>(0),
    )?;
    let mut open = Vec::new();
    for name in names {
        let name = name?;
        let other = Session { name: &name, ..*of };
        open.extend(row::open(tx, &other)?);
        tx.prepare_cached(
            "UPDATE session SET blocked_at = NULL WHERE part = ?1 AND provider = ?2 AND session = ?3",
        )?
        .execute((other.part, other.provider, other.name))?;
    }
    Ok(open)
}

pub(in crate::activity) const LET_GO: &str =
    "UPDATE session INDEXED BY session_active SET open_turn = NULL, idle_at = max(coalesce(idle_at, 0), ?3)
      WHERE part = ?1 AND open_turn = ?2 AND (open_turn IS NOT NULL OR blocked_at IS NOT NULL)";

/// A turn has ended: whichever session was busy with it is not any more.
pub(super) fn let_go(tx: &Tx<'_>, part: PartSeq, turn: TurnSeq, at: Time) -> Outcome<()> {
    tx.prepare_cached(LET_GO)?.execute((part, turn, at))?;
    Ok(())
}
