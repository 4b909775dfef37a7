//! Delivery: from a wake in a poll answer to the report of what became of its line, as a pure function (pager.md 3, D1–D20).
//!
//! [`step`] takes a [`Delivery`], an [`Event`] and the time, and gives back the delivery and what is to be done, in order. It promises, for
//! any string of events: no key or text before the relay confirmed, at most two texts and two Enters per nudge, no text while one of our
//! lines stands in the composer, no Enter while anything but that line does, and every delivery ends or says what holds it.

mod after;
mod before;
mod event;
mod restart;
mod state;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub use self::event::Action;
pub use self::event::Event;
pub use self::event::Look;
pub use self::state::Delivery;
pub use self::state::End;
pub use self::state::Phase;
pub use self::state::Typed;
use super::journal::Stage as Written;
use super::read::Squeezed;
use crate::api::MAX_TEXT;
use crate::api::Stage;
use crate::api::WakeOffer;
use crate::store::Time;

/// Distance of looks while something holds the line up.
const HELD: Duration = Duration::from_secs(2);
/// A reason that stays is reported again after this.
const TELL_AGAIN_MS: i64 = 60_000;
/// Oldest look a text or an Enter may rest on.
const FRESH_MS: i64 = 500;
/// Distances of the looks for evidence; then every [`HELD`].
const STEPS_MS: [u64; 4] = [300, 600, 1_200, 2_400];
/// Texts and Enters per nudge.
const MOST: u32 = 2;
/// Sends in a row that did not happen before tmux itself is named as the reason.
const FAILURES: u32 = 3;

/// Takes one step.
#[must_use]
pub fn step(mut delivery: Delivery, event: Event, now: Time) -> (Delivery, Vec<Action>) {
    let actions = match event {
        Event::Offered(offer) => delivery.offered(&offer, now),
        Event::Withdrawn => delivery.withdrawn(),
        Event::Looked(look) => delivery.looked(look, now),
        Event::Confirmed(result) => delivery.confirmed(result, now),
        Event::TypedAnswered(result) => delivery.typed_answered(result, now),
        Event::TextSent(outcome, look) => delivery.text_sent(outcome, look, now),
        Event::EnterSent(outcome, look) => delivery.enter_sent(outcome, look, now),
        Event::JournalFailed => delivery.journal_failed(now),
        Event::Stop => delivery.stop(),
    };
    (delivery, actions)
}

impl Delivery {
    fn offered(&mut self, offer: &WakeOffer, now: Time) -> Vec<Action> {
        self.lease_until = now + Duration::from_millis(offer.lease_ms);
        if self.phase == Phase::Looking && self.line != offer.line {
            // A line refused once is judged again with each answer.
            self.line.clone_from(&offer.line);
            self.standing.1 = Squeezed::of(&offer.line).as_str().to_owned();
            self.look_at = now;
        }
        Vec::new()
    }

    /// D18. From the text on only the relay's answers to our reports end a nudge.
    fn withdrawn(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Looking | Phase::Confirming { .. } | Phase::Agreed { .. } => {
                self.end_untyped(End::Withdrawn)
            }
            _ => Vec::new(),
        }
    }

    fn looked(&mut self, look: Look, now: Time) -> Vec<Action> {
        match self.phase.clone() {
            Phase::Restarted { stage, reads } => self.look_restarted(stage, reads, look, now),
            Phase::Looking => self.look_looking(look, now),
            Phase::Agreed { adopt, until } => self.look_agreed(adopt, until, look, now),
            Phase::Unsure { since } => self.look_unsure(since, look, now),
            Phase::Typed(typed) => self.look_typed(typed, look, now),
            Phase::Entered { at, step } => self.look_entered(at, step, look, now),
            Phase::Confirming { .. } => {
                self.last = Some(look);
                self.look_at = now + HELD;
                Vec::new()
            }
            Phase::Typing | Phase::Pressing(_) | Phase::Done(_) => Vec::new(),
        }
    }

    fn journal_failed(&mut self, now: Time) -> Vec<Action> {
        let reason = ("unknown", "journal");
        match &mut self.phase {
            Phase::Typing => {
                self.texts -= 1;
                self.phase = Phase::Looking;
            }
            Phase::Pressing(typed) => {
                self.enters -= 1;
                self.phase = Phase::Typed(typed.clone());
            }
            // The text is in the pane and its Enter will fail here too: nothing to take back.
            _ => return Vec::new(),
        }
        self.look_at = now + HELD;
        self.tell(reason, "", now)
    }

    /// D20. What was typed stays in the journal for the next start.
    fn stop(&mut self) -> Vec<Action> {
        if self.is_done() {
            return Vec::new();
        }
        self.end(End::Released);
        vec![Action::Report(Stage::Released)]
    }

    /// D19 and what ends a nudge without knowing.
    fn unconfirmed(&mut self, why: &str) -> Vec<Action> {
        self.end(End::Unconfirmed);
        vec![
            Action::Report(Stage::Unconfirmed {
                why: why.to_owned(),
            }),
            Action::Journal(Written::Done),
        ]
    }

    fn submitted(&mut self, evidence: String) -> Vec<Action> {
        self.end(End::Submitted);
        vec![
            Action::Report(Stage::Submitted {
                evidence: evidence.chars().take(MAX_TEXT).collect(),
                enters: self.enters,
                tag: self.standing.0.clone(),
            }),
            Action::Journal(Written::Done),
        ]
    }
}

/// Whether a look is still young enough to act on.
fn is_fresh(look: &Look, now: Time) -> bool {
    now.since(look.at) < FRESH_MS
}

fn step_after(step: usize) -> Duration {
    STEPS_MS
        .get(step)
        .map_or(HELD, |millis| Duration::from_millis(*millis))
}
