//! The decision for one part (wake.md 4).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Chain;
use super::Decision;
use super::Note;
use super::tag;
use crate::activity::pane;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::new_id;

/// Decides for one part, from the tables alone, and writes what was decided.
///
/// # Errors
/// A fault of the store.
pub fn consider(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<Decision> {
    let newest: Option<MessageSeq> = tx
        .prepare_cached(
            "SELECT max(message) FROM recipient WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0",
        )?
        .query_row([part], |row| row.get(0))?;
    let Some(newest) = newest else {
        end(tx, part, "cleared", now)?;
        return Ok(Decision::Nothing);
    };
    let note = pane::pager_silent(tx, part, now)?.then_some(Note::NoPager);
    if is_open(tx, part)? {
        tx.execute(
            "UPDATE wake SET last_seq = ?2 WHERE part = ?1 AND ended_at IS NULL AND last_seq < ?2",
            (part, newest),
        )?;
        return Ok(Decision::Waiting(note));
    }
    let unseen: bool = tx.query_row(
        "SELECT EXISTS (SELECT 1 FROM recipient WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0
                           AND seen_at IS NULL AND nudged_at IS NULL)",
        [part],
        |row| row.get(0),
    )?;
    if !unseen {
        return Ok(Decision::Nothing);
    }
    tx.execute(
        "INSERT INTO wake (id, part, owner, tag, lane, kind, state, last_seq, cause_part, cause_thread, cause_message, issued_at)
         SELECT ?2, p.seq, p.owner, ?3, 'normal', 'mail', 'waiting', m.seq, m.sender, m.thread, m.seq, ?5
           FROM part AS p, message AS m WHERE p.seq = ?1 AND m.seq = ?4",
        (part, new_id(), tag::of(rand::random()), newest, now),
    )?;
    tell(tx, part)?;
    Ok(Decision::Issued(note))
}

/// Tells those who wait on the part that its wake changed.
pub(super) fn tell(tx: &Tx<'_>, part: PartSeq) -> Outcome<()> {
    let project: ProjectSeq = tx
        .prepare_cached("SELECT project FROM part WHERE seq = ?1")?
        .query_row([part], |row| row.get(0))?;
    tx.signal(Signal {
        topic: Topic::Wake,
        project: Some(project),
        part: Some(part),
        id: String::new(),
    });
    Ok(())
}

fn end(tx: &Tx<'_>, part: PartSeq, outcome: &str, now: Time) -> Outcome<()> {
    let ended = tx.execute(
        "UPDATE wake SET state = 'done', outcome = ?2, ended_at = ?3,
                         consumed_at = CASE ?2 WHEN 'consumed' THEN ?3 END
          WHERE part = ?1 AND ended_at IS NULL",
        (part, outcome, now),
    )?;
    if ended > 0 {
        tell(tx, part)?;
    }
    Ok(())
}

/// Whether the part has a wake that is not done.
///
/// # Errors
/// A fault of the store.
pub fn is_open(connection: &Connection, part: PartSeq) -> Outcome<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM wake WHERE part = ?1 AND ended_at IS NULL)")?
        .query_row([part], |row| row.get(0))?)
}

/// Holds a reply's message back for a recipient beyond the broadcast cap: the next sweep considers it like any mail. Call it in
/// place of [`consider`]; an open wake is joined all the same.
///
/// # Errors
/// A fault of the store.
pub fn hold_broadcast(
    tx: &Tx<'_>,
    part: PartSeq,
    _message: MessageSeq,
    now: Time,
) -> Outcome<Decision> {
    consider(tx, part, now)
}

/// The agent came for its mail: an inbox, show, ack, reply or close call. Ends the wake, then considers the part again.
///
/// # Errors
/// A fault of the store.
pub fn consumed(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<()> {
    end(tx, part, "consumed", now)?;
    consider(tx, part, now).map(|_| ())
}

/// After threads ended: clears the wakes of parts that have nothing loud left.
///
/// # Errors
/// A fault of the store.
pub fn settle(tx: &Tx<'_>, parts: &[PartSeq], now: Time) -> Outcome<()> {
    for part in parts {
        consider(tx, *part, now)?;
    }
    Ok(())
}

/// Where a message that `sender` writes now stands in its chain.
///
/// # Errors
/// A fault of the store.
pub fn hops_of_next(connection: &Connection, sender: PartSeq, now: Time) -> Outcome<Chain> {
    let longest = connection
        .prepare_cached(
            "SELECT m.hops, m.seq FROM recipient AS r JOIN message AS m ON m.seq = r.message
              WHERE r.part = ?1 AND r.last_seen_at > ?2 ORDER BY m.hops DESC, m.seq DESC LIMIT 1",
        )?
        .query_row((sender, now.0 - 300_000), |row| {
            Ok(Chain {
                hops: row.get::<_, u32>(0)? + 1,
                follows: row.get(1)?,
            })
        })
        .optional()?;
    Ok(longest.unwrap_or(Chain {
        hops: 0,
        follows: None,
    }))
}

/// Considers every part that may be due; run every 30 s and once at start.
///
/// # Errors
/// A fault of the store.
pub fn sweep(tx: &Tx<'_>, now: Time) -> Outcome<()> {
    each(
        tx,
        "SELECT DISTINCT part FROM recipient WHERE part IS NOT NULL AND live = 1 AND read_at IS NULL AND fyi = 0",
        [],
        now,
    )
}

/// A person asks for a wake of the part's open mail.
///
/// # Errors
/// A fault of the store.
pub fn again(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<Decision> {
    consider(tx, part, now)
}

/// Ends the part's wake because the part was deleted, its owner banned or its project archived.
///
/// # Errors
/// A fault of the store.
pub fn cancel(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<()> {
    end(tx, part, "canceled", now)
}

/// Considers all parts of a person, after a budget change, a ban or its end.
///
/// # Errors
/// A fault of the store.
pub fn consider_owner(tx: &Tx<'_>, owner: UserSeq, now: Time) -> Outcome<()> {
    each(tx, "SELECT seq FROM part WHERE owner = ?1", [owner.0], now)
}

/// Considers all parts of a project, after it was archived or taken back.
///
/// # Errors
/// A fault of the store.
pub fn consider_project(tx: &Tx<'_>, project: ProjectSeq, now: Time) -> Outcome<()> {
    each(
        tx,
        "SELECT seq FROM part WHERE project = ?1",
        [project.0],
        now,
    )
}

fn each(tx: &Tx<'_>, parts: &str, of: impl rusqlite::Params, now: Time) -> Outcome<()> {
    let parts: Vec<PartSeq> = tx
        .prepare_cached(parts)?
        .query_map(of, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    settle(tx, &parts, now)
}
