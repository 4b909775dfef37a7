//! A part's reports on their way to the relay: one at a time, in order, each with an id of its own (pager.md 2).
//!
//! `typed`, `submitted` and `unconfirmed` are repeated with the same id until the relay answers, over restarts too; the others are worth
//! one try.

use std::collections::VecDeque;
use std::time::Duration;

use super::client::Failure;
use super::journal::Unsent;
use super::poll::Backoff;
use super::target::PartKey;
use crate::api::ReportRequest;
use crate::api::Stage;
use crate::store::Time;

/// How long `confirm` waits for its answer, the time behind other reports included.
const CONFIRM_LIMIT_MS: i64 = 5_000;

/// Whether a report is repeated until it is answered.
#[must_use]
pub fn is_kept(stage: &Stage) -> bool {
    matches!(
        stage,
        Stage::Typed { .. } | Stage::Submitted { .. } | Stage::Unconfirmed { .. }
    )
}

/// Reports of one part.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<(Unsent, Time)>,
    sending: bool,
    retry_at: Option<Time>,
    backoff: Backoff,
}

impl Outbox {
    /// An outbox with what an earlier process could not send.
    #[must_use]
    pub fn with(unsent: &[Unsent], now: Time) -> Self {
        Self {
            queue: unsent.iter().map(|report| (report.clone(), now)).collect(),
            ..Self::default()
        }
    }

    /// Puts a report at the end. A `blocked` that was not sent yet is out of date then.
    pub fn push(&mut self, report: Unsent, now: Time) {
        let busy = usize::from(self.sending);
        let mut at = 0;
        self.queue.retain(|(old, _)| {
            at += 1;
            at <= busy || !matches!(old.stage, Stage::Blocked { .. })
        });
        self.queue.push_back((report, now));
    }

    /// The report to send now, if there is one; until [`Self::answered`] or [`Self::failed`] no other is given.
    pub fn next(&mut self, now: Time) -> Option<Unsent> {
        if self.sending || self.retry_at.is_some_and(|at| now < at) {
            return None;
        }
        let (report, _) = self.queue.front()?;
        self.sending = true;
        Some(report.clone())
    }

    /// Whether no report waits, sent or not.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// When [`Self::next`] has something that it has not now.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let (_, queued) = self.queue.front().filter(|_| !self.sending)?;
        Some(self.retry_at.unwrap_or(*queued))
    }

    /// Takes the answered report out.
    pub fn answered(&mut self, now: Time) -> Option<Unsent> {
        self.sending = false;
        self.retry_at = None;
        self.backoff.good(now);
        self.queue.pop_front().map(|(report, _)| report)
    }

    /// Keeps or drops the report that could not be sent; gives it back if it was dropped.
    pub fn failed(&mut self, failure: &Failure, random: f64, now: Time) -> Option<Unsent> {
        self.sending = false;
        let (report, _) = self.queue.front()?;
        if is_kept(&report.stage) {
            self.retry_at = Some(now + self.backoff.after(failure, random));
            return None;
        }
        self.queue.pop_front().map(|(report, _)| report)
    }

    /// Takes out a `confirm` that has waited too long, unless it is on its way: then its call ends by itself.
    pub fn overdue_confirm(&mut self, now: Time) -> Option<Unsent> {
        let busy = usize::from(self.sending);
        let at = self.queue.iter().skip(busy).position(|(report, queued)| {
            report.stage == Stage::Confirm && now.since(*queued) >= CONFIRM_LIMIT_MS
        })?;
        self.queue.remove(at + busy).map(|(report, _)| report)
    }

    /// When [`Self::overdue_confirm`] may have something.
    #[must_use]
    pub fn confirm_due(&self) -> Option<Time> {
        self.queue
            .iter()
            .find(|(report, _)| report.stage == Stage::Confirm)
            .map(|(_, queued)| *queued + Duration::from_millis(CONFIRM_LIMIT_MS.unsigned_abs()))
    }
}

/// The call for a report.
#[must_use]
pub fn request(pager: &str, key: &PartKey, report: &Unsent) -> ReportRequest {
    ReportRequest {
        pager: pager.to_owned(),
        code: key.code.clone(),
        part: key.part.clone(),
        wake_id: report.wake_id.clone(),
        nudge: report.nudge,
        event: report.event.clone(),
        at: report.at.clone(),
        stage: report.stage.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::client::Class;

    fn report(event: &str, stage: Stage) -> Unsent {
        Unsent {
            event: event.into(),
            wake_id: "w".into(),
            nudge: 1,
            at: String::new(),
            stage,
        }
    }

    fn blocked() -> Stage {
        Stage::Blocked {
            reason: "draft".into(),
            detail: String::new(),
            evidence: String::new(),
        }
    }

    fn typed() -> Stage {
        Stage::Typed {
            tag: "kqmwvz".into(),
        }
    }

    fn down() -> Failure {
        Failure {
            class: Class::Transient,
            text: String::new(),
            retry_after: None,
        }
    }

    #[test]
    fn pager_030_a_kept_report_is_repeated_with_its_id_and_keeps_its_place() {
        let mut outbox = Outbox::default();
        outbox.push(report("a", typed()), Time(0));
        outbox.push(report("b", Stage::Released), Time(0));
        assert_eq!(outbox.next(Time(0)).unwrap().event, "a");
        assert!(outbox.next(Time(0)).is_none(), "one at a time");
        assert!(outbox.failed(&down(), 0.0, Time(0)).is_none());
        assert!(outbox.next(Time(499)).is_none());
        assert_eq!(outbox.due(), Some(Time(500)));
        assert_eq!(outbox.next(Time(500)).unwrap().event, "a");
        assert_eq!(outbox.answered(Time(600)).unwrap().event, "a");
        assert_eq!(outbox.next(Time(600)).unwrap().event, "b");
    }

    #[test]
    fn a_failed_confirm_is_dropped_and_one_behind_others_waits_five_seconds() {
        let mut outbox = Outbox::default();
        outbox.push(report("c", Stage::Confirm), Time(0));
        outbox.next(Time(0));
        assert_eq!(outbox.failed(&down(), 0.0, Time(0)).unwrap().event, "c");
        outbox.push(report("a", typed()), Time(0));
        outbox.next(Time(0));
        outbox.push(report("c", Stage::Confirm), Time(0));
        assert!(outbox.overdue_confirm(Time(4_999)).is_none());
        assert_eq!(outbox.confirm_due(), Some(Time(5_000)));
        assert_eq!(outbox.overdue_confirm(Time(5_000)).unwrap().event, "c");
        assert!(outbox.overdue_confirm(Time(5_000)).is_none());
    }

    #[test]
    fn a_newer_blocked_takes_the_place_of_an_older_one() {
        let mut outbox = Outbox::default();
        outbox.push(report("a", blocked()), Time(0));
        outbox.next(Time(0));
        outbox.push(report("b", blocked()), Time(0));
        outbox.push(report("c", blocked()), Time(0));
        assert_eq!(outbox.answered(Time(0)).unwrap().event, "a");
        assert_eq!(outbox.next(Time(0)).unwrap().event, "c");
    }
}
