//! The rows of wakes: issued, joined, ended. Each function is one transition of wake.md 3.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Ending;
use super::Kind;
use super::Lane;
use super::State;
use super::due::Demand;
use super::facts::Facts;
use super::lease;
use super::lease::Lease;
use super::remind;
use super::tag;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::WakeSeq;
use crate::store::new_id;

/// A wake.
#[derive(Debug, Clone)]
pub(super) struct Wake {
    pub seq: WakeSeq,
    pub id: String,
    pub part: PartSeq,
    pub owner: UserSeq,
    pub tag: String,
    pub lane: Lane,
    pub kind: Kind,
    pub state: State,
    pub last_seq: MessageSeq,
    pub rung: u32,
    /// Whether the line of this rung was typed.
    pub typed: bool,
    pub nudged_at: Option<Time>,
    pub holder: Option<String>,
    pub machine: Option<String>,
    pub lease_until: Option<Time>,
    pub hold_reason: Option<String>,
    pub issued_at: Time,
}

pub(super) const WAKE: &str = "SELECT seq, id, part, owner, tag, lane, kind, state, last_seq, rung, typed, nudged_at, holder, machine,
            lease_until, hold_reason, issued_at FROM wake";

fn wake(row: &rusqlite::Row<'_>) -> rusqlite::Result<Wake> {
    Ok(Wake {
        seq: row.get(0)?,
        id: row.get(1)?,
        part: row.get(2)?,
        owner: row.get(3)?,
        tag: row.get(4)?,
        lane: row.get(5)?,
        kind: row.get(6)?,
        state: row.get(7)?,
        last_seq: row.get(8)?,
        rung: row.get(9)?,
        typed: row.get(10)?,
        nudged_at: row.get(11)?,
        holder: row.get(12)?,
        machine: row.get(13)?,
        lease_until: row.get(14)?,
        hold_reason: row.get(15)?,
        issued_at: row.get(16)?,
    })
}

impl Wake {
    /// What its lease means to `asker`.
    pub fn lease(&self, asker: &str, now: Time) -> Lease {
        lease::of(self.holder.as_deref(), self.lease_until, asker, now)
    }

    /// Whether its line is still to be typed.
    pub fn is_due(&self) -> bool {
        !self.typed && self.state != State::Done
    }
}

/// The part's open wake.
pub(super) fn open(connection: &Connection, part: PartSeq) -> Outcome<Option<Wake>> {
    Ok(connection
        .prepare_cached(&format!("{WAKE} WHERE part = ?1 AND ended_at IS NULL"))?
        .query_row([part], wake)
        .optional()?)
}

/// The part's wake of that outside id, open or done.
pub(super) fn by_id(connection: &Connection, part: PartSeq, id: &str) -> Outcome<Option<Wake>> {
    Ok(connection
        .prepare_cached(&format!("{WAKE} WHERE id = ?1 AND part = ?2"))?
        .query_row((id, part), wake)
        .optional()?)
}

/// The wake of that row.
pub(super) fn by_seq(connection: &Connection, seq: WakeSeq) -> Outcome<Wake> {
    Ok(connection
        .prepare_cached(&format!("{WAKE} WHERE seq = ?1"))?
        .query_row([seq], wake)?)
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

/// Issues a wake in the lane granted; `silent` if no pager is there to type it.
pub(super) fn issue(
    tx: &Tx<'_>,
    facts: &Facts,
    demand: &Demand,
    lane: Lane,
    newest: MessageSeq,
    silent: bool,
    now: Time,
) -> Outcome<()> {
    let id = new_id();
    tx.prepare_cached(
        "INSERT INTO wake (id, part, owner, tag, lane, kind, state, last_seq, cause_part, cause_thread, cause_message, issued_at,
                           stored_at, hold_reason, hold_since)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7, ?8, ?9, ?10, ?11,
                 CASE ?6 WHEN 'mail' THEN coalesce((SELECT at FROM message WHERE seq = ?10), ?11) ELSE ?11 END,
                 CASE WHEN ?12 THEN 'no_pager' END, CASE WHEN ?12 THEN ?11 END)",
    )?
    .execute((
        &id,
        facts.part,
        facts.owner,
        free_tag(tx)?,
        lane,
        demand.kind,
        newest,
        demand.cause.part,
        demand.cause.thread,
        demand.cause.message,
        now,
        silent,
    ))?;
    facts.tell(tx, Topic::Wake, &id);
    if silent {
        facts.tell(tx, Topic::Attention, &id);
    }
    Ok(())
}

/// A tag no open wake has.
fn free_tag(tx: &Tx<'_>) -> Outcome<String> {
    loop {
        let tag = tag::of(rand::random());
        let taken: bool = tx
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM wake WHERE tag = ?1 AND ended_at IS NULL)",
            )?
            .query_row([&tag], |row| row.get(0))?;
        if !taken {
            return Ok(tag);
        }
    }
}

/// Lets new mail join: the wake announces up to `newest`, in that lane.
pub(super) fn join(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    newest: MessageSeq,
    lane: Lane,
) -> Outcome<()> {
    if newest == wake.last_seq && lane == wake.lane {
        return Ok(());
    }
    tx.prepare_cached("UPDATE wake SET last_seq = ?2, lane = ?3 WHERE seq = ?1")?
        .execute((wake.seq, newest, lane))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// The next nudge is due: the wake waits to be claimed again.
pub(super) fn next_rung(tx: &Tx<'_>, facts: &Facts, wake: &Wake, lane: Lane) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET state = 'waiting', rung = rung + 1, typed = 0, lane = ?2, lease_until = NULL,
                         hold_reason = NULL, hold_detail = NULL, hold_since = NULL, evidence = NULL WHERE seq = ?1",
    )?
    .execute((wake.seq, lane))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// Puts an open wake into another state without lease.
pub(super) fn set_state(tx: &Tx<'_>, facts: &Facts, wake: &Wake, state: State) -> Outcome<()> {
    tx.prepare_cached("UPDATE wake SET state = ?2, lease_until = NULL WHERE seq = ?1")?
        .execute((wake.seq, state))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// Gives a wake to a holder for [`lease::LENGTH`], or renews its lease.
pub(super) fn lease(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    holder: &str,
    machine: Option<&str>,
    now: Time,
) -> Outcome<()> {
    let own = wake.state == State::Leased && wake.holder.as_deref() == Some(holder);
    tx.prepare_cached(
        "UPDATE wake SET state = 'leased', holder = ?2, machine = coalesce(?3, machine), leased_at = ?4, lease_until = ?5
          WHERE seq = ?1",
    )?
    .execute((wake.seq, holder, machine, now, now + lease::LENGTH))?;
    if !own {
        facts.tell(tx, Topic::Wake, &wake.id);
    }
    Ok(())
}

/// Notes what holds a wake up, in words of wake.md 3, and since when; `None`: nothing any longer.
pub(super) fn hold_up(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    reason: Option<(&str, Time)>,
) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET hold_reason = ?2, hold_since = ?3, hold_detail = NULL, evidence = NULL WHERE seq = ?1",
    )?
    .execute((
        wake.seq,
        reason.map(|(reason, _)| reason),
        reason.map(|(_, since)| since),
    ))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// Notes what the pager says holds the wake up; the same reason goes on since when it began.
pub(super) fn blocked(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    reason: &str,
    detail: &str,
    evidence: &str,
    since: Time,
) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET hold_since = CASE WHEN hold_reason IS ?2 THEN hold_since ELSE ?5 END,
                         hold_reason = ?2, hold_detail = nullif(?3, ''), evidence = nullif(?4, '') WHERE seq = ?1",
    )?
    .execute((wake.seq, reason, detail, evidence, since))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// The line of the present rung was typed by `holder`, who sees to it until `until`.
pub(super) fn typed(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    holder: &str,
    until: Time,
    now: Time,
) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET state = 'leased', typed = 1, nudged_at = ?2, holder = ?3, lease_until = ?4,
                         hold_reason = NULL, hold_detail = NULL, hold_since = NULL, evidence = NULL WHERE seq = ?1",
    )?
    .execute((wake.seq, now, holder, until))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// The line was submitted.
pub(super) fn presented(tx: &Tx<'_>, facts: &Facts, wake: &Wake, now: Time) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET state = 'presented', presented_at = coalesce(presented_at, ?2), lease_until = NULL,
                         hold_reason = NULL, hold_detail = NULL, hold_since = NULL, evidence = NULL WHERE seq = ?1",
    )?
    .execute((wake.seq, now))?;
    facts.tell(tx, Topic::Wake, &wake.id);
    Ok(())
}

/// The line of a wake that has moved on since was submitted then, and before the agent came for its mail.
pub(super) fn was_presented(tx: &Tx<'_>, facts: &Facts, wake: &Wake, at: Time) -> Outcome<()> {
    let first = tx
        .prepare_cached(
            "UPDATE wake SET presented_at = min(?2, coalesce(ended_at, ?2)) WHERE seq = ?1 AND presented_at IS NULL",
        )?
        .execute((wake.seq, at))?;
    if first > 0 {
        facts.tell(tx, Topic::Wake, &wake.id);
    }
    Ok(())
}

/// Ends a wake. What it covered and is left unread gets its reminder.
pub(super) fn end(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    ending: Ending,
    now: Time,
) -> Outcome<()> {
    tx.prepare_cached(
        "UPDATE wake SET state = 'done', outcome = ?2, ended_at = ?3, lease_until = NULL,
                         consumed_at = CASE ?2 WHEN 'consumed' THEN ?3 END WHERE seq = ?1",
    )?
    .execute((wake.seq, ending, now))?;
    remind::reschedule(tx, wake.part)?;
    facts.tell(tx, Topic::Wake, &wake.id);
    if ending == Ending::Unanswered {
        facts.tell(tx, Topic::Attention, &wake.id);
    }
    Ok(())
}
