//! Reports out, answers in (pager.md 2).

use std::time::Duration;

use super::Happened;
use super::Pager;
use crate::api::ReportResult;
use crate::api::Stage;
use crate::pager::client::Class;
use crate::pager::client::Failure;
use crate::pager::deliver::Event;
use crate::pager::journal::Unsent;
use crate::pager::log::Level;
use crate::pager::poll::ELSEWHERE;
use crate::pager::report;
use crate::pager::report::is_kept;
use crate::pager::target::PartKey;
use crate::store::Time;

impl Pager {
    pub(super) fn reports_due(&self) -> Option<Time> {
        self.parts
            .values()
            .flat_map(|part| [part.outbox.due(), part.outbox.confirm_due()])
            .flatten()
            .min()
    }

    pub(super) fn start_reports(&mut self, now: Time) {
        let keys: Vec<PartKey> = self.parts.keys().cloned().collect();
        for key in keys {
            let Some(part) = self.parts.get_mut(&key) else {
                continue;
            };
            if let Some(confirm) = part.outbox.overdue_confirm(now) {
                self.unanswered(&key, &confirm, now);
            }
            let next = self
                .parts
                .get_mut(&key)
                .and_then(|part| part.outbox.next(now));
            if let Some(next) = next {
                let request = report::request(&self.setup.pager, &key, &next);
                let client = self.client.clone();
                self.beside(async move {
                    Happened::Reported {
                        key,
                        result: client.report(&request).await,
                    }
                });
            }
        }
    }

    pub(super) fn take_report(
        &mut self,
        key: &PartKey,
        result: Result<ReportResult, Failure>,
        now: Time,
    ) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        match result {
            Ok(result) => {
                if let Some(line) = self.report_contact.good(now) {
                    self.log
                        .general(Level::Info, now, format_args!("reports: {line}"));
                }
                if let Some(report) = part.outbox.answered(now) {
                    self.answered(key, &report, result, now);
                }
            }
            Err(failure) => {
                let dropped = part.outbox.failed(&failure, rand::random(), now);
                if let Some(line) = self.report_contact.failed(&failure, now) {
                    self.log
                        .general(Level::Warn, now, format_args!("reports: {line}"));
                }
                if let Some(report) = dropped {
                    self.unanswered(key, &report, now);
                }
            }
        }
    }

    fn answered(&mut self, key: &PartKey, report: &Unsent, result: ReportResult, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        if is_kept(&report.stage) {
            part.journal
                .unsent
                .retain(|kept| kept.event != report.event);
            if let Err(error) = part.journal.save() {
                // The report stays in the file and is repeated by the next process, with the same id.
                let text = format!("journal: {error}");
                self.log.line(Level::Warn, now, &key.part, "-", text);
            }
        }
        if result == ReportResult::NotHolder {
            self.not_holder(key, now);
        }
        if !self.is_of(key, report) {
            return;
        }
        match report.stage {
            Stage::Confirm => self.feed(key, Event::Confirmed(Some(result)), now),
            Stage::Typed { .. } => self.feed(key, Event::TypedAnswered(result), now),
            _ => {}
        }
    }

    /// Another pager has the wake: ours is given up, and the part is left alone for a while.
    fn not_holder(&mut self, key: &PartKey, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        part.offer = None;
        part.poll_at = now + ELSEWHERE + Duration::from_secs(5).mul_f64(rand::random());
        if part.refused.replace(Class::Conflict) != Some(Class::Conflict) {
            let text = "another pager holds this wake";
            self.log.line(Level::Warn, now, &key.part, "-", text);
        }
    }

    fn unanswered(&mut self, key: &PartKey, report: &Unsent, now: Time) {
        if report.stage == Stage::Confirm && self.is_of(key, report) {
            self.feed(key, Event::Confirmed(None), now);
        }
    }

    /// Whether the report belongs to the part's present delivery.
    fn is_of(&self, key: &PartKey, report: &Unsent) -> bool {
        self.parts
            .get(key)
            .and_then(|part| part.delivery.as_ref())
            .is_some_and(|delivery| {
                delivery.wake == report.wake_id && delivery.nudge == report.nudge
            })
    }
}
