//! What a pager's poll is answered (wake.md 8; pager.md 2).
//!
//! The edge calls [`claim`] once when a poll comes (it is the heartbeat, and leases what is to be typed), and answers at once if
//! [`rev`] of all entries differs from the poll's `seen` or nothing may be waited for. Else it waits for signals with one of the parts set,
//! calls [`view`] on each, which only reads, and when that `rev` differs calls [`claim`] again and answers. At the end of the wait it
//! answers [`view`]. A poll with `"claim":false` uses [`view`] alone.

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use sha2::Digest;
use sha2::Sha256;

use super::consider::tell;
use super::line;
use crate::activity::pane;
use crate::api::PollPart;
use crate::api::PollPartAnswer;
use crate::api::PollRequest;
use crate::api::TurnView;
use crate::api::WakeOffer;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// Length of a lease in milliseconds.
pub const LEASE_MS: i64 = 45_000;

/// A part the poll names and the pager may have.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// The part.
    pub part: PartSeq,
    /// Its entry in the poll.
    pub asked: &'a PollPart,
}

/// Who holds a wake: `<pager>:<part>`.
#[must_use]
pub fn holder(pager: &str, part: &str) -> String {
    format!("{pager}:{part}")
}

/// Notes the heartbeat and the looks of `poll`, leases the wakes of `served` that may be typed, and answers one entry per part, in order.
///
/// # Errors
/// A fault of the store.
pub fn claim(
    tx: &Tx<'_>,
    poll: &PollRequest,
    served: &[Served<'_>],
    now: Time,
) -> Outcome<Vec<PollPartAnswer>> {
    for Served { part, asked } in served {
        pane::observe(
            tx,
            *part,
            &pane::PagerLook {
                pager: &poll.pager,
                machine: &poll.machine,
                version: &poll.version,
                tmux: &poll.tmux,
                cli: asked.cli.as_deref(),
                cli_version: asked.cli_version.as_deref(),
                look: asked.pane.as_ref(),
            },
            now,
        )?;
        let leased = tx.execute(
            "UPDATE wake SET state = 'leased', holder = ?2, leased_at = ?3, lease_until = ?4
              WHERE part = ?1 AND state IN ('waiting', 'leased')
                AND (holder = ?2 OR lease_until IS NULL OR lease_until <= ?3)",
            (
                part,
                holder(&poll.pager, &asked.part),
                now,
                now.0 + LEASE_MS,
            ),
        )?;
        if leased > 0 {
            tell(tx, *part)?;
        }
    }
    view(tx, &poll.pager, served, now)
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

fn entry(
    connection: &Connection,
    pager: &str,
    Served { part, asked }: Served<'_>,
    now: Time,
) -> Outcome<PollPartAnswer> {
    let (unread, colour) = connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM recipient WHERE part = p.seq AND live = 1 AND read_at IS NULL), colour
               FROM part AS p WHERE seq = ?1",
        )?
        .query_row([part], |row| Ok((row.get::<_, u32>(0)?.into(), row.get(1)?)))?;
    let offer = connection
        .prepare_cached(
            "SELECT id, tag, rung, lease_until FROM wake
              WHERE part = ?1 AND ended_at IS NULL AND state IN ('waiting', 'leased')
                AND (holder = ?2 OR lease_until IS NULL OR lease_until <= ?3)",
        )?
        .query_row((part, holder(pager, &asked.part), now), |row| {
            let tag: String = row.get(1)?;
            let until: Option<Time> = row.get(3)?;
            Ok(WakeOffer {
                wake_id: row.get(0)?,
                nudge: row.get(2)?,
                line: line::of(&tag),
                tag,
                lease_ms: until
                    .map_or(0, |until| until.since(now))
                    .try_into()
                    .unwrap_or(0),
            })
        })
        .optional()?;
    Ok(PollPartAnswer {
        code: asked.code.clone(),
        part: asked.part.clone(),
        unread,
        colour,
        turn: TurnView::default(),
        wake: offer,
        ..PollPartAnswer::default()
    })
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
