//! What the hooks of this machine could not send is sent for them (usage.md 5): an agent that has nothing to do runs no hook.

use std::time::Duration;

use super::Happened;
use super::Pager;
use crate::hook::resend;
use crate::pager::log::Level;
use crate::store::Time;

/// Distance of two tries.
const EVERY: Duration = Duration::from_secs(30);

/// When the next try is due, and whether one is under way.
#[derive(Debug, Default)]
pub(super) struct Spooling {
    at: Time,
    sending: bool,
}

impl Pager {
    pub(super) fn start_spooling(&mut self, now: Time) {
        if self.setup.once || self.spooling.sending || now < self.spooling.at {
            return;
        }
        self.spooling = Spooling {
            at: now + EVERY,
            sending: true,
        };
        let env = self.setup.env.clone();
        self.beside(async move { Happened::Resent(resend::waiting(&env).await) });
    }

    pub(super) fn take_resent(&mut self, said: Vec<(String, String)>, now: Time) {
        self.spooling.sending = false;
        for (part, note) in said {
            self.log.line(Level::Warn, now, &part, "-", note);
        }
    }

    pub(super) fn spooling_due(&self) -> Option<Time> {
        let serves = !self.setup.once && self.stopping.is_none();
        (serves && !self.spooling.sending).then_some(self.spooling.at)
    }
}
