//! What a hook reported and the screen has long overtaken: an agent CLI does not tell every end (pager.md 2).

use rusqlite::Connection;

use super::complete;
use super::row;
use super::session;
use super::session::Session;
use super::state;
use super::state::Effect;
use super::state::Screen;
use super::tell;
use super::view::active;
use crate::activity::Ending;
use crate::activity::pane;
use crate::identity::part;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

fn screen(connection: &Connection, part: PartSeq, now: Time) -> Outcome<Option<Screen>> {
    let pane = pane::of(connection, part)?;
    let heard = pane.filter(|pane| now.since(pane.heard_at) <= pane::PAGER_SILENT_MS);
    Ok(heard
        .and_then(|pane| pane.screen)
        .map(|(word, since)| Screen { word, since }))
}

/// Lets go of what a hook reported and the screen has long overtaken (pager.md 2); whether anything was. Call it when a pager has
/// looked, and at the time [`next_look`] says.
///
/// # Errors
/// A fault of the store.
pub fn look(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<bool> {
    let Some(screen) = screen(tx, part, now)? else {
        return Ok(false);
    };
    let mut changed = false;
    for one in active(tx, part)? {
        let of = Session {
            part,
            provider: &one.provider,
            name: &one.session,
        };
        let mut standing = session::standing(tx, &of)?;
        match state::effect(&one, &screen, now) {
            Effect::None | Effect::Later(_) => continue,
            Effect::DialogGone => {}
            Effect::Lost(since) => {
                let at = one.began.map_or(since, |began| since.max(began));
                if let Some(turn) = one.turn
                    && row::end(tx, turn, at, Ending::Lost)?
                {
                    complete::settle(tx, turn, now)?;
                }
                standing.open_turn = None;
            }
        }
        standing.blocked_at = None;
        standing.idle_at = match standing.open_turn {
            Some(_) => standing.idle_at,
            None => standing.idle_at.max(Some(screen.since)),
        };
        session::stand(tx, &of, &standing)?;
        changed = true;
    }
    if changed {
        tell(tx, &part::get(tx, part)?);
    }
    Ok(changed)
}

/// When [`look`] would do something if the screen stays as it is; `None` if nothing.
///
/// # Errors
/// A fault of the store.
pub fn next_look(connection: &Connection, part: PartSeq, now: Time) -> Outcome<Option<Time>> {
    let active = active(connection, part)?;
    if active.is_empty() {
        return Ok(None);
    }
    let Some(screen) = screen(connection, part, now)? else {
        return Ok(None);
    };
    let effects = active.iter().map(|one| state::effect(one, &screen, now));
    Ok(effects
        .filter_map(|effect| match effect {
            Effect::Later(at) => Some(at),
            Effect::DialogGone | Effect::Lost(_) => Some(now),
            Effect::None => None,
        })
        .min())
}

pub(in crate::activity) const SWEPT: &str =
    "SELECT DISTINCT part FROM session WHERE open_turn IS NOT NULL OR blocked_at IS NOT NULL";

/// [`look`] for every part that is busy or blocked; those for which anything changed.
///
/// # Errors
/// A fault of the store.
pub fn sweep(tx: &Tx<'_>, now: Time) -> Outcome<Vec<PartSeq>> {
    let mut statement = tx.prepare_cached(SWEPT)?;
    let parts = statement.query_map([], |row| row.get(0))?;
    let parts: Vec<PartSeq> = parts.collect::<rusqlite::Result<_>>()?;
    let mut changed = Vec::new();
    for part in parts {
        if look(tx, part, now)? {
            changed.push(part);
        }
    }
    Ok(changed)
}
