//! What the pager that serves a part last said: that it lives, and what the part's pane looked like (pager.md 2).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::api::PaneLook;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// A pager not heard for this long is missing, in milliseconds (wake.md 8).
pub const PAGER_SILENT_MS: i64 = 90_000;

/// A beat of an unchanged pane is written at most this often, in milliseconds.
const BEAT_MS: i64 = 15_000;

/// What a poll says of itself and of one pane.
#[derive(Debug, Clone)]
pub struct PagerLook<'a> {
    /// The pager's hash.
    pub pager: &'a str,
    /// Its machine.
    pub machine: &'a str,
    /// Its version.
    pub version: &'a str,
    /// tmux's version.
    pub tmux: &'a str,
    /// The agent CLI and its version, where known.
    pub cli: Option<&'a str>,
    /// Version of that CLI.
    pub cli_version: Option<&'a str>,
    /// The pane; `None` while none was found.
    pub look: Option<&'a PaneLook>,
}

/// The last report on a part's pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    /// The pager's hash.
    pub pager: String,
    /// Its machine.
    pub machine: String,
    /// When that pager last polled.
    pub heard_at: Time,
    /// When it last saw the agent's process.
    pub agent_at: Option<Time>,
    /// The agent CLI.
    pub cli: Option<String>,
    /// Verdict, such as `ready` or `dialog`.
    pub state: String,
    /// Detail of the verdict.
    pub detail: Option<String>,
    /// Since when it holds.
    pub since: Option<Time>,
}

/// Writes down a poll's look at a part's pane; returns whether anything but the time changed.
///
/// # Errors
/// A fault of the store.
pub fn observe(tx: &Tx<'_>, part: PartSeq, seen: &PagerLook<'_>, now: Time) -> Outcome<bool> {
    let state = seen.look.map_or("no_pane", |look| look.state.as_str());
    let detail = seen
        .look
        .map(|look| look.detail.as_str())
        .filter(|detail| !detail.is_empty());
    let before = of(tx, part)?;
    let same = before.as_ref().is_some_and(|pane| {
        pane.pager == seen.pager
            && pane.state == state
            && pane.detail.as_deref() == detail
            && pane.cli.as_deref() == seen.cli
            && pane.agent_at.is_some() == seen.look.is_some_and(|look| look.agent)
    });
    if same
        && before
            .as_ref()
            .is_some_and(|pane| now.since(pane.heard_at) < BEAT_MS)
    {
        return Ok(false);
    }
    tx.prepare_cached(
        "INSERT INTO pane (part, pager, machine, version, tmux, heard_at, agent_at, cli, cli_version, pane, state,
                           detail, since, evidence)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (part) DO UPDATE SET
           pager = excluded.pager, machine = excluded.machine, version = excluded.version, tmux = excluded.tmux,
           heard_at = excluded.heard_at, agent_at = excluded.agent_at, cli = excluded.cli,
           cli_version = excluded.cli_version, pane = excluded.pane, state = excluded.state,
           detail = excluded.detail, since = excluded.since, evidence = excluded.evidence",
    )?
    .execute((
        part,
        seen.pager,
        seen.machine,
        seen.version,
        seen.tmux,
        now,
        seen.look.filter(|look| look.agent).map(|_| now),
        seen.cli,
        seen.cli_version,
        seen.look.map(|look| look.id.as_str()),
        state,
        detail,
        seen.look.and_then(|look| Time::parse(&look.since)),
        seen.look.map(|look| look.evidence.as_str()),
    ))?;
    Ok(!same)
}

/// The last report on a part's pane.
///
/// # Errors
/// A fault of the store.
pub fn of(connection: &Connection, part: PartSeq) -> Outcome<Option<Pane>> {
    let mut statement = connection.prepare_cached(
        "SELECT pager, machine, heard_at, agent_at, cli, state, detail, since FROM pane WHERE part = ?1",
    )?;
    let found = statement
        .query_row([part], |row| {
            Ok(Pane {
                pager: row.get(0)?,
                machine: row.get(1)?,
                heard_at: row.get(2)?,
                agent_at: row.get(3)?,
                cli: row.get(4)?,
                state: row.get(5)?,
                detail: row.get(6)?,
                since: row.get(7)?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Whether no pager polled for the part within the last 90 s.
///
/// # Errors
/// A fault of the store.
pub fn pager_silent(connection: &Connection, part: PartSeq, now: Time) -> Outcome<bool> {
    Ok(of(connection, part)?.is_none_or(|pane| now.since(pane.heard_at) > PAGER_SILENT_MS))
}
