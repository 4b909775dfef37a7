//! Typing: one line, once, at the right moment (pager.md 11, cases 61–77).

use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

#[test]
fn pager_000_one_message_one_line_one_submit() {
    let world = World::new("");
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
    let stages = world.relay.stages("web");
    let last: Vec<&str> = stages.iter().rev().take(2).map(String::as_str).collect();
    assert_eq!(last, ["submitted 1", "typed"]);
}
