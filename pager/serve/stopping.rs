//! The end: leases go back at once, what stands between text and Enter may finish, and a second later everything is over (pager.md 2,
//! "Stop").

use std::time::Duration;

use super::Happened;
use super::Pager;
use crate::api::Stage;
use crate::pager::deliver::Event;
use crate::pager::journal::Unsent;
use crate::pager::log::Level;
use crate::pager::report;
use crate::pager::target::PartKey;
use crate::store;
use crate::store::Time;

/// Until then what is between text and Enter may finish.
const FINISH: Duration = Duration::from_millis(600);
/// Then the answers to `released` are not waited for any longer.
const WAIT: Duration = Duration::from_millis(900);

/// A stop under way.
#[derive(Debug)]
pub(super) struct Stopping {
    since: Time,
    /// The exit code.
    pub(super) code: u8,
    /// `released` reports under way.
    releasing: usize,
}

impl Pager {
    /// A stop signal came: no delivery starts any more.
    pub(super) fn stop(&mut self, code: u8) {
        if self.stopping.is_some() {
            return;
        }
        let now = self.now();
        self.log.general(Level::Info, now, "stopping");
        self.stopping = Some(Stopping {
            since: now,
            code,
            releasing: 0,
        });
        self.polling.abort();
        self.release_those(now, |between| !between);
    }

    fn release_those(&mut self, now: Time, which: impl Fn(bool) -> bool) {
        let keys: Vec<PartKey> = self
            .parts
            .values()
            .filter(|part| {
                part.open_delivery()
                    .is_some_and(|delivery| which(delivery.is_between()))
            })
            .map(|part| part.key.clone())
            .collect();
        for key in keys {
            self.release(&key, now);
        }
    }

    /// Gives the part's lease back, past whatever else its outbox holds.
    pub(super) fn release(&mut self, key: &PartKey, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        let Some(delivery) = part.open_delivery() else {
            return;
        };
        let released = Unsent {
            event: store::new_id(),
            wake_id: delivery.wake.clone(),
            nudge: delivery.nudge,
            at: now.rfc3339(),
            stage: Stage::Released,
        };
        if let Some(delivery) = part.delivery.take() {
            part.delivery = Some(crate::pager::deliver::step(delivery, Event::Stop, now).0);
        }
        part.hands = None;
        let request = report::request(&self.setup.pager, key, &released);
        let client = self.client.clone();
        if let Some(stopping) = &mut self.stopping {
            stopping.releasing += 1;
        }
        self.beside(async move {
            // Unheard it is, the lease ends by itself.
            let _ = client.report(&request).await;
            Happened::Released
        });
    }

    pub(super) fn released(&mut self) {
        if let Some(stopping) = &mut self.stopping {
            stopping.releasing = stopping.releasing.saturating_sub(1);
        }
    }

    pub(super) fn stop_due(&self) -> Option<Time> {
        let stopping = self.stopping.as_ref()?;
        let open = self
            .parts
            .values()
            .any(|part| part.open_delivery().is_some());
        Some(stopping.since + if open { FINISH } else { WAIT })
    }

    /// Whether everything that can be done before the end is done.
    pub(super) fn has_stopped(&mut self, now: Time) -> bool {
        let Some(since) = self.stopping.as_ref().map(|stopping| stopping.since) else {
            return false;
        };
        if now >= since + FINISH {
            self.release_those(now, |_| true);
        }
        let open = self
            .parts
            .values()
            .any(|part| part.open_delivery().is_some() || part.sending || !part.outbox.is_empty());
        let releasing = self
            .stopping
            .as_ref()
            .is_some_and(|stopping| stopping.releasing > 0);
        now >= since + WAIT || !(open || releasing)
    }

    /// Last things: sessions show nothing of ours any more.
    pub(super) async fn end(&mut self) {
        self.unshow().await;
        let now = self.now();
        self.log.general(Level::Info, now, "end");
    }
}
