//! What a pager reports of a delivery (wake.md 8): each report one transaction, each applied once.

use rusqlite::OptionalExtension;

use super::Ending;
use super::Kind;
use super::State;
use super::facts::Facts;
use super::handout;
use super::lease;
use super::lease::Lease;
use super::mail;
use super::nudge;
use super::nudge::Outcome as NudgeOutcome;
use super::queue;
use super::queue::Others;
use super::row;
use super::row::Wake;
use super::turns;
use crate::api::ReportRequest;
use crate::api::ReportResult;
use crate::api::Stage;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::parse_id;

/// What a pager may say holds a wake up (wake.md 3); other words are kept as `unknown`.
const HOLD_UPS: [&str; 6] = ["dialog", "draft", "busy", "mode", "no_agent", "no_pane"];

/// Longest evidence kept, in characters.
const EVIDENCE: usize = 400;

/// A pager's text as it may stand on a page.
fn cut(text: &str, characters: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(characters)
        .collect()
}

/// Applies one report on a wake of `part`; `holder` is [`lease::holder`] of the pager that sent it. A report with a known `event` is
/// answered as before and changes nothing, where it was taken with `already`. A `confirm` is always asked anew.
///
/// # Errors
/// `invalid_argument` if `wakeId` or `event` is no UUID.
pub fn apply(
    tx: &Tx<'_>,
    report: &ReportRequest,
    part: PartSeq,
    holder: &str,
    now: Time,
) -> Outcome<ReportResult> {
    let (Some(id), Some(event)) = (parse_id(&report.wake_id), parse_id(&report.event)) else {
        return Err(Refusal::new("invalid_argument", "wakeId and event are UUIDs").into());
    };
    let Some(wake) = row::by_id(tx, part, &id)? else {
        return Ok(ReportResult::Stale);
    };
    let facts = Facts::of(tx, part, now)?;
    let delivery = Delivery {
        tx,
        facts: &facts,
        wake: &wake,
        report,
        holder,
        now,
    };
    if report.stage == Stage::Confirm {
        return delivery.confirm();
    }
    if let Some(result) = known(tx, &event)? {
        return Ok(result);
    }
    let result = delivery.apply()?;
    tx.prepare_cached("INSERT INTO report (event, wake, result, at) VALUES (?1, ?2, ?3, ?4)")?
        .execute((event, wake.seq, word(result), now))?;
    Ok(result)
}

/// What a report applied before is answered.
fn known(tx: &Tx<'_>, event: &str) -> Outcome<Option<ReportResult>> {
    let result: Option<String> = tx
        .prepare_cached("SELECT result FROM report WHERE event = ?1")?
        .query_row([event], |row| row.get(0))
        .optional()?;
    Ok(result.map(|result| {
        [
            ReportResult::Cleared,
            ReportResult::Stale,
            ReportResult::NotHolder,
        ]
        .into_iter()
        .find(|known| word(*known) == result)
        .unwrap_or(ReportResult::Already)
    }))
}

fn word(result: ReportResult) -> &'static str {
    match result {
        ReportResult::Ok => "ok",
        ReportResult::Cleared => "cleared",
        ReportResult::Already => "already",
        ReportResult::Stale => "stale",
        ReportResult::NotHolder => "not_holder",
    }
}

/// A report and the wake it is about.
struct Delivery<'a, 't> {
    tx: &'a Tx<'t>,
    facts: &'a Facts,
    wake: &'a Wake,
    report: &'a ReportRequest,
    holder: &'a str,
    now: Time,
}

impl Delivery<'_, '_> {
    /// May the line be typed now? `ok` renews the lease.
    fn confirm(&self) -> Outcome<ReportResult> {
        let Self {
            tx,
            facts,
            wake,
            now,
            ..
        } = self;
        if wake.state == State::Done {
            return Ok(ReportResult::Cleared);
        }
        if wake.lease(self.holder, *now) == Lease::Other {
            return Ok(ReportResult::NotHolder);
        }
        if !wake.is_due() || self.report.nudge != wake.rung {
            // Who asks to type a line that was typed has lost track of it: what became of it is not known.
            if wake.state == State::Leased && self.report.nudge == wake.rung {
                row::set_state(tx, facts, wake, State::Unconfirmed)?;
            }
            return Ok(ReportResult::Stale);
        }
        if !self.may_type()? {
            return Ok(ReportResult::Cleared);
        }
        row::lease(tx, facts, wake, self.holder, None, *now)?;
        Ok(ReportResult::Ok)
    }

    /// Whether the line may be typed; if not, the wake is taken back from its holder, or ended if nothing is left to announce.
    fn may_type(&self) -> Outcome<bool> {
        let Self {
            tx,
            facts,
            wake,
            now,
            ..
        } = self;
        if handout::may_type(tx, wake, *now)? {
            return Ok(true);
        }
        if facts.live && mail::newest(tx, wake.part)?.is_none() {
            queue::end(tx, facts, wake, Ending::Cleared, Others::First, *now)?;
        } else {
            row::set_state(tx, facts, wake, State::Waiting)?;
        }
        Ok(false)
    }

    fn apply(&self) -> Outcome<ReportResult> {
        let Self {
            wake, report, now, ..
        } = self;
        if wake.state == State::Done || report.nudge != wake.rung {
            self.late()?;
            return Ok(ReportResult::Stale);
        }
        if wake.lease(self.holder, *now) == Lease::Other {
            return Ok(ReportResult::NotHolder);
        }
        match &report.stage {
            Stage::Confirm => self.confirm(),
            Stage::Blocked {
                reason,
                detail,
                evidence,
            } => self.blocked(reason, detail, evidence),
            Stage::Typed { .. } => self.typed(),
            Stage::Submitted {
                evidence, enters, ..
            } => self.outcome(NudgeOutcome::Submitted, evidence, Some(*enters)),
            Stage::Unconfirmed { why } => self.outcome(NudgeOutcome::Unconfirmed, why, None),
            Stage::Released => self.released(),
        }
    }

    /// Something in the pane holds the wake up, since it was first reported so.
    fn blocked(&self, reason: &str, detail: &str, evidence: &str) -> Outcome<ReportResult> {
        let reason = HOLD_UPS
            .into_iter()
            .find(|known| *known == reason)
            .unwrap_or("unknown");
        let detail = cut(detail, 100);
        let evidence = cut(evidence, EVIDENCE);
        let since = Time::parse(&self.report.at).map_or(self.now, |at| at.min(self.now));
        row::blocked(
            self.tx, self.facts, self.wake, reason, &detail, &evidence, since,
        )?;
        Ok(ReportResult::Ok)
    }

    /// The line stands in the composer. This is what the budget counts; Enter is pressed only after our answer, so that a pause or a
    /// close in the meantime still stops it.
    fn typed(&self) -> Outcome<ReportResult> {
        if self.wake.typed {
            return Ok(ReportResult::Already);
        }
        if !self.may_type()? {
            return Ok(ReportResult::Cleared);
        }
        self.count()?;
        Ok(ReportResult::Ok)
    }

    /// Writes the nudge.
    fn count(&self) -> Outcome<()> {
        let Self {
            tx,
            facts,
            wake,
            now,
            ..
        } = self;
        let newest = mail::newest(tx, wake.part)?.unwrap_or(wake.last_seq);
        nudge::write(tx, wake, newest, *now)?;
        let until = wake
            .lease_until
            .filter(|until| now < until)
            .unwrap_or(*now + lease::LENGTH);
        row::typed(tx, facts, wake, self.holder, until, *now)?;
        let reminds = wake.kind == Kind::Reminder && wake.rung == 1;
        mail::cover(tx, wake.part, wake.seq, reminds)
    }

    /// What became of the line. It was typed even if the report that says so was lost.
    fn outcome(
        &self,
        outcome: NudgeOutcome,
        evidence: &str,
        enters: Option<u32>,
    ) -> Outcome<ReportResult> {
        let Self {
            tx,
            facts,
            wake,
            now,
            ..
        } = self;
        if !wake.typed {
            self.count()?;
        }
        if !nudge::conclude(tx, wake, outcome, &cut(evidence, EVIDENCE), enters, *now)? {
            return Ok(ReportResult::Already);
        }
        match outcome {
            NudgeOutcome::Submitted => {
                row::presented(tx, facts, wake, *now)?;
                mail::presented(tx, wake.part, wake.seq, *now)?;
            }
            NudgeOutcome::Unconfirmed => row::set_state(tx, facts, wake, State::Unconfirmed)?,
        }
        Ok(ReportResult::Ok)
    }

    /// What became of a line whose wake is done is written down if its own pager says so, for the fastest wakes are consumed before
    /// their pager has looked; to the wake it changes nothing.
    fn late(&self) -> Outcome<()> {
        let Self {
            tx,
            wake,
            report,
            now,
            ..
        } = self;
        let ours = wake.holder.as_deref() == Some(self.holder) && report.nudge == wake.rung;
        if !ours || !wake.typed {
            return Ok(());
        }
        let at = Time::parse(&report.at).map_or(*now, |at| at.min(*now));
        let at = at.max(wake.nudged_at.unwrap_or(at));
        match &report.stage {
            Stage::Submitted {
                evidence, enters, ..
            } => {
                let evidence = cut(evidence, EVIDENCE);
                let outcome = NudgeOutcome::Submitted;
                nudge::conclude(tx, wake, outcome, &evidence, Some(*enters), at)?;
                turns::late(tx, wake, at, *now)
            }
            Stage::Unconfirmed { why } => {
                let why = cut(why, EVIDENCE);
                nudge::conclude(tx, wake, NudgeOutcome::Unconfirmed, &why, None, at).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// The holder gives its lease back.
    fn released(&self) -> Outcome<ReportResult> {
        if self.wake.state == State::Leased {
            let state = match self.wake.typed {
                true => State::Unconfirmed,
                false => State::Waiting,
            };
            row::set_state(self.tx, self.facts, self.wake, state)?;
        }
        Ok(ReportResult::Ok)
    }
}
