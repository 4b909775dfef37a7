//! The pager's program against real tmux, fake agents, and a scripted relay (pager.md 9 and 11).

mod canary;
mod capture;
mod crash;
mod hazards;
mod poll;
mod reading;
mod screens;
mod sessions;
mod start;
mod typing;

use std::time::Duration;

use crate::support::fake_agent::Agent;
use crate::support::pager::Home;
use crate::support::pager::Pager;
use crate::support::scripted_relay::CODE;
use crate::support::scripted_relay::Relay;
use crate::support::tmux::Tmux;
use crate::support::wait::SLACK;
use crate::support::wait::throughout;
use crate::support::wait::until;

/// Long enough for anything that is to happen at all.
const LONG: Duration = Duration::from_secs(30 * SLACK as u64);

/// One joined agent, its relay, and a pager that serves it.
struct World {
    tmux: Tmux,
    relay: Relay,
    home: Home,
    agent: Agent,
    pager: Option<Pager>,
}

impl World {
    /// With the agent's knobs; the pager runs.
    fn new(knobs: &str) -> Self {
        let mut world = Self::without_pager(knobs);
        world.start();
        world
    }

    fn without_pager(knobs: &str) -> Self {
        Self::of("claude", knobs)
    }

    /// With an agent of that style; no pager runs.
    fn of(style: &'static str, knobs: &str) -> Self {
        let tmux = Tmux::new();
        let agent = Agent::named(style, &tmux, "web", knobs, "");
        tmux.join(&agent.pane, CODE, "web");
        Self {
            tmux,
            relay: Relay::start(&["web"]),
            home: Home::new(),
            agent,
            pager: None,
        }
    }

    fn start(&mut self) {
        self.pager = Some(self.home.pager(&self.tmux, &self.relay, &[]));
    }

    /// Waits until the pager told the relay of the pane.
    fn known(&self) {
        until(LONG, "the pane is known", || {
            let script = self.relay.script();
            let last = script.polls.last();
            last.is_some_and(|heard| heard.call.parts.iter().any(|part| part.pane.is_some()))
        });
    }

    /// Waits for a stage of the part.
    fn stage(&self, stage: &str) {
        self.relay.wait_for("web", stage, LONG);
    }

    /// Watches that the agent gets no byte.
    fn untouched(&self, span: Duration) {
        throughout(span, "no byte reaches the agent", || {
            self.agent.bytes().is_empty()
        });
    }

    /// Waits until the agent was sent one prompt, and sees that it stays the only one and that it is `line`.
    fn one_submit(&self, line: &str) {
        until(LONG, "a prompt is submitted", || {
            !self.agent.submits().is_empty()
        });
        assert_eq!(self.agent.submits(), [line]);
    }
}
