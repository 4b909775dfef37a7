//! "Wake again": a person asks for a wake of the part's open mail (wake.md 4).

use super::Decision;
use super::Ending;
use super::HoldReason;
use super::Kind;
use super::Lane;
use super::State;
use super::consider::Case;
use super::due::Cause;
use super::due::Demand;
use super::facts;
use super::facts::Facts;
use super::ladder;
use super::mail;
use super::queue;
use super::queue::Others;
use super::row;
use super::row::Wake;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;

/// Wakes the part in the human lane for its open mail, new or not. An open wake is joined: a line still to be typed goes to the human
/// lane; of one that was typed more than a minute ago the next nudge is due at once, and after the last a new wake begins.
///
/// # Errors
/// `conflict` if the part is deleted, its owner banned or its project archived, or if nothing loud is open.
pub fn again(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<Decision> {
    let facts = Facts::of(tx, part, now)?;
    if !facts.live {
        return Err(Refusal::new(
            "conflict",
            "the part cannot be woken: it is deleted, its owner is banned or its project archived",
        )
        .into());
    }
    let Some(newest) = mail::newest(tx, part)? else {
        return Err(Refusal::new("conflict", "nothing is open to wake the part for").into());
    };
    let case = Case {
        tx,
        facts,
        newest,
        new: mail::new(tx, part)?,
        others: Others::First,
        now,
    };
    if case.facts.paused {
        return Ok(Decision::Held(HoldReason::Paused));
    }
    match row::open(tx, part)? {
        Some(wake) => joined(&case, &wake),
        None => issue(&case),
    }
}

fn issue(case: &Case<'_, '_>) -> Outcome<Decision> {
    if case.facts.limited_until.is_some() {
        return Ok(Decision::Held(HoldReason::Limited));
    }
    case.issue(&Demand {
        lane: Lane::Human,
        kind: Kind::Again,
        cause: Cause::PERSON,
    })
}

fn joined(case: &Case<'_, '_>, wake: &Wake) -> Outcome<Decision> {
    let silent = facts::silent_since(case.tx, wake.part, case.now)?.is_some();
    let waiting = Decision::Waiting(facts::note(false, silent));
    if wake.is_due() {
        row::join(case.tx, &case.facts, wake, case.newest, Lane::Human)?;
        queue::given_up(case.tx, wake, case.others, case.now)?;
        return Ok(waiting);
    }
    let lately = wake
        .nudged_at
        .is_some_and(|last| case.now <= last + ladder::AT_ONCE);
    if wake.state == State::Leased || lately || case.facts.limited_until.is_some() {
        return Ok(waiting);
    }
    if wake.rung == ladder::LAST {
        row::end(case.tx, &case.facts, wake, Ending::Unanswered, case.now)?;
        return issue(case);
    }
    match case.grant(Lane::Human)? {
        Ok(lane) => row::next_rung(case.tx, &case.facts, wake, lane).map(|()| waiting),
        Err(held) => case.held(held.reason, held.until),
    }
}
