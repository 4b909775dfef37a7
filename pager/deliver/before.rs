//! Before the text: looking, confirming, typing (pager.md 3, D2–D9).

use std::time::Duration;

use super::Action;
use super::Delivery;
use super::End;
use super::FAILURES;
use super::HELD;
use super::Look;
use super::MOST;
use super::Phase;
use super::Typed;
use super::Written;
use super::is_fresh;
use super::state::Before;
use super::step_after;
use crate::api::ReportResult;
use crate::api::Stage;
use crate::pager::read::Standing;
use crate::pager::tmux::Outcome;
use crate::store::Time;

/// How long a confirmation counts while a fresh look is taken.
const AGREED: Duration = Duration::from_secs(5);
/// How long the composer must stay without the line after a text's child failed.
const UNSURE_MS: i64 = 5_000;
/// A screen may move this long before it is told.
const MOVING_MS: i64 = 3_000;
/// Least distance of looks at a screen that is about to stand still.
const SETTLE: Duration = Duration::from_millis(100);

impl Delivery {
    /// D2–D5.
    pub(super) fn look_looking(&mut self, look: Look, now: Time) -> Vec<Action> {
        self.look_at = now + HELD;
        if let Some(reason) = self.hold(&look, now) {
            if let Some(sample) = look.verdict.sample.as_ref().filter(|s| s.settles_in() > 0) {
                let wait = u64::try_from(sample.settles_in()).unwrap_or_default();
                self.look_at = now + Duration::from_millis(wait).clamp(SETTLE, HELD);
            }
            let evidence = look.verdict.evidence.clone();
            self.last = Some(look);
            let since = *self.held_since.get_or_insert(now);
            if reason == ("busy", "moving") && now.since(since) < MOVING_MS {
                // One sample more decides; a reason that is gone by then is not worth telling.
                return Vec::new();
            }
            return self.tell(reason, &evidence, now);
        }
        let adopt = look.is_own_draft();
        if self.texts >= MOST && !adopt {
            return self.unconfirmed("not_rendered");
        }
        if !look.claimed {
            return Vec::new();
        }
        self.held_since = None;
        self.told = None;
        self.last = Some(look);
        self.phase = Phase::Confirming { adopt };
        vec![Action::Report(Stage::Confirm)]
    }

    /// D6 and D7.
    pub(super) fn confirmed(&mut self, result: Option<ReportResult>, now: Time) -> Vec<Action> {
        let Phase::Confirming { adopt } = self.phase else {
            return Vec::new();
        };
        match result {
            Some(ReportResult::Ok | ReportResult::Already) => {
                let fresh = self.last.take().filter(|look| is_fresh(look, now));
                let until = now + AGREED;
                self.phase = Phase::Agreed { adopt, until };
                self.look_at = now;
                match fresh {
                    // Judged again: a look may have come in while the answer was awaited.
                    Some(look) => self.look_agreed(adopt, until, look, now),
                    None => Vec::new(),
                }
            }
            Some(ReportResult::Cleared) => self.end_untyped(End::Cleared),
            Some(ReportResult::Stale) => self.end_untyped(End::Stale),
            Some(ReportResult::NotHolder) => self.end_untyped(End::Withdrawn),
            None => {
                self.phase = Phase::Looking;
                self.look_at = now + HELD;
                self.tell(("unknown", "relay"), "", now)
            }
        }
    }

    pub(super) fn end_untyped(&mut self, end: End) -> Vec<Action> {
        self.end(end);
        if self.texts == 0 {
            // Nothing was journaled for this nudge.
            return Vec::new();
        }
        vec![Action::Journal(Written::Done)]
    }

    pub(super) fn look_agreed(
        &mut self,
        adopt: bool,
        until: Time,
        look: Look,
        now: Time,
    ) -> Vec<Action> {
        let same = look.is_own_draft() == adopt;
        if now >= until || !same || self.hold(&look, now).is_some() {
            self.phase = Phase::Looking;
            return self.look_looking(
                Look {
                    claimed: false,
                    ..look
                },
                now,
            );
        }
        self.type_on(adopt, look, now)
    }

    /// Confirmed and freshly seen: the text, or none where the line stands already.
    fn type_on(&mut self, adopt: bool, look: Look, now: Time) -> Vec<Action> {
        self.before = Before {
            echoes: 0,
            turn: look.turn.since,
            picture: look.picture(),
        };
        if adopt {
            if let Standing::OwnLine(tag) = &look.verdict.composer {
                self.standing = (tag.clone(), look.verdict.text.as_str().to_owned());
            }
            self.before.echoes = look.verdict.echoes(&self.standing.1);
            return self.typed(Some(look), now);
        }
        self.before.echoes = look.verdict.echoes(&self.standing.1);
        self.texts += 1;
        self.phase = Phase::Typing;
        self.last = Some(look);
        vec![Action::Journal(Written::Intent), Action::Paste]
    }

    /// D9: the line is in the pane, as far as we can act on it.
    pub(super) fn typed(&mut self, look: Option<Look>, now: Time) -> Vec<Action> {
        self.failures = 0;
        // Without a picture from before, whether anything was drawn cannot be told.
        self.phase = Phase::Typed(Typed::fresh(now, self.before.picture.is_none()));
        self.look_at = now + step_after(0);
        self.last = look;
        vec![
            Action::Report(Stage::Typed {
                tag: self.standing.0.clone(),
            }),
            Action::Journal(Written::Typed),
        ]
    }

    /// D8 and D9.
    pub(super) fn text_sent(
        &mut self,
        outcome: Outcome,
        look: Option<Look>,
        now: Time,
    ) -> Vec<Action> {
        if self.phase != Phase::Typing {
            return Vec::new();
        }
        match outcome {
            Outcome::Sent => self.typed(look, now),
            Outcome::Held | Outcome::ReadOnly => {
                self.texts -= 1;
                self.phase = Phase::Looking;
                self.look_at = now;
                self.failed(now)
            }
            Outcome::Unknown => {
                self.phase = Phase::Unsure { since: now };
                self.look_at = now;
                self.failed(now)
            }
        }
    }

    /// Counts a send that did not happen.
    pub(super) fn failed(&mut self, now: Time) -> Vec<Action> {
        self.failures += 1;
        if self.failures < FAILURES {
            return Vec::new();
        }
        self.failures = 0;
        self.look_at = now + HELD;
        self.tell(("unknown", "tmux"), "three sends did not happen", now)
    }

    /// A look decides whether a text whose child failed arrived: the line drawn late is waited for as after any text.
    pub(super) fn look_unsure(&mut self, since: Time, look: Look, now: Time) -> Vec<Action> {
        if look.lost {
            return self.unconfirmed("pane_gone");
        }
        if self.stands(&look) || look.verdict.composer == Standing::OwnLinePlus {
            return self.typed(Some(look), now);
        }
        if let Some(evidence) = self.evidence(&look) {
            return self.submitted(evidence);
        }
        self.look_at = now + step_after(0);
        if now.since(since) >= UNSURE_MS && look.verdict.composer != Standing::None {
            self.phase = Phase::Looking;
        }
        Vec::new()
    }
}
