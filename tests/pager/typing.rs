//! Typing: one line, once, at the right moment (pager.md 11, cases 61–77).

use std::process::Command;

use relayroom::api::ReportResult;
use relayroom::api::Stage;
use rustix::process::Signal;
use rustix::process::kill_process;

use super::*;
use crate::support::scripted_relay::Instead;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

#[test]
fn pager_061_case_t01_case_t02_one_message_is_one_line_and_one_submit_whatever_the_paste_window() {
    for window in [0, 40, 120, 150] {
        let world = World::new(&format!("--paste-window {window}"));
        world.relay.wake("web", 1);
        world.stage("submitted 1");
        world.one_submit(&line(TAG));
        assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
        let stages = world.relay.stages("web");
        assert_eq!(stages[stages.len() - 2..], ["typed", "submitted 1"]);
    }
}

#[test]
fn pager_061_without_bracketed_paste_too() {
    let world = World::new("--bracketed off --paste-window 120");
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_062_case_t04_case_t07_case_t23_a_line_that_breaks_a_rule_is_not_typed_and_a_right_one_is()
{
    let world = World::new("");
    let long = format!("relayroom: {} (tag {TAG})", "x".repeat(101));
    let bad = [
        format!("relayroom: 7 messages (tag {TAG})"),
        format!("relayroom: mail; more (tag {TAG})"),
        long,
        format!("relayroom: \u{1b}[31m (tag {TAG})"),
        format!("mail from relayroom (tag {TAG})"),
    ];
    for (nudge, line) in bad.iter().enumerate() {
        let nudge = u32::try_from(nudge).unwrap() + 1;
        world.relay.offer("web", TAG, nudge, line);
        until(LONG, "it is refused", || {
            let script = world.relay.script();
            script.reports.iter().any(|heard| {
                heard.call.nudge == nudge
                    && matches!(&heard.call.stage, Stage::Blocked { detail, .. } if detail == "bad_line")
            })
        });
        assert!(world.agent.bytes().is_empty(), "{line}");
    }
    world.relay.wake("web", 5);
    world.stage("submitted 1");
    let bytes = world.agent.bytes();
    let framed = format!("\u{1b}[200~{}\u{1b}[201~\r", line(TAG));
    assert_eq!(
        bytes,
        framed.as_bytes(),
        "the frame holds the line and nothing else"
    );
}

#[test]
fn pager_063_case_t03_an_ignored_enter_is_pressed_once_more() {
    let world = World::new("--ignore-enter 1");
    world.relay.wake("web", 1);
    world.stage("submitted 2");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 2));
}

#[test]
fn pager_064_the_next_nudges_press_enter_on_the_same_line() {
    let world = World::new("--ignore-enter 5");
    for nudge in 1..=2 {
        world.relay.wake("web", nudge);
        until(LONG, "it is given up", || {
            let stages = world.relay.stages("web");
            let count = stages
                .iter()
                .filter(|stage| *stage == "unconfirmed enter_ignored")
                .count();
            count == usize::try_from(nudge).unwrap()
        });
        assert_eq!(world.agent.enters(), 2 * usize::try_from(nudge).unwrap());
    }
    world.relay.wake("web", 3);
    world.stage("submitted 2");
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1, "typed once in all");
}

#[test]
fn pager_065_case_t28_an_agent_frozen_before_the_text_gets_it_once() {
    let mut world = World::without_pager("");
    // tmux itself sets a pane's own process going again, so this one runs under a shell.
    world.agent = Agent::under_shell(&world.tmux, "shell", "", "true");
    world.tmux.run(&["kill-session", "-t", "web"]);
    world.tmux.join(&world.agent.pane, CODE, "web");
    let pid = world.agent.pid();
    world.relay.change(|script| {
        script.answer = Box::new(move |call| {
            if matches!(call.stage, Stage::Confirm) && call.nudge == 1 {
                kill_process(pid, Signal::STOP).unwrap();
            }
            None
        });
    });
    world.start();
    world.relay.wake("web", 1);
    world.stage("unconfirmed not_rendered");
    kill_process(pid, Signal::CONT).unwrap();
    until(LONG, "the line is there", || world.agent.pastes() == 1);
    world.relay.wake("web", 2);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_066_case_t14_a_text_dropped_at_boot_is_typed_once_more() {
    // The reader takes an agent for starting for its first seconds, so the text falls into the end of a longer boot.
    let world = World::new("--boot 9000");
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert!(world.agent.pastes() <= 2);
}

#[test]
fn pager_067_input_dropped_for_a_minute_gets_two_texts() {
    let world = World::new("--boot 100000");
    world.relay.wake("web", 1);
    let texts = |count: usize| {
        until(LONG, "a text is sent", || world.agent.pastes() == count);
        // Something is drawn after each: it is awake enough to draw.
        world.agent.knob("say still booting");
    };
    texts(1);
    texts(2);
    world.stage("unconfirmed vanished");
    assert_eq!((world.agent.pastes(), world.agent.enters()), (2, 0));
}

#[test]
fn pager_093_a_paste_drawn_late_is_typed_once() {
    let world = World::new("--draw-late 2000");
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_077_a_line_wrapped_by_a_narrow_pane_is_known() {
    for width in ["40", "20"] {
        let mut world = World::without_pager("");
        let size = ["resize-window", "-t", "web", "-x", width];
        world.tmux.run(&size);
        world.start();
        world.relay.wake("web", 1);
        world.stage("submitted 1");
        world.one_submit(&line(TAG));
        assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
    }
}

/// Keeps the pager between text and Enter while `act` runs.
pub(super) fn in_the_gap(act: impl FnOnce(&World)) -> World {
    in_the_gap_of(World::without_pager(""), act)
}

/// The same in a world whose pager does not run yet.
pub(super) fn in_the_gap_of(mut world: World, act: impl FnOnce(&World)) -> World {
    world.relay.change(|script| {
        script.report_instead = Box::new(|call| {
            matches!(call.stage, Stage::Typed { .. }).then_some(Instead::Status(503, None))
        });
    });
    world.start();
    world.relay.wake("web", 1);
    world.stage("typed");
    act(&world);
    world
        .relay
        .change(|script| script.report_instead = Box::new(|_| None));
    world
}

#[test]
fn pager_068_a_person_adds_to_our_line_and_sends_it() {
    let world = in_the_gap(|world| {
        world
            .tmux
            .run(&["send-keys", "-l", "-t", &world.agent.pane, " and also X"]);
    });
    until(LONG, "the addition is seen", || {
        let stages = world.relay.stages("web");
        stages.contains(&"blocked draft/own_line_plus".to_owned())
    });
    throughout(Duration::from_secs(3), "no Enter from us", || {
        world.agent.enters() == 0
    });
    world
        .tmux
        .run(&["send-keys", "-t", &world.agent.pane, "Enter"]);
    world.relay.change(|script| {
        let turn = &mut script.parts.get_mut("web").unwrap().turn;
        turn.state = "busy".to_owned();
        turn.since = Some("2026-12-01T09:30:00.000Z".to_owned());
        turn.tag = Some(TAG.to_owned());
    });
    world.stage("submitted 0");
    world.one_submit(&format!("{} and also X", line(TAG)));
}

#[test]
fn pager_068_a_person_deletes_our_line_and_it_is_not_typed_again() {
    let outer = Tmux::new();
    let world = in_the_gap(|world| {
        let socket = world.tmux.socket();
        let attach = format!("env -u TMUX tmux -S {} attach -t web", socket.display());
        let person = outer.session("person", &attach);
        until(LONG, "a client is there", || {
            !world.tmux.run(&["list-clients"]).is_empty()
        });
        outer.run(&["send-keys", "-N", "80", "-t", &person, "BSpace"]);
        until(LONG, "the line is gone", || {
            !world.tmux.screen(&world.agent.pane).contains(TAG)
        });
    });
    world.stage("unconfirmed vanished");
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 0));
}

#[test]
fn pager_070_a_cursor_that_moved_holds_the_text_back() {
    let world = World::without_pager("");
    let (socket, pane) = (world.tmux.socket(), world.agent.pane.clone());
    world.relay.change(|script| {
        let mut first = true;
        script.answer = Box::new(move |call| {
            if matches!(call.stage, Stage::Confirm) && std::mem::take(&mut first) {
                // A person's letter arrives between the look and the text.
                let status = Command::new("tmux")
                    .arg("-S")
                    .arg(&socket)
                    .args(["send-keys", "-l", "-t", &pane, "x"])
                    .status();
                assert!(status.unwrap().success());
                std::thread::sleep(Duration::from_millis(150));
            }
            None
        });
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    world.stage("blocked draft/text");
    assert_eq!(world.agent.bytes(), b"x", "not one byte of ours");
    assert!(
        world.home.log().contains("text not sent: Held"),
        "{}",
        world.home.log()
    );
    world
        .tmux
        .run(&["send-keys", "-t", &world.agent.pane, "BSpace"]);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_071_an_emptied_composer_alone_is_not_submitted() {
    let world = World::new("--swallow on");
    world.relay.wake("web", 1);
    world.stage("unconfirmed vanished");
    assert!(
        !world
            .relay
            .stages("web")
            .contains(&"submitted 1".to_owned())
    );
}

#[test]
fn pager_073_fifty_messages_are_one_line() {
    let world = World::new("");
    for unread in 1..=50 {
        world.relay.wake("web", 1);
        world
            .relay
            .change(|script| script.parts.get_mut("web").unwrap().unread = unread);
        std::thread::sleep(Duration::from_millis(40));
        if !world.agent.submits().is_empty() {
            break;
        }
    }
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_074_cleared_types_nothing_and_leaves_the_journal_alone() {
    let world = World::without_pager("");
    world.relay.change(|script| {
        script.answer =
            Box::new(|call| matches!(call.stage, Stage::Confirm).then_some(ReportResult::Cleared));
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    until(LONG, "it was asked", || {
        let script = world.relay.script();
        script
            .reports
            .iter()
            .any(|heard| matches!(heard.call.stage, Stage::Confirm))
    });
    world.untouched(Duration::from_secs(3));
    let journal = std::fs::read_dir(world.home.state().join("journal")).unwrap();
    assert_eq!(journal.count(), 0);
}

#[test]
fn pager_075_a_stale_typed_gets_no_enter_and_the_next_wake_submits_that_line() {
    let world = World::without_pager("");
    world.relay.change(|script| {
        script.answer = Box::new(|call| {
            let first = matches!(&call.stage, Stage::Typed { .. }) && call.wake_id.ends_with(TAG);
            first.then_some(ReportResult::Stale)
        });
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    world.stage("typed");
    throughout(Duration::from_secs(3), "no Enter", || {
        world.agent.enters() == 0
    });
    world.relay.offer("web", "bcdfgh", 1, &line("bcdfgh"));
    world.stage("submitted 1");
    assert_eq!(world.relay.tags("web"), [TAG]);
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_076_a_tmux_that_hangs_during_the_text_is_killed_and_a_look_decides() {
    let world = World::without_pager("");
    let hung = world.home.path("hung");
    let script = format!(
        "case \"$*\" in *\"-b rr-\"*)\n  tmux \"$@\" > /dev/null; touch {}; exec sleep 60\nesac",
        hung.display()
    );
    let command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
    let _pager = Pager::spawn(command, &world.home);
    world.relay.wake("web", 1);
    until(LONG, "it hangs", || hung.exists());
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!(world.agent.pastes(), 1);
}

#[test]
fn pager_073_twenty_parts_woken_at_once_type_two_at_a_time() {
    let names: Vec<String> = (b'a'..=b't')
        .map(|c| format!("part-{}", char::from(c)))
        .collect();
    let parts: Vec<&str> = names.iter().map(String::as_str).collect();
    let tmux = Tmux::new();
    let agents: Vec<Agent> = parts
        .iter()
        .map(|part| Agent::start(&tmux, part, ""))
        .collect();
    for (agent, part) in agents.iter().zip(&parts) {
        tmux.join(&agent.pane, CODE, part);
    }
    let relay = Relay::start(&parts);
    let home = Home::new();
    let _pager = home.pager(&tmux, &relay, &[]);
    let ready = |relay: &Relay| {
        let script = relay.script();
        let panes = script.polls.last().map(|heard| heard.call.parts.clone());
        panes.is_some_and(|parts| {
            let ready = parts.iter().filter_map(|part| part.pane.as_ref());
            ready.filter(|pane| pane.state == "ready").count() == 20
        })
    };
    until(LONG, "all are known as ready", || ready(&relay));
    for part in &parts {
        relay.wake(part, 1);
    }
    let limit = Duration::from_secs(10) * SLACK;
    for part in &parts {
        relay.wait_for(part, "submitted 1", limit);
    }
    for agent in &agents {
        assert_eq!(agent.submits(), [line(TAG)]);
    }
    // From the text to its outcome, for after `confirm` a pane may still be looked at anew; and in the order of the pager's own times,
    // for reports of different parts may overtake each other on their way.
    let script = relay.script();
    let mut told: Vec<_> = script
        .reports
        .iter()
        .filter_map(|heard| match heard.call.stage {
            Stage::Typed { .. } => Some((&heard.call.at, true, &heard.call.part)),
            // What holds a typed line up gives the pane's place away, until it is looked at anew.
            Stage::Submitted { .. } | Stage::Blocked { .. } | Stage::Unconfirmed { .. } => {
                Some((&heard.call.at, false, &heard.call.part))
            }
            _ => None,
        })
        .collect();
    told.sort();
    let mut between = std::collections::HashSet::new();
    for (_, typed, part) in told {
        if typed {
            between.insert(part);
        } else {
            between.remove(part);
        }
        assert!(between.len() <= 2, "{between:?}");
    }
}

#[test]
fn pager_060_an_idle_pane_is_typed_into_at_once_with_few_children() {
    let world = World::without_pager("");
    let calls = world.home.path("calls");
    let script = format!("echo \"$*\" >> {}", calls.display());
    let command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
    let _pager = Pager::spawn(command, &world.home);
    until(LONG, "the pane is known as ready", || {
        let script = world.relay.script();
        let pane = script
            .polls
            .last()
            .and_then(|heard| heard.call.parts.first()?.pane.clone());
        pane.is_some_and(|pane| pane.state == "ready")
    });
    let count = || std::fs::read_to_string(&calls).unwrap().lines().count();
    let before = count();
    let begun = std::time::Instant::now();
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(2) * SLACK, "{took:?}");
    let children = count() - before;
    assert!(
        children <= 4,
        "{children}: {}",
        std::fs::read_to_string(&calls).unwrap()
    );
}

#[test]
fn pager_060_a_pane_whose_turn_ended_is_read_before_the_next_wake() {
    let world = World::without_pager("");
    let calls = world.home.path("calls");
    let script = format!("echo \"$*\" >> {}", calls.display());
    let command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
    let _pager = Pager::spawn(command, &world.home);
    until(LONG, "the pane is known as ready", || {
        let script = world.relay.script();
        let last = script.polls.last();
        let pane = last.and_then(|heard| heard.call.parts.first()?.pane.clone());
        pane.is_some_and(|pane| pane.state == "ready")
    });
    // A pane that draws nothing is listed, and not read again.
    let read = || {
        let text = std::fs::read_to_string(&calls).unwrap();
        text.lines()
            .filter(|line| line.contains("|capture|"))
            .count()
    };
    let tell = |state: &str| {
        world.relay.change(|script| {
            script.parts.get_mut("web").unwrap().turn.state = state.to_owned();
        });
    };
    tell("busy");
    let before = read();
    tell("idle");
    until(LONG, "it is read", || read() > before);
}
