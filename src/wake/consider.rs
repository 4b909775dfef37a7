//! The decision for one part (wake.md 4), without an open wake; [`super::open`] is the other half.

use super::Decision;
use super::Ending;
use super::HoldReason;
use super::Kind;
use super::Lane;
use super::budget;
use super::due;
use super::due::Demand;
use super::due::Held;
use super::due::New;
use super::facts;
use super::facts::Facts;
use super::held;
use super::hold;
use super::mail;
use super::open;
use super::queue;
use super::queue::Others;
use super::remind;
use super::row;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// Decides for one part, from the tables alone, and writes what was decided. Call it in the transaction of every change that can matter:
/// after a message was stored for the part, after its park or pause began or ended.
///
/// # Errors
/// A fault of the store.
pub fn consider(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<Decision> {
    decide(tx, part, Others::First, now)
}

/// [`consider`] for a recipient beyond the broadcast cap of a reply: the message causes no wake before the next sweep, which considers
/// it like any mail. It joins an open wake all the same.
///
/// # Errors
/// A fault of the store.
pub fn hold_broadcast(
    tx: &Tx<'_>,
    part: PartSeq,
    message: MessageSeq,
    now: Time,
) -> Outcome<Decision> {
    tx.prepare_cached("UPDATE recipient SET later = 1 WHERE message = ?1 AND part = ?2")?
        .execute((message, part))?;
    consider(tx, part, now)
}

/// A live part with loud mail.
pub(super) struct Case<'a, 't> {
    pub tx: &'a Tx<'t>,
    pub facts: Facts,
    /// The newest loud message.
    pub newest: MessageSeq,
    /// New mail, oldest first.
    pub new: Vec<New>,
    pub others: Others,
    pub now: Time,
}

pub(super) fn decide(tx: &Tx<'_>, part: PartSeq, others: Others, now: Time) -> Outcome<Decision> {
    let facts = Facts::of(tx, part, now)?;
    let open = row::open(tx, part)?;
    let newest = match facts.live {
        true => mail::newest(tx, part)?,
        false => None,
    };
    let Some(newest) = newest else {
        let ending = match facts.live {
            true => Ending::Cleared,
            false => Ending::Canceled,
        };
        hold::close(tx, &facts, now)?;
        if let Some(wake) = open {
            queue::end(tx, &facts, &wake, ending, others, now)?;
        }
        return Ok(Decision::Nothing);
    };
    let case = Case {
        tx,
        facts,
        newest,
        new: mail::new(tx, part)?,
        others,
        now,
    };
    match open {
        Some(wake) => open::go_on(case, wake),
        None => case.begin(),
    }
}

impl Case<'_, '_> {
    /// Issues a wake if one is due and nothing holds it.
    pub fn begin(mut self) -> Outcome<Decision> {
        let Some(demand) = self.demand()? else {
            hold::close(self.tx, &self.facts, self.now)?;
            return Ok(Decision::Nothing);
        };
        if self.facts.paused {
            return self.held(HoldReason::Paused, None);
        }
        if let Some(until) = self.facts.limited_until {
            return self.held(HoldReason::Limited, Some(until));
        }
        match demand {
            Err(held) => self.held(held.reason, held.until),
            Ok(demand) => self.issue(&demand),
        }
    }

    /// The wake that is due, or what holds back all new mail; `None` if nothing is due.
    fn demand(&mut self) -> Outcome<Option<Result<Demand, Held>>> {
        if self.new.is_empty() {
            let reminder = remind::due(self.tx, self.facts.part, self.now)?;
            return Ok(reminder.map(|cause| {
                Ok(Demand {
                    lane: Lane::Normal,
                    kind: Kind::Reminder,
                    cause,
                })
            }));
        }
        self.mark()?;
        Ok(due::demand(&self.new))
    }

    /// Notes on each new message what holds it back. Not asked where no wake can come of it anyway, for asking may trip a brake.
    pub fn mark(&mut self) -> Outcome<()> {
        if !self.facts.open_to_wakes() || self.new.iter().any(|new| new.sender.is_none()) {
            return Ok(());
        }
        held::mark(self.tx, self.facts.part, &mut self.new, self.now)
    }

    /// Checks 5, 9 and 10: ceiling and budgets.
    pub fn issue(&self, demand: &Demand) -> Outcome<Decision> {
        let lane = match self.grant(demand.lane)? {
            Ok(lane) => lane,
            Err(held) => return self.held(held.reason, held.until),
        };
        hold::close(self.tx, &self.facts, self.now)?;
        let silent = facts::silent_since(self.tx, self.facts.part, self.now)?.is_some();
        row::issue(
            self.tx,
            &self.facts,
            demand,
            lane,
            self.newest,
            silent,
            self.now,
        )?;
        let fell = demand.lane == Lane::Urgent && lane == Lane::Normal;
        Ok(Decision::Issued(facts::note(fell, silent)))
    }

    /// The lane a line may be typed in that wishes for `wished`, or what holds it.
    pub fn grant(&self, wished: Lane) -> Outcome<Result<Lane, Held>> {
        let Self { tx, facts, now, .. } = self;
        if wished == Lane::Human {
            let ceiling = budget::human_ceiling(tx, facts.part, *now)?;
            return Ok(match ceiling {
                None => Ok(Lane::Human),
                until => Err(Held {
                    reason: HoldReason::HumanCeiling,
                    until,
                }),
            });
        }
        if let Some(lane) = queue::grant(tx, facts, &self.new, wished, self.others, *now)? {
            return Ok(Ok(lane));
        }
        Ok(Err(Held {
            reason: HoldReason::Budget,
            until: budget::next_free(tx, facts.owner, Lane::Normal, *now)?,
        }))
    }

    /// Notes the hold.
    pub fn held(&self, reason: HoldReason, until: Option<Time>) -> Outcome<Decision> {
        hold::note(
            self.tx,
            &self.facts,
            reason,
            until,
            self.newest,
            &self.new,
            self.now,
        )?;
        Ok(Decision::Held(reason))
    }
}
