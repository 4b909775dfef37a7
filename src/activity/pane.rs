//! What the pager that serves a part last said: that it lives, and what the part's pane looked like (pager.md 2).

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use rusqlite::named_params;

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
    /// Socket of the tmux server.
    pub socket: &'a str,
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
    /// Its version.
    pub cli_version: Option<String>,
    /// Socket of the tmux server, where the pager named it.
    pub socket: String,
    /// `%3`, while it has one.
    pub id: Option<String>,
    /// Verdict, such as `ready` or `dialog`.
    pub state: String,
    /// Detail of the verdict.
    pub detail: Option<String>,
    /// Since when it holds.
    pub since: Option<Time>,
    /// Verdict of the screen alone, and since when it holds unbroken.
    pub screen: Option<(String, Time)>,
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
    // A pager's clock may be ahead of ours.
    let screen = seen.look.filter(|look| !look.screen.is_empty());
    let screen = screen.map(|look| {
        let since = Time::parse(&look.screen_since).map_or(now, |since| since.min(now));
        (look.screen.clone(), since)
    });
    let before = of(tx, part)?;
    let same = before.as_ref().is_some_and(|pane| {
        pane.pager == seen.pager
            && pane.state == state
            && pane.detail.as_deref() == detail
            && pane.cli.as_deref() == seen.cli
            && pane.screen == screen
            && pane.id.as_deref() == seen.look.map(|look| look.id.as_str())
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
                           detail, since, evidence, socket, screen, screen_since)
         VALUES (:part, :pager, :machine, :version, :tmux, :now, :agent_at, :cli, :cli_version, :pane, :state,
                 :detail, :since, :evidence, :socket, :screen, :screen_since)
         ON CONFLICT (part) DO UPDATE SET
           pager = excluded.pager, machine = excluded.machine, version = excluded.version, tmux = excluded.tmux,
           heard_at = excluded.heard_at, agent_at = excluded.agent_at, cli = excluded.cli,
           cli_version = excluded.cli_version, pane = excluded.pane, state = excluded.state,
           detail = excluded.detail, since = excluded.since, evidence = excluded.evidence,
           socket = excluded.socket, screen = excluded.screen, screen_since = excluded.screen_since",
    )?
    .execute(named_params! {
        ":part": part,
        ":pager": seen.pager,
        ":machine": seen.machine,
        ":version": seen.version,
        ":tmux": seen.tmux,
        ":now": now,
        ":agent_at": seen.look.filter(|look| look.agent).map(|_| now),
        ":cli": seen.cli,
        ":cli_version": seen.cli_version,
        ":pane": seen.look.map(|look| look.id.as_str()),
        ":state": state,
        ":detail": detail,
        ":since": seen.look.and_then(|look| Time::parse(&look.since)),
        ":evidence": seen.look.map(|look| look.evidence.as_str()),
        ":socket": seen.socket,
        ":screen": screen.as_ref().map(|(word, _)| word.as_str()),
        ":screen_since": screen.as_ref().map(|(_, since)| *since),
    })?;
    Ok(!same)
}

/// The last report on a part's pane.
///
/// # Errors
/// A fault of the store.
pub fn of(connection: &Connection, part: PartSeq) -> Outcome<Option<Pane>> {
    let mut statement = connection.prepare_cached(
        "SELECT pager, machine, heard_at, agent_at, cli, state, detail, since, socket, pane, screen, screen_since,
           cli_version FROM pane WHERE part = ?1",
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
                socket: row.get(8)?,
                id: row.get(9)?,
                screen: row
                    .get::<_, Option<String>>(10)?
                    .zip(row.get::<_, Option<Time>>(11)?),
                cli_version: row.get(12)?,
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

/// Whether a hook that ran in that tmux server and pane ran in the joined pane, which its pager serves (usage.md 7). Where either side
/// does not name one, nothing speaks against it.
pub(super) fn is_joined(
    joined: Option<&Pane>,
    tmux: Option<&str>,
    pane: Option<&str>,
    now: Time,
) -> bool {
    let heard = joined.filter(|joined| now.since(joined.heard_at) <= PAGER_SILENT_MS);
    let (Some(joined), Some(pane)) = (heard, pane) else {
        return true;
    };
    let Some(id) = &joined.id else {
        return true;
    };
    let same_server = tmux.is_none_or(|tmux| {
        joined.socket.is_empty() || socket_name(tmux) == socket_name(&joined.socket)
    });
    id == pane && same_server
}

/// The last two steps of a socket's path: the folders above them have several spellings.
fn socket_name(path: &str) -> (&str, &str) {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    (folder.rsplit('/').next().unwrap_or_default(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_pane_is_foreign() {
        let joined = Pane {
            pager: "p".into(),
            machine: "vm".into(),
            heard_at: Time(100_000),
            agent_at: None,
            cli: None,
            cli_version: None,
            socket: "/tmp/tmux-1000/default".into(),
            id: Some("%3".into()),
            state: "ready".into(),
            detail: None,
            since: None,
            screen: None,
        };
        for (tmux, pane, now, expected) in [
            (Some("/tmp/tmux-1000/default"), Some("%3"), 100_000, true),
            (
                Some("/private/tmp/tmux-1000/default"),
                Some("%3"),
                100_000,
                true,
            ),
            (Some("/tmp/tmux-1000/other"), Some("%3"), 100_000, false),
            (Some("/tmp/tmux-1000/default"), Some("%4"), 100_000, false),
            (None, Some("%4"), 100_000, false),
            (None, None, 100_000, true),
            (None, Some("%4"), 190_001, true),
        ] {
            let found = is_joined(Some(&joined), tmux, pane, Time(now));
            assert_eq!(found, expected, "{tmux:?} {pane:?} {now}");
        }
        assert!(is_joined(None, None, Some("%4"), Time(0)));
    }
}
