//! An open wake when its part is considered: leases that ended, mail that joins, the ladder (wake.md 3 and 5).

use super::Decision;
use super::Ending;
use super::HoldReason;
use super::Lane;
use super::State;
use super::budget;
use super::consider;
use super::consider::Case;
use super::due;
use super::facts;
use super::hold;
use super::ladder;
use super::ladder::Next;
use super::ladder::Standing;
use super::ladder::Turn;
use super::queue;
use super::row;
use super::row::Wake;
use crate::activity::turn;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::Topic;

/// The hold-up we note ourselves.
const NO_PAGER: &str = "no_pager";

/// Moves an open wake on as far as the tables say. New mail joins it.
pub(super) fn go_on(mut case: Case<'_, '_>, mut wake: Wake) -> Outcome<Decision> {
    end_lease(&case, &mut wake)?;
    if case.facts.paused {
        stopped(&case, &wake, HoldReason::Paused)?;
        return Ok(Decision::Held(HoldReason::Paused));
    }
    join(&case, &mut wake)?;
    let fell = wake.lane == Lane::Normal && case.new.iter().any(|new| new.urgent);
    let silent = facts::silent_since(case.tx, case.facts.part, case.now)?;
    let waiting = Decision::Waiting(facts::note(fell, silent.is_some()));
    if case.facts.limited_until.is_some() {
        stopped(&case, &wake, HoldReason::Limited)?;
        return Ok(waiting);
    }
    match wake.state {
        State::Presented | State::Unconfirmed => match due(&mut case, &wake)? {
            Next::Wait => hold::close(case.tx, &case.facts, case.now)?,
            Next::Nudge => climb(&case, &wake)?,
            Next::Unanswered => {
                queue::end(
                    case.tx,
                    &case.facts,
                    &wake,
                    Ending::Unanswered,
                    case.others,
                    case.now,
                )?;
                return consider::decide(case.tx, wake.part, case.others, case.now);
            }
        },
        State::Waiting => {
            note_silence(&case, &wake, silent)?;
            keep_place(&case, &wake)?;
        }
        State::Leased if wake.is_due() => keep_place(&case, &wake)?,
        State::Leased => hold::close(case.tx, &case.facts, case.now)?,
        State::Done => {}
    }
    Ok(waiting)
}

/// A lease that ended before the line was typed leaves the wake waiting; after it, what became of the line is not known.
fn end_lease(case: &Case<'_, '_>, wake: &mut Wake) -> Outcome<()> {
    let ended = wake.lease_until.is_none_or(|until| until <= case.now);
    if wake.state == State::Leased && ended {
        wake.state = match wake.typed {
            true => State::Unconfirmed,
            false => State::Waiting,
        };
        row::set_state(case.tx, &case.facts, wake, wake.state)?;
    }
    Ok(())
}

/// A pause or park stops the wake where it is: notes it as a hold if something is to be announced.
fn stopped(case: &Case<'_, '_>, wake: &Wake, reason: HoldReason) -> Outcome<()> {
    if case.new.is_empty() && !wake.is_due() {
        return hold::close(case.tx, &case.facts, case.now);
    }
    case.held(reason, case.facts.limited_until).map(|_| ())
}

/// Lets new mail join. While the line is still to be typed it raises the lane: to urgent only if that has a place free.
fn join(case: &Case<'_, '_>, wake: &mut Wake) -> Outcome<()> {
    let before = wake.clone();
    if wake.is_due() {
        let wished = case.new.iter().map(due::lane).max();
        let free = |lane| budget::free(case.tx, wake.owner, lane, case.now);
        wake.lane = match wished {
            Some(Lane::Human) => Lane::Human,
            Some(Lane::Urgent) if wake.lane == Lane::Normal && free(Lane::Urgent)? > 0 => {
                Lane::Urgent
            }
            // The urgent allowance was lowered under it: as at its issue it then goes on as normal.
            _ if wake.lane == Lane::Urgent
                && !budget::keeps_place(case.tx, wake, case.now)?
                && free(Lane::Normal)? > 0 =>
            {
                Lane::Normal
            }
            _ => wake.lane,
        };
    }
    row::join(case.tx, &case.facts, &before, case.newest, wake.lane)?;
    if wake.lane != before.lane {
        queue::given_up(case.tx, &before, case.others, case.now)?;
    }
    Ok(())
}

/// What the ladder says of a wake whose line was typed.
fn due(case: &mut Case<'_, '_>, wake: &Wake) -> Outcome<Next> {
    let nudged_at = wake.nudged_at.unwrap_or(wake.issued_at);
    if case.now > nudged_at + ladder::AT_ONCE {
        case.mark()?;
    }
    let standing = Standing {
        nudges: wake.rung,
        nudged_at,
        new_mail: case.new.iter().any(|new| new.held.is_none()),
        turn: Turn::from(&turn::of(case.tx, wake.part)?),
    };
    Ok(ladder::next(&standing, case.now))
}

/// The next nudge, if ceiling and budget let it.
fn climb(case: &Case<'_, '_>, wake: &Wake) -> Outcome<()> {
    let free = case.new.iter().filter(|new| new.held.is_none());
    let wished = free.map(due::lane).fold(wake.lane, Lane::max);
    match case.grant(wished)? {
        Ok(lane) => {
            hold::close(case.tx, &case.facts, case.now)?;
            row::next_rung(case.tx, &case.facts, wake, lane)
        }
        Err(held) => case.held(held.reason, held.until).map(|_| ()),
    }
}

/// Notes that no pager is there to type the line, or that one is again.
fn note_silence(case: &Case<'_, '_>, wake: &Wake, silent: Option<Time>) -> Outcome<()> {
    let noted = wake.hold_reason.as_deref() == Some(NO_PAGER);
    match silent {
        Some(since) if !noted => {
            let since = since.max(wake.issued_at);
            row::hold_up(case.tx, &case.facts, wake, Some((NO_PAGER, since)))?;
            case.facts.tell(case.tx, Topic::Attention, &wake.id);
        }
        None if noted => row::hold_up(case.tx, &case.facts, wake, None)?,
        _ => {}
    }
    Ok(())
}

/// Notes it as a hold when the place of a wake still to be typed is gone, for it may not be typed then.
fn keep_place(case: &Case<'_, '_>, wake: &Wake) -> Outcome<()> {
    if budget::keeps_place(case.tx, wake, case.now)? {
        return hold::close(case.tx, &case.facts, case.now);
    }
    let until = budget::next_free(case.tx, wake.owner, wake.lane, case.now)?;
    case.held(HoldReason::Budget, until).map(|_| ())
}
