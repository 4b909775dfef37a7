//! What keeps the pager's hands off a pane (pager.md 11, cases 33–60).

use rustix::process::Signal;
use rustix::process::kill_process;

use super::*;
use crate::support::scripted_relay::Instead;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;
use relayroom::api::Stage;

/// What is held is typed within this once the reason is gone (pager.md 10).
const FREED: Duration = Duration::from_secs(5 * SLACK as u64);

#[test]
fn pager_033_case_t10_numbered_dialog_gets_no_byte() {
    let world = World::new("--dialog start");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    world.untouched(Duration::from_secs(4));
    world.agent.knob("dialog close");
    world.relay.wait_for("web", "submitted 1", FREED);
    world.one_submit(&line(TAG));
}

#[test]
fn pager_034_case_t10_a_dialog_in_the_gap_gets_no_enter() {
    let world = World::new("--dialog after-text");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    throughout(
        Duration::from_secs(4),
        "no Enter, no key into the dialog",
        || world.agent.enters() == 0 && world.agent.dialog_keys() == 0,
    );
    world.agent.knob("dialog close");
    world.relay.wait_for("web", "submitted 1", FREED);
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_035_a_blocked_turn_is_a_dialog_whatever_shows() {
    let world = World::new("");
    world.relay.change(|script| {
        script.parts.get_mut("web").unwrap().turn.state = "blocked".to_owned();
    });
    world.relay.wake("web", 1);
    world.stage("blocked dialog/hook");
    world.untouched(Duration::from_secs(3));
}

#[test]
fn pager_037_case_t11_a_draft_is_not_touched_however_long_it_stands() {
    let world = World::new("--draft 'merge PR 10 only after'");
    world.relay.wake("web", 1);
    world.stage("blocked draft/text");
    world.untouched(Duration::from_secs(8));
    let log = world.home.log();
    assert!(
        !log.contains("merge"),
        "evidence never quotes a pane: {log}"
    );
}

#[test]
fn pager_041_case_t09_copy_mode_is_waited_out_and_not_left() {
    let world = World::new("");
    world.tmux.run(&["copy-mode", "-t", &world.agent.pane]);
    world.relay.wake("web", 1);
    world.stage("blocked mode/copy");
    world.untouched(Duration::from_secs(4));
    assert_eq!(world.tmux.ask(&world.agent.pane, "#{pane_in_mode}"), "1");
    world
        .tmux
        .run(&["send-keys", "-t", &world.agent.pane, "-X", "cancel"]);
    world.relay.wait_for("web", "submitted 1", FREED);
}

/// Lets the relay take no `typed` until told: the pager stays between text and Enter.
fn hold_typed(world: &World) {
    world.relay.change(|script| {
        script.report_instead = Box::new(|call| {
            matches!(call.stage, Stage::Typed { .. }).then_some(Instead::Status(503, None))
        });
    });
}

fn let_typed(world: &World) {
    world
        .relay
        .change(|script| script.report_instead = Box::new(|_| None));
}

#[test]
fn pager_041_case_t09_copy_mode_between_text_and_enter_keeps_enter_back() {
    let mut world = World::without_pager("");
    hold_typed(&world);
    world.start();
    world.relay.wake("web", 1);
    world.stage("typed");
    world.tmux.run(&["copy-mode", "-t", &world.agent.pane]);
    let_typed(&world);
    world.stage("blocked mode/copy");
    throughout(Duration::from_secs(3), "no Enter", || {
        world.agent.enters() == 0
    });
    world
        .tmux
        .run(&["send-keys", "-t", &world.agent.pane, "-X", "cancel"]);
    world.relay.wait_for("web", "submitted 1", FREED);
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_042_a_pane_without_input_or_in_step_with_others_gets_no_byte() {
    let world = World::new("");
    world
        .tmux
        .run(&["select-pane", "-d", "-t", &world.agent.pane]);
    world.relay.wake("web", 1);
    world.stage("blocked mode/input_off");
    world
        .tmux
        .run(&["select-pane", "-e", "-t", &world.agent.pane]);
    world.tmux.run(&[
        "set-option",
        "-p",
        "-t",
        &world.agent.pane,
        "synchronize-panes",
        "on",
    ]);
    world.stage("blocked mode/synchronized");
    world.untouched(Duration::from_secs(3));
    world.tmux.run(&[
        "set-option",
        "-p",
        "-t",
        &world.agent.pane,
        "synchronize-panes",
        "off",
    ]);
    world.relay.wait_for("web", "submitted 1", FREED);
}

#[test]
fn pager_044_a_turn_without_a_hook_is_busy_until_it_ends() {
    let world = World::new("--turn 600000");
    world.agent.knob("turn begin");
    world.relay.wake("web", 1);
    world.stage("blocked busy/marker");
    world.untouched(Duration::from_secs(5));
    world.agent.knob("turn end");
    world.relay.wait_for("web", "submitted 1", FREED);
}

#[test]
fn pager_050_a_busy_turn_is_busy_though_the_screen_is_idle() {
    let world = World::new("");
    world.relay.change(|script| {
        script.parts.get_mut("web").unwrap().turn.state = "busy".to_owned();
    });
    world.relay.wake("web", 1);
    world.stage("blocked busy/turn");
    until(LONG, "the screen's own verdict is told", || {
        let script = world.relay.script();
        let pane = script.polls.last().unwrap().call.parts[0].pane.clone();
        pane.is_some_and(|pane| pane.state == "busy" && pane.screen == "ready")
    });
    world.untouched(Duration::from_secs(2));
}

#[test]
fn pager_053_case_t12_a_shell_gets_no_byte() {
    let tmux = Tmux::new();
    let agent = Agent::under_shell(&tmux, "web", "", "exec bash --norc");
    tmux.join(&agent.pane, CODE, "web");
    let relay = Relay::start(&["web"]);
    let home = Home::new();
    let _pager = home.pager(&tmux, &relay, &[]);
    agent.knob("quit 0");
    until(LONG, "a shell is there", || {
        tmux.screen(&agent.pane).contains('$') || tmux.screen(&agent.pane).contains('#')
    });
    relay.wake("web", 1);
    relay.wait_for("web", "blocked no_agent/shell", LONG);
    throughout(Duration::from_secs(4), "nothing is typed", || {
        !tmux.screen(&agent.pane).contains("relayroom")
    });
    assert!(agent.bytes().is_empty());
}

#[test]
fn pager_055_case_t13_an_agent_under_a_shell_that_waits_is_found() {
    let tmux = Tmux::new();
    let agent = Agent::under_shell(&tmux, "web", "", "true");
    tmux.join(&agent.pane, CODE, "web");
    let relay = Relay::start(&["web"]);
    relay.wake("web", 1);
    let home = Home::new();
    let _pager = home.pager(&tmux, &relay, &[]);
    relay.wait_for("web", "submitted 1", LONG);
}

#[test]
fn pager_055_codex_is_found_by_its_own_rules() {
    let tmux = Tmux::new();
    let agent = Agent::named(
        "codex",
        &tmux,
        "web",
        "--placeholder dim --paste-window 120",
        "",
    );
    tmux.join(&agent.pane, CODE, "web");
    let relay = Relay::start(&["web"]);
    relay.wake("web", 1);
    let home = Home::new();
    let _pager = home.pager(&tmux, &relay, &[]);
    relay.wait_for("web", "submitted 1", LONG);
    assert_eq!(agent.submits(), [line(TAG)]);
    let script = relay.script();
    let parts = script.polls.iter().flat_map(|heard| &heard.call.parts);
    assert!(
        parts
            .clone()
            .any(|part| part.cli.as_deref() == Some("codex"))
    );
}

#[test]
fn pager_056_a_stopped_agent_gets_no_byte_until_it_goes_on() {
    // tmux itself sets a pane's own process going again, so this one runs under a shell.
    let mut world = World::without_pager("");
    world.agent = Agent::under_shell(&world.tmux, "shell", "", "true");
    world.tmux.run(&["kill-session", "-t", "web"]);
    world.tmux.join(&world.agent.pane, CODE, "web");
    world.start();
    let pid = world.agent.pid();
    kill_process(pid, Signal::STOP).unwrap();
    world.relay.wake("web", 1);
    world.stage("blocked no_agent/stopped");
    world.untouched(Duration::from_secs(4));
    kill_process(pid, Signal::CONT).unwrap();
    world.relay.wait_for("web", "submitted 1", FREED);
}

#[test]
fn pager_056_a_dead_pane_is_dead() {
    let world = World::new("");
    world
        .tmux
        .run(&["set-option", "-t", "web", "remain-on-exit", "on"]);
    world.agent.knob("quit 7");
    // tmux calls a pane dead a moment before it knows how its process ended.
    until(LONG, "the pane is dead", || {
        world.tmux.ask(&world.agent.pane, "#{pane_dead_status}") == "7"
    });
    world.relay.wake("web", 1);
    world.stage("blocked no_agent/dead");
    assert!(
        world.home.log().contains("status 7"),
        "{}",
        world.home.log()
    );
}

#[test]
fn pager_058_a_key_of_a_client_on_this_pane_is_a_person() {
    let world = World::new("");
    let outer = Tmux::new();
    let socket = world.tmux.socket();
    let attach = format!("env -u TMUX tmux -S {} attach -t web", socket.display());
    let person = outer.session("person", &attach);
    until(LONG, "a client is there", || {
        !world.tmux.run(&["list-clients"]).is_empty()
    });
    outer.run(&["send-keys", "-t", &person, "x", "BSpace"]);
    world.relay.wake("web", 1);
    world.stage("blocked busy/person");
    world.relay.wait_for("web", "submitted 1", LONG);
}
