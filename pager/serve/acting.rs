//! Deliveries: events in, actions out (pager.md 3 and 5).

use std::time::Duration;

use super::HANDS;
use super::Happened;
use super::Pager;
use super::QUIET_SECONDS;
use crate::api::Stage;
use crate::pager::deliver;
use crate::pager::deliver::Action;
use crate::pager::deliver::Delivery;
use crate::pager::deliver::End;
use crate::pager::deliver::Event;
use crate::pager::deliver::Look;
use crate::pager::deliver::Phase;
use crate::pager::facts::Absent;
use crate::pager::journal::Stage as Written;
use crate::pager::journal::Unsent;
use crate::pager::lock;
use crate::pager::log::Level;
use crate::pager::look::Glance;
use crate::pager::part::Part;
use crate::pager::report::is_kept;
use crate::pager::rules::Text;
use crate::pager::rules::Version;
use crate::pager::target::PartKey;
use crate::pager::tmux::Keys;
use crate::pager::tmux::Outcome;
use crate::pager::tmux::listing::Listing;
use crate::store;
use crate::store::Time;

/// Between Enter and the look in its child.
const AFTER_ENTER: Duration = Duration::from_millis(150);
/// A wake held this long is told once more, louder.
const LONG_MS: i64 = 600_000;

impl Pager {
    /// Gives a delivery a look, with slot and lock if it wants them and they are free.
    pub(super) fn feed_look(&mut self, key: &PartKey, mut look: Look, now: Time) {
        let used = self
            .parts
            .values()
            .filter(|part| part.hands.is_some())
            .count();
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        part.waits_for_hands = false;
        let Some(delivery) = part
            .delivery
            .as_ref()
            .filter(|delivery| !delivery.is_done())
        else {
            return;
        };
        if part.hands.is_none() && delivery.wants_hands(&look, now) && self.stopping.is_none() {
            if used >= HANDS {
                part.waits_for_hands = true;
            } else if let Some(pane) = &part.seen {
                match lock::take(&lock::pane_path(&pane.identity), &self.setup.holder) {
                    Ok(hands) => part.hands = Some(hands),
                    Err(error) => {
                        let text = format!("pane lock of {}: {error}", pane.identity.pane);
                        self.tell_once(Level::Warn, now, text);
                    }
                }
            }
        }
        look.claimed = self.parts.get(key).is_some_and(|part| part.hands.is_some());
        self.feed(key, Event::Looked(look), now);
    }

    /// Takes one step of the part's delivery and does what follows from it.
    pub(super) fn feed(&mut self, key: &PartKey, event: Event, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let Some(delivery) = part.delivery.take() else {
            return;
        };
        let (before, tag) = (delivery.word(), delivery.tag.clone());
        let (delivery, actions) = deliver::step(delivery, event, now);
        if delivery.word() != before && delivery.held_by().is_none() {
            self.log
                .line(Level::Info, now, &key.part, &tag, delivery.word());
        }
        let long = delivery.held_since.map(|since| now.since(since));
        if delivery.held_since.is_none() {
            part.warned = false;
        } else if long.is_some_and(|long| long >= LONG_MS) && !part.warned && !delivery.is_done() {
            part.warned = true;
            let (reason, detail) = delivery.held_by().unwrap_or_default();
            let text = format!("held for 10 min: {reason}/{detail}");
            self.log.line(Level::Warn, now, &key.part, &tag, text);
        }
        part.delivery = Some(delivery);
        self.act(key, actions, now);
        self.free_hands(key, now);
        self.begin_offered(key, now);
    }

    /// Begins the delivery of the wake last offered, once what stands in its way is over: a delivery an earlier process left is settled
    /// first, a child under way is waited for, and what ended does not begin again.
    pub(super) fn begin_offered(&mut self, key: &PartKey, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let Some((offer, came_at)) = part.offer.clone() else {
            return;
        };
        if let Some(delivery) = &part.delivery {
            let over = if delivery.is(&offer) {
                matches!(delivery.phase, Phase::Done(End::Withdrawn))
            } else {
                delivery.is_done() || !(delivery.is_restarted() || part.sending)
            };
            if !over {
                return;
            }
        }
        if self.stopping.is_some() {
            return;
        }
        let nudge = format!("wake, nudge {}", offer.nudge);
        self.log
            .line(Level::Info, now, &key.part, &offer.tag, nudge);
        let mut delivery = Delivery::new(&offer, part.not_before, now);
        delivery.lease_until = came_at + Duration::from_millis(offer.lease_ms);
        part.delivery = Some(delivery);
        part.hands = None;
    }

    fn act(&mut self, key: &PartKey, actions: Vec<Action>, now: Time) {
        for action in actions {
            match action {
                Action::Report(stage) => self.push_report(key, stage, now),
                Action::Journal(stage) => {
                    let must = matches!(stage, Written::Intent | Written::Entering);
                    if !self.write_journal(key, stage, now) && must {
                        self.feed(key, Event::JournalFailed, now);
                        return;
                    }
                }
                Action::Paste => self.send(key, false, now),
                Action::Enter => self.send(key, true, now),
            }
        }
    }

    fn push_report(&mut self, key: &PartKey, stage: Stage, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let Some(delivery) = &part.delivery else {
            return;
        };
        let report = Unsent {
            event: store::new_id(),
            wake_id: delivery.wake.clone(),
            nudge: delivery.nudge,
            at: now.rfc3339(),
            stage,
        };
        let text = match &report.stage {
            Stage::Blocked {
                reason,
                detail,
                evidence,
            } => format!("{} {reason}/{detail} {evidence}", delivery.word()),
            Stage::Submitted {
                evidence, enters, ..
            } => format!("submitted, {enters} enters: {evidence}"),
            Stage::Unconfirmed { why } => format!("unconfirmed({why})"),
            Stage::Released => "released".to_owned(),
            Stage::Confirm | Stage::Typed { .. } => String::new(),
        };
        if !text.is_empty() {
            self.log
                .line(Level::Info, now, &key.part, &delivery.tag, text);
        }
        if is_kept(&report.stage) {
            part.journal.unsent.push(report.clone());
        }
        part.outbox.push(report, now);
    }

    fn write_journal(&mut self, key: &PartKey, stage: Written, now: Time) -> bool {
        let Some(part) = self.parts.get_mut(key) else {
            return false;
        };
        if let Some(delivery) = &part.delivery {
            part.journal.record = Some(delivery.record(stage, now));
        }
        if stage != Written::Done
            && let Some(pane) = &part.seen
        {
            part.journal.identity = Some(pane.identity.clone());
        }
        match part.journal.save() {
            Ok(()) => true,
            Err(error) => {
                let text = format!("journal: {error}");
                self.log.line(Level::Warn, now, &key.part, "-", text);
                false
            }
        }
    }

    /// Starts the child that pastes the line or presses Enter in the pane as it was last seen.
    fn send(&mut self, key: &PartKey, enter: bool, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let (Some(seen), Some(delivery)) = (part.seen.clone(), &part.delivery) else {
            let event = if enter {
                Event::EnterSent
            } else {
                Event::TextSent
            };
            return self.feed(key, event(Outcome::Held, None), now);
        };
        let agent = part
            .verdict
            .as_ref()
            .and_then(|(verdict, _)| verdict.agent.as_ref());
        let table = agent.and_then(|agent| {
            let version = agent.version.as_deref().and_then(Version::parse);
            self.setup.rules.table(&agent.cli, version.as_ref())
        });
        let gap = Duration::from_millis(table.map_or(300, |table| table.gap_ms));
        let letters = table.is_some_and(|table| table.text == Text::Keys);
        let line = delivery.line.clone();
        let quiet = Self::wall() / 1_000 - seen.window_activity >= QUIET_SECONDS;
        part.sending = true;
        part.acted_at = now;
        let (tmux, key) = (self.tmux.clone(), key.clone());
        self.beside(async move {
            let (keys, wait) = match (enter, letters) {
                (true, _) => (Keys::Enter, AFTER_ENTER),
                (false, true) => (Keys::Letters(&line), gap),
                (false, false) => (Keys::Paste(&line), gap),
            };
            let (outcome, listing) = tmux.send(keys, &seen, quiet, wait).await;
            Happened::Sent {
                key,
                pane: seen.identity.pane,
                enter,
                outcome,
                listing,
            }
        });
    }

    pub(super) fn take_sent(
        &mut self,
        key: &PartKey,
        pane: &str,
        enter: bool,
        outcome: Outcome,
        listing: Option<Listing>,
        now: Time,
    ) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        part.sending = false;
        part.acted_at = now;
        if outcome != Outcome::Sent {
            let what = if enter { "enter" } else { "text" };
            let text = format!("{what} not sent: {outcome:?}");
            self.log.line(Level::Info, now, &key.part, "-", text);
        }
        if outcome == Outcome::ReadOnly {
            part.refused_read_only(now);
        }
        let look = listing.and_then(|listing| {
            let facts = listing.pane(pane).cloned().ok_or(Absent::Gone);
            let glance = Glance::of_send(pane, listing);
            self.polling.changed |=
                part.judge(&self.setup.rules, &glance, facts, Self::wall(), now);
            part.as_look(now, &glance)
        });
        let event = if enter {
            Event::EnterSent(outcome, look)
        } else {
            Event::TextSent(outcome, look)
        };
        self.feed(key, event, now);
    }

    /// Gives slot and lock back where they are not needed any more, and lets those waiting for one look at once.
    fn free_hands(&mut self, key: &PartKey, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let needed = part.delivery.as_ref().is_some_and(Delivery::needs_hands);
        if needed || part.hands.take().is_none() {
            return;
        }
        let used = self
            .parts
            .values()
            .filter(|part| part.hands.is_some())
            .count();
        let mut waiting: Vec<&mut Part> = self
            .parts
            .values_mut()
            .filter(|part| part.waits_for_hands)
            .collect();
        waiting.sort_by_key(|part| part.delivery.as_ref().map(|delivery| delivery.since));
        for part in waiting.into_iter().take(HANDS.saturating_sub(used)) {
            if let Some(delivery) = &mut part.delivery {
                delivery.look_at = now;
            }
        }
    }

    /// A part whose pane no longer names it: its lease goes back, it is served no more.
    pub(super) fn leave(&mut self, key: &PartKey, now: Time) {
        self.log
            .line(Level::Info, now, &key.part, "-", "no longer joined");
        self.release(key, now);
        self.parts.remove(key);
        self.polling.changed = true;
    }
}
