//! What may happen to a pane between the pager's text and its Enter, and to its window at any time: one submit or none, and never a key to
//! whoever came after (pager.md 3, D10, D11, D19).

use super::typing::in_the_gap;
use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

/// One text and one Enter, and the prompt is our line.
fn one_of_each(world: &World) {
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_hazard_a_pane_split_in_the_gap_is_still_the_pane() {
    one_of_each(&in_the_gap(|world| {
        world
            .tmux
            .run(&["split-window", "-t", &world.agent.pane, "cat"]);
    }));
}

#[test]
fn pager_hazard_a_pane_broken_out_into_a_renamed_session_is_still_the_pane() {
    one_of_each(&in_the_gap(|world| {
        world.tmux.session("other", "cat");
        let pane = world.agent.pane.as_str();
        world.tmux.run(&["split-window", "-d", "-t", pane, "cat"]);
        world.tmux.run(&["break-pane", "-d", "-s", pane]);
        world.tmux.run(&["rename-session", "-t", "web", "renamed"]);
    }));
}

#[test]
fn pager_hazard_a_window_of_twenty_columns_in_the_gap_keeps_the_line() {
    one_of_each(&in_the_gap(|world| {
        let narrow = ["resize-window", "-t", "web", "-x", "20", "-y", "40"];
        world.tmux.run(&narrow);
    }));
}

#[test]
fn pager_hazard_an_agent_that_draws_itself_anew_all_the_time_is_woken() {
    let world = World::new("--redraw --footer-clock");
    world.relay.wake("web", 1);
    one_of_each(&world);
}

#[test]
fn pager_hazard_a_shell_after_the_agent_gets_no_enter() {
    let tmux = Tmux::new();
    // The shell shows every byte it gets.
    let agent = Agent::under_shell(&tmux, "web", "", "exec cat -v");
    tmux.join(&agent.pane, CODE, "web");
    let world = World {
        tmux,
        relay: Relay::start(&["web"]),
        home: Home::new(),
        agent,
        pager: None,
    };
    let world = super::typing::in_the_gap_of(world, |world| {
        world.agent.knob("quit 0");
        until(LONG, "the agent is gone", || {
            world.tmux.ask(&world.agent.pane, "#{pane_current_command}") == "cat"
        });
    });
    let told = || world.relay.stages("web");
    until(LONG, "it says why", || {
        told()
            .iter()
            .any(|stage| stage.starts_with("blocked no_agent"))
    });
    throughout(Duration::from_secs(3), "no Enter comes", || {
        world.agent.enters() == 0
    });
    // An Enter would have made a line of its own.
    let shown = world.tmux.screen(&world.agent.pane);
    assert!(shown.trim().is_empty(), "{shown}");
}

#[test]
fn pager_hazard_a_respawned_pane_gets_nothing() {
    let world = in_the_gap(|world| {
        let stranger = ["respawn-pane", "-k", "-t", &world.agent.pane, "cat -v"];
        world.tmux.run(&stranger);
    });
    world.stage("unconfirmed pane_gone");
    world.relay.wake("web", 2);
    world.stage("blocked no_pane/respawned");
    let shown = world.tmux.screen(&world.agent.pane);
    assert!(shown.trim().is_empty(), "{shown}");
    assert_eq!(world.agent.enters(), 0);
}

#[test]
fn pager_hazard_another_server_under_the_same_ids_gets_nothing() {
    let world = in_the_gap(|world| {
        world.tmux.kill();
        let pane = world.tmux.session("web", "cat -v");
        assert_eq!(pane, world.agent.pane, "the id is the old one");
    });
    world.stage("unconfirmed pane_gone");
    world.relay.wake("web", 2);
    world.stage("blocked no_pane/restarted");
    let shown = world.tmux.screen(&world.agent.pane);
    assert!(shown.trim().is_empty(), "{shown}");
}

#[test]
fn pager_hazard_two_machines_pagers_never_mix_their_sequences() {
    let mut world = World::new("--turn 300");
    let rival = Home::new();
    let _rival = rival.pager(&world.tmux, &world.relay, &[]);
    world.known();
    for tag in ["kqmwvz", "bbmvmj", "cdfghj", "xvwqkz"] {
        // A relay that lost its mind and leases one wake to both.
        world.relay.offer("web", tag, 1, &line(tag));
        until(LONG, "an outcome is told", || {
            world.relay.script().parts["web"].wake.is_none()
        });
    }
    world.pager.take().unwrap().stop();
    let text = String::from_utf8(world.agent.bytes()).unwrap();
    for sequence in text.split("\u{1b}[200~").skip(1) {
        let (pasted, keys) = sequence.split_once("\u{1b}[201~").unwrap();
        assert!(pasted.starts_with("relayroom: "), "{pasted:?}");
        assert!(keys.bytes().all(|key| key == b'\r'), "{keys:?}");
    }
    assert_eq!(world.agent.notes("joined"), 0);
    assert!(
        world
            .agent
            .submits()
            .iter()
            .all(|prompt| prompt.starts_with("relayroom: "))
    );
}
