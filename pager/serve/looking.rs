//! Looks: which panes are read when, and which pane is which part's (pager.md 1 and 4).

use std::collections::BTreeMap;
use std::time::Duration;

use super::Happened;
use super::LIST;
use super::Pager;
use crate::pager::facts::Absent;
use crate::pager::facts::Identity;
use crate::pager::facts::PaneFacts;
use crate::pager::log::Level;
use crate::pager::look;
use crate::pager::look::Glance;
use crate::pager::setup::Quit;
use crate::pager::target;
use crate::pager::target::Match;
use crate::pager::target::PartKey;
use crate::pager::tmux::listing::Listing;
use crate::store::Time;

/// A screen that moved when nothing is held is read once more after this, so that an idle pane is known as idle.
const FOLLOW: Duration = Duration::from_millis(1_600);

/// How often.
const FOLLOWED: u8 = 2;

/// Parts that more than one pane names, with those panes.
type Twice = BTreeMap<PartKey, Vec<String>>;

impl Pager {
    /// When the next look begins; never while one runs.
    pub(super) fn look_due(&self) -> Option<Time> {
        if self.looking {
            return None;
        }
        let list = self.stopping.is_none().then_some(self.list_at);
        let parts = self.parts.values().filter_map(|part| part.look_at());
        parts.chain(list).min()
    }

    pub(super) fn start_look(&mut self, now: Time) {
        if self.look_due().is_none_or(|due| due > now) {
            return;
        }
        // Only panes just listed are captured: a capture that fails drops those behind it.
        let panes: Vec<String> = self
            .parts
            .values()
            .filter(|part| part.look_at().is_some_and(|at| at <= now))
            .filter_map(|part| part.listed.clone())
            .collect();
        let pinned = self.parts.values().all(|part| part.expected.is_some());
        let names = self.setup.fixed.is_some() && !pinned;
        self.looking = true;
        self.list_at = now + LIST;
        let tmux = self.tmux.clone();
        self.beside(async move {
            Happened::Looked {
                started: now,
                glance: look::take(&tmux, panes, names).await,
            }
        });
    }

    pub(super) fn take_look(
        &mut self,
        started: Time,
        glance: &Glance,
        now: Time,
    ) -> Result<(), Quit> {
        self.looking = false;
        self.listed = true;
        let twice = match &glance.listing {
            Err(trouble) => {
                let text = trouble.to_string();
                self.tell_once(Level::Warn, now, text);
                Twice::new()
            }
            Ok(listing) => {
                self.told.retain(|text| !text.starts_with("no server on"));
                self.place(listing, now)?
            }
        };
        let mut keys: Vec<(Time, PartKey)> = self
            .parts
            .values()
            .map(|part| {
                let since = part.open_delivery().map_or(now, |delivery| delivery.since);
                (since, part.key.clone())
            })
            .collect();
        // The longest-held lease has the first choice of slots.
        keys.sort();
        for (_, key) in keys {
            let pane = self.pane_of(&key, &twice, glance);
            self.look_at_part(&key, pane, started, glance, now);
        }
        Ok(())
    }

    /// Finds the parts' panes anew, and parts that were not known. Gives those with more than one pane.
    fn place(&mut self, listing: &Listing, now: Time) -> Result<Twice, Quit> {
        if let Some((key, target)) = self.setup.fixed.clone() {
            self.pin(&key, &target, listing, now)?;
            return Ok(Twice::new());
        }
        let mut found = target::discover(listing, self.setup.code.as_deref());
        for panes in found.values_mut() {
            panes.retain(|pane| {
                let own = self.setup.is_own(pane);
                if own && self.told.insert(format!("own {}", pane.identity.pane)) {
                    let text = format!("{} is the pager's own pane: skipped", pane.identity.pane);
                    self.log.general(Level::Warn, now, text);
                }
                !own
            });
        }
        let joined: Vec<PartKey> = found
            .iter()
            .filter(|(_, panes)| !panes.is_empty())
            .map(|(key, _)| key.clone())
            .collect();
        for key in &joined {
            if !self.parts.contains_key(key) {
                self.log
                    .line(Level::Info, now, &key.part, "-", "joined pane found");
                self.open_part(key.clone(), now)?;
            }
        }
        let left: Vec<PartKey> = self
            .parts
            .values()
            .filter(|part| !joined.contains(&part.key) && has_left(part.expected.as_ref(), listing))
            .map(|part| part.key.clone())
            .collect();
        for key in left {
            self.leave(&key, now);
        }
        let mut twice = Twice::new();
        for (key, panes) in found {
            let Some(part) = self.parts.get_mut(&key) else {
                continue;
            };
            match panes[..] {
                [pane] if part.expected.as_ref() != Some(&pane.identity) => {
                    part.expected = Some(pane.identity.clone());
                    part.listed = None;
                    part.seen = None;
                    part.read_activity = None;
                }
                [_] | [] => {}
                _ => {
                    let mut ids: Vec<String> = panes
                        .iter()
                        .map(|pane| pane.identity.pane.clone())
                        .collect();
                    ids.sort();
                    twice.insert(key, ids);
                }
            }
        }
        Ok(twice)
    }

    /// `--target`: matched once, then pinned.
    fn pin(
        &mut self,
        key: &PartKey,
        target: &str,
        listing: &Listing,
        now: Time,
    ) -> Result<(), Quit> {
        let Some(part) = self
            .parts
            .get_mut(key)
            .filter(|part| part.expected.is_none())
        else {
            return Ok(());
        };
        match target::find(target, listing) {
            Match::One(pane) if self.setup.is_own(&pane) => {
                Err(Quit::bad(format!("{target} is the pager's own pane")))
            }
            Match::One(pane) => {
                let text = format!("{target} is {}", pane.identity.pane);
                part.expected = Some(pane.identity.clone());
                self.log.line(Level::Info, now, &key.part, "-", text);
                Ok(())
            }
            Match::Several(panes) => Err(Quit::bad(format!(
                "{target} names more than one pane: {}",
                panes.join(", ")
            ))),
            Match::None { near } => {
                let near = match &near[..] {
                    [] => String::new(),
                    near => format!("; near it: {}", near.join(", ")),
                };
                let text = format!("no_pane/gone: no pane {target}{near}");
                if self.setup.once {
                    return Err(Quit::bad(text));
                }
                self.tell_once(Level::Warn, now, text);
                Ok(())
            }
        }
    }

    /// The part's pane as this look found it.
    fn pane_of(&self, key: &PartKey, twice: &Twice, glance: &Glance) -> Result<PaneFacts, Absent> {
        let listing = match (&glance.listing, glance.absent()) {
            (Ok(listing), None) => listing,
            (_, absent) => return Err(absent.unwrap_or(Absent::Unreadable)),
        };
        if let Some(panes) = twice.get(key) {
            return Err(Absent::Twice(panes.clone()));
        }
        let expected = self.parts.get(key).and_then(|part| part.expected.as_ref());
        let Some(id) = expected.map(|expected| expected.pane.as_str()) else {
            return Err(Absent::Gone);
        };
        if listing.bad.contains(id) {
            return Err(Absent::Unreadable);
        }
        listing.pane(id).cloned().ok_or(Absent::Gone)
    }

    fn look_at_part(
        &mut self,
        key: &PartKey,
        pane: Result<PaneFacts, Absent>,
        started: Time,
        glance: &Glance,
        now: Time,
    ) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        if part.sending || started < part.acted_at {
            // A send looks for itself, and what was seen before it is out of date.
            return;
        }
        if let (Ok(pane), Ok(listing)) = (&pane, &glance.listing) {
            part.sessions = listing
                .sessions(&pane.identity.pane)
                .map(str::to_owned)
                .collect();
            let asked = glance.asked.contains(&pane.identity.pane);
            let same = part.expected.as_ref() == Some(&pane.identity);
            if same && !asked {
                part.listed = Some(pane.identity.pane.clone());
                // A held wake's pane is looked at by its own clock.
                let held = part.open_delivery().is_some();
                let news = part.is_unsettled() || part.read_activity != Some(pane.window_activity);
                if news && !held {
                    part.peek_at = Some(now);
                    part.followed = 0;
                }
                return;
            }
        } else {
            part.sessions.clear();
        }
        let changed = part.judge(&self.setup.rules, glance, pane, Self::wall(), now);
        part.peek_at = None;
        if part.open_delivery().is_none() && part.is_unsettled() && part.followed < FOLLOWED {
            // Starting ends by itself; moving may go on as long as it likes.
            part.followed += u8::from(!part.is_starting());
            part.peek_at = Some(now + FOLLOW);
        }
        self.polling.changed |= changed;
        if let Some(look) = part.as_look(started, glance) {
            self.feed_look(key, look, now);
        }
    }
}

/// Whether the pane is still there and the same, but no longer names the part.
fn has_left(expected: Option<&Identity>, listing: &Listing) -> bool {
    expected.is_some_and(|expected| {
        listing
            .pane(&expected.pane)
            .is_some_and(|pane| pane.identity == *expected)
    })
}
