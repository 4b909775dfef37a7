//! After the text: Enter, evidence, and the ends without it (pager.md 3, D10–D17).

use std::time::Duration;

use super::Action;
use super::Delivery;
use super::End;
use super::HELD;
use super::Look;
use super::MOST;
use super::Phase;
use super::Typed;
use super::Written;
use super::is_fresh;
use super::step_after;
use crate::api::ReportResult;
use crate::pager::read::Standing;
use crate::pager::tmux::Outcome;
use crate::store::Time;

/// A composer empty this long after a first text, with the agent drawing, lost it: once more (D13).
const AGAIN_MS: i64 = 5_000;
/// A line gone, or never drawn, this long is given up (D14).
const GIVE_UP_MS: i64 = 10_000;
/// The line still there this long after the first Enter earns a second (D16).
const SECOND_ENTER: Duration = Duration::from_millis(1_500);
/// No evidence this long after the last Enter (D17).
const NO_EVIDENCE: Duration = Duration::from_secs(5);

impl Delivery {
    /// The answer to `typed` (D10, D15).
    pub(super) fn typed_answered(&mut self, result: ReportResult, now: Time) -> Vec<Action> {
        let Phase::Typed(typed) = &mut self.phase else {
            return Vec::new();
        };
        match result {
            ReportResult::Ok | ReportResult::Already => {
                typed.answered = true;
                match self.last.take().filter(|look| is_fresh(look, now)) {
                    Some(look) => {
                        let typed = typed.clone();
                        self.look_typed(typed, look, now)
                    }
                    None => {
                        self.look_at = now;
                        Vec::new()
                    }
                }
            }
            ReportResult::Stale | ReportResult::Cleared | ReportResult::NotHolder => {
                // The line stays: the next wake of this part finds and submits it (D5).
                self.end(End::Stale);
                vec![Action::Journal(Written::Done)]
            }
        }
    }

    /// D10–D14.
    pub(super) fn look_typed(&mut self, mut typed: Typed, look: Look, now: Time) -> Vec<Action> {
        // Only the newest look may lead to a key.
        self.last = None;
        if look.lost {
            return self.unconfirmed("pane_gone");
        }
        if let Some(evidence) = self.evidence(&look) {
            return self.submitted(evidence);
        }
        typed.person |= look.person.is_some_and(|key| key >= typed.at);
        typed.drew |= look
            .picture()
            .is_some_and(|now| self.before.picture.is_some_and(|before| now != before));
        self.look_at = now + step_after(typed.step);
        typed.step += 1;
        let reason = (
            look.verdict.reason().unwrap_or("unknown"),
            look.verdict.detail,
        );
        let evidence = look.verdict.evidence.clone();
        match &look.verdict.composer {
            Standing::OwnLine(_) if self.stands(&look) => {
                typed.gone_since = None;
                if self.enters >= MOST {
                    return self.unconfirmed("enter_ignored");
                }
                if !typed.answered {
                    return self.wait(typed, ("unknown", "relay"), &evidence, now);
                }
                if !look.is_calm() {
                    return self.wait(typed, reason, &evidence, now);
                }
                if !look.claimed {
                    self.phase = Phase::Typed(typed);
                    return Vec::new();
                }
                self.press(typed, look)
            }
            Standing::Empty => {
                let gone = *typed.gone_since.get_or_insert(look.at);
                self.line_gone(typed, gone, now)
            }
            Standing::OwnLinePlus => {
                typed.gone_since = None;
                self.wait(typed, reason, &evidence, now)
            }
            Standing::None => {
                typed.gone_since = None;
                let seen = !matches!(reason.0, "no_pane" | "unknown");
                if seen && !typed.drew && now.since(typed.at) >= GIVE_UP_MS {
                    return self.unconfirmed("not_rendered");
                }
                self.wait(typed, reason, &evidence, now)
            }
            Standing::OwnLine(_) | Standing::Blank | Standing::Text | Standing::Canary => {
                typed.other = true;
                let gone = *typed.gone_since.get_or_insert(look.at);
                if now.since(gone) >= GIVE_UP_MS {
                    return self.unconfirmed("vanished");
                }
                self.wait(typed, reason, &evidence, now)
            }
        }
    }

    /// D13 and D14, composer empty since `gone`.
    fn line_gone(&mut self, typed: Typed, gone: Time, now: Time) -> Vec<Action> {
        let empty = now.since(gone);
        if !typed.drew && now.since(typed.at) >= GIVE_UP_MS {
            return self.unconfirmed("not_rendered");
        }
        if empty >= GIVE_UP_MS {
            return self.unconfirmed("vanished");
        }
        let lost = typed.drew && !typed.person && !typed.other;
        if empty >= AGAIN_MS && lost && self.texts == 1 && self.enters == 0 {
            self.phase = Phase::Looking;
            self.look_at = now;
            return Vec::new();
        }
        self.phase = Phase::Typed(typed);
        Vec::new()
    }

    /// D11: no key; slot and lock are free until the reason is gone.
    fn wait(
        &mut self,
        typed: Typed,
        reason: (&'static str, &'static str),
        evidence: &str,
        now: Time,
    ) -> Vec<Action> {
        self.phase = Phase::Typed(Typed {
            waiting: true,
            ..typed
        });
        self.look_at = self.look_at.max(now + HELD);
        self.tell(reason, evidence, now)
    }

    fn press(&mut self, typed: Typed, look: Look) -> Vec<Action> {
        self.enters += 1;
        self.held_since = None;
        self.told = None;
        self.phase = Phase::Pressing(typed.waiting());
        self.last = Some(look);
        vec![Action::Journal(Written::Entering), Action::Enter]
    }

    /// What an Enter's child says. One that failed counts as pressed: never a third.
    pub(super) fn enter_sent(
        &mut self,
        outcome: Outcome,
        look: Option<Look>,
        now: Time,
    ) -> Vec<Action> {
        let Phase::Pressing(typed) = self.phase.clone() else {
            return Vec::new();
        };
        match outcome {
            Outcome::Held | Outcome::ReadOnly => {
                self.enters -= 1;
                self.phase = Phase::Typed(typed);
                self.look_at = now;
                let mut actions = vec![Action::Journal(if self.enters == 0 {
                    Written::Typed
                } else {
                    Written::Entering
                })];
                actions.extend(self.failed(now));
                actions
            }
            Outcome::Sent | Outcome::Unknown => {
                self.failures = 0;
                self.phase = Phase::Entered { at: now, step: 0 };
                self.look_at = now;
                match look {
                    Some(look) => self.look_entered(now, 0, look, now),
                    None => Vec::new(),
                }
            }
        }
    }

    /// D12, D16, D17.
    pub(super) fn look_entered(
        &mut self,
        at: Time,
        step: usize,
        look: Look,
        now: Time,
    ) -> Vec<Action> {
        if look.lost {
            return self.unconfirmed("pane_gone");
        }
        if let Some(evidence) = self.evidence(&look) {
            return self.submitted(evidence);
        }
        let second = at + SECOND_ENTER;
        let last = at + NO_EVIDENCE;
        if now >= second && self.enters == 1 && self.may_press(&look) && look.claimed {
            let typed = Typed::fresh(at, true);
            return self.press(typed, look);
        }
        if now >= last {
            let there = self.stands(&look) || look.verdict.composer == Standing::OwnLinePlus;
            return self.unconfirmed(if there { "enter_ignored" } else { "vanished" });
        }
        let next = if now < second && self.enters == 1 {
            second
        } else {
            last
        };
        self.look_at = (now + step_after(step)).min(next);
        self.phase = Phase::Entered { at, step: step + 1 };
        Vec::new()
    }
}
