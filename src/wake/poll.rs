//! What a pager's poll is answered (wake.md 8; pager.md 2).
//!
//! The edge calls [`claim`] once when a poll comes (it is the heartbeat, and leases what is to be typed), and answers at once if
//! [`rev`] of all entries differs from the poll's `seen` or nothing may be waited for. Else it waits for signals with one of the parts set,
//! calls [`view`] on each, which only reads, and when that `rev` differs calls [`claim`] again and answers. At the end of the wait it
//! answers [`view`]. A poll with `"claim":false` uses [`look`] alone.

use rusqlite::Connection;
use sha2::Digest;
use sha2::Sha256;

use super::consider;
use super::facts::Facts;
use super::handout;
use super::handout::Handout;
use super::hold;
use super::row;
use super::row::Wake;
use crate::activity::pane;
use crate::activity::turn;
use crate::api::PollPart;
use crate::api::PollPartAnswer;
use crate::api::PollRequest;
use crate::api::WakeOffer;
use crate::api::line;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

pub use super::lease::holder;

/// A part the poll names and the pager may have.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// The part.
    pub part: PartSeq,
    /// Its entry in the poll.
    pub asked: &'a PollPart,
}

/// Notes the heartbeat and the looks of `poll`, considers the parts of `served`, leases what may be typed for them, and answers one
/// entry per part, in order. A part whose wake another pager holds is left alone.
///
/// # Errors
/// A fault of the store.
pub fn claim(
    tx: &Tx<'_>,
    poll: &PollRequest,
    served: &[Served<'_>],
    now: Time,
) -> Outcome<Vec<PollPartAnswer>> {
    for seat in served {
        let holder = holder(&poll.pager, &seat.asked.part);
        if let Handout::Held { .. } = handout::of(tx, seat.part, &holder, now)? {
            continue;
        }
        observe(tx, poll, seat, now)?;
        consider::consider(tx, seat.part, now)?;
        if let Handout::Offered(wake) = handout::of(tx, seat.part, &holder, now)? {
            let facts = Facts::of(tx, seat.part, now)?;
            row::lease(tx, &facts, &wake, &holder, Some(&poll.machine), now)?;
        }
    }
    view(tx, &poll.pager, served, now)
}

fn observe(tx: &Tx<'_>, poll: &PollRequest, seat: &Served<'_>, now: Time) -> Outcome<()> {
    let look = pane::PagerLook {
        pager: &poll.pager,
        machine: &poll.machine,
        version: &poll.version,
        tmux: &poll.tmux,
        socket: &poll.socket,
        cli: seat.asked.cli.as_deref(),
        cli_version: seat.asked.cli_version.as_deref(),
        look: seat.asked.pane.as_ref(),
    };
    pane::observe(tx, seat.part, &look, now)?;
    turn::look(tx, seat.part, now).map(|_| ())
}

/// The same entries without lease or heartbeat: a wake that could be claimed is shown with `lease_ms` 0.
///
/// # Errors
/// A fault of the store.
pub fn view(
    connection: &Connection,
    pager: &str,
    served: &[Served<'_>],
    now: Time,
) -> Outcome<Vec<PollPartAnswer>> {
    served
        .iter()
        .map(|seat| entry(connection, pager, *seat, now))
        .collect()
}

/// [`view`] for one who only looks: with where each part's hook reported from. No waiting poll carries that, or each report would end it.
///
/// # Errors
/// A fault of the store.
pub fn look(
    connection: &Connection,
    pager: &str,
    served: &[Served<'_>],
    now: Time,
) -> Outcome<Vec<PollPartAnswer>> {
    let mut entries = view(connection, pager, served, now)?;
    for (entry, seat) in entries.iter_mut().zip(served) {
        entry.hook = turn::hook_seen(connection, seat.part)?;
    }
    Ok(entries)
}

pub(super) const PART: &str = "SELECT (SELECT count(*) FROM recipient WHERE part = p.seq AND live = 1 AND read_at IS NULL), colour
       FROM part AS p WHERE seq = ?1";

fn entry(
    connection: &Connection,
    pager: &str,
    Served { part, asked }: Served<'_>,
    now: Time,
) -> Outcome<PollPartAnswer> {
    let blank = PollPartAnswer {
        code: asked.code.clone(),
        part: asked.part.clone(),
        ..PollPartAnswer::default()
    };
    let wake = match handout::of(connection, part, &holder(pager, &asked.part), now)? {
        Handout::Held { machine } => {
            return Ok(PollPartAnswer {
                error: Some("held".into()),
                machine,
                ..blank
            });
        }
        Handout::Offered(wake) => Some(offer(&wake, now)),
        Handout::Nothing => None,
    };
    let (unread, colour) = connection
        .prepare_cached(PART)?
        .query_row([part], |row| Ok((row.get::<_, u32>(0)?, row.get(1)?)))?;
    Ok(PollPartAnswer {
        unread: unread.into(),
        colour,
        hold: hold::reason(connection, part)?.map(|reason| reason.as_str().to_owned()),
        turn: turn::of(connection, part)?,
        open: row::is_open(connection, part)?,
        wake,
        ..blank
    })
}

fn offer(wake: &Wake, now: Time) -> WakeOffer {
    let left = wake.lease_until.map_or(0, |until| until.since(now));
    WakeOffer {
        wake_id: wake.id.clone(),
        tag: wake.tag.clone(),
        nudge: wake.rung,
        line: line::of(&wake.tag),
        lease_ms: left.unsigned_abs(),
    }
}

/// Names the state that `entries` (all of an answer's, refused ones too) describe: what `seen` is compared with. The age of a lease is
/// no part of it.
#[must_use]
pub fn rev(entries: &[PollPartAnswer]) -> String {
    let mut hash = Sha256::new();
    for entry in entries {
        let mut entry = entry.clone();
        if let Some(wake) = &mut entry.wake {
            wake.lease_ms = 0;
        }
        hash.update(serde_json::to_vec(&entry).unwrap_or_default());
    }
    hash.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rev_follows_the_state_and_not_the_age_of_a_lease() {
        let wake = |nudge, lease_ms| PollPartAnswer {
            wake: Some(WakeOffer {
                wake_id: "w".into(),
                tag: "kqmwvz".into(),
                nudge,
                line: line::of("kqmwvz"),
                lease_ms,
            }),
            ..PollPartAnswer::default()
        };
        assert_eq!(rev(&[wake(1, 45_000)]), rev(&[wake(1, 3)]));
        assert_ne!(rev(&[wake(1, 45_000)]), rev(&[wake(2, 45_000)]));
        assert_ne!(rev(&[PollPartAnswer::default()]), rev(&[]));
    }
}
