//! Who gets the next free place of a budget: the part whose oldest new mail is oldest (wake.md 4), so that one busy part cannot starve the
//! others.

use super::Ending;
use super::Lane;
use super::budget;
use super::consider;
use super::due::New;
use super::facts::Facts;
use super::hold;
use super::hold::Rank;
use super::row;
use super::row::Wake;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::Tx;
use crate::store::UserSeq;

/// What becomes of the owner's parts that come before one in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// They are offered a free place first, and one that is given up.
    First,
    /// They are being asked already.
    Asked,
}

/// A place for a line of the part with that new mail, which wishes for `wished` (not the human lane); `None` if the budget is spent or others
/// take what is free.
pub(super) fn grant(
    tx: &Tx<'_>,
    facts: &Facts,
    new: &[New],
    wished: Lane,
    others: Others,
    now: Time,
) -> Outcome<Option<Lane>> {
    if others == Others::First {
        let rank = hold::rank(tx, facts.part, new)?;
        if wished == Lane::Urgent {
            offer(tx, facts.owner, Lane::Urgent, Some(rank), now)?;
        }
        offer(tx, facts.owner, Lane::Normal, Some(rank), now)?;
    }
    budget::lane(wished, |lane| budget::free(tx, facts.owner, lane, now))
}

/// Offers the free places of a lane to the parts held for the budget, by rank; only to those before `before`, if given.
pub(super) fn offer(
    tx: &Tx<'_>,
    owner: UserSeq,
    lane: Lane,
    before: Option<Rank>,
    now: Time,
) -> Outcome<()> {
    for (rank, part) in hold::queue(tx, owner)? {
        if before.is_some_and(|before| rank >= before) || budget::free(tx, owner, lane, now)? == 0 {
            break;
        }
        consider::decide(tx, part, Others::Asked, now)?;
    }
    Ok(())
}

/// Offers what a wake gave up of its lane.
pub(super) fn given_up(tx: &Tx<'_>, wake: &Wake, others: Others, now: Time) -> Outcome<()> {
    if others == Others::First && wake.is_due() && wake.lane != Lane::Human {
        offer(tx, wake.owner, wake.lane, None, now)?;
    }
    Ok(())
}

/// Ends a wake; if its line was not typed, its place is given back at once.
pub(super) fn end(
    tx: &Tx<'_>,
    facts: &Facts,
    wake: &Wake,
    ending: Ending,
    others: Others,
    now: Time,
) -> Outcome<()> {
    row::end(tx, facts, wake, ending, now)?;
    given_up(tx, wake, others, now)
}
