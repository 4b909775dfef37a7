//! Poll and reports (pager.md 11, cases 21–32).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use relayroom::api::ReportResult;
use relayroom::api::Stage;

use super::*;
use crate::support::scripted_relay::Instead;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

/// Writes the machine's token.
fn token(home: &Home, text: &str, mode: u32) -> std::path::PathBuf {
    let path = home.state().join("machine.token");
    fs::create_dir_all(home.state()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn pager_021_a_refused_token_is_told_once_and_a_new_file_is_tried_at_once() {
    let world = World::without_pager("");
    let path = token(&world.home, "rrp_old\n", 0o600);
    world
        .relay
        .change(|script| script.poll_instead = Some(Instead::Status(401, None)));
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    until(LONG, "a call", || !world.relay.script().polls.is_empty());
    throughout(Duration::from_secs(5), "no second call", || {
        world.relay.script().polls.len() == 1
    });
    let log = world.home.log();
    assert_eq!(log.matches("auth:").count(), 1, "{log}");
    assert!(log.contains(&path.display().to_string()), "{log}");
    world.relay.change(|script| script.poll_instead = None);
    token(&world.home, "rrp_new\n", 0o600);
    until(
        Duration::from_secs(5) * SLACK,
        "the new token is used",
        || {
            let script = world.relay.script();
            script.polls.last().unwrap().bearer.as_deref() == Some("rrp_new")
        },
    );
}

#[test]
fn pager_022_a_token_file_that_cannot_be_right() {
    let world = World::without_pager("");
    token(&world.home, "${RELAYROOM_TOKEN}\n", 0o600);
    world
        .relay
        .change(|script| script.poll_instead = Some(Instead::Status(401, None)));
    let pager = world.home.pager(&world.tmux, &world.relay, &[]);
    until(LONG, "the reason is shown", || {
        world.home.log().contains("scripted_401")
    });
    assert!(!world.home.log().contains("RELAYROOM_TOKEN"));
    pager.stop();
    let calls = world.relay.script().polls.len();
    for (text, mode, told) in [("", 0o600, "is empty"), ("rrp_x\n", 0o644, "chmod 600")] {
        let path = token(&world.home, text, mode);
        let (code, _, err) = world
            .home
            .pager(&world.tmux, &world.relay, &[])
            .finish(LONG);
        assert_eq!(code, 2, "{err}");
        assert!(
            err.contains(told) && err.contains(&path.display().to_string()),
            "{err}"
        );
    }
    assert_eq!(
        world.relay.script().polls.len(),
        calls,
        "no bearer was sent"
    );
}

#[test]
fn pager_023_a_code_rotated_away_ends_its_wakes() {
    let world = World::without_pager("");
    world.relay.wake("web", 1);
    world.relay.change(|script| {
        script.parts.get_mut("web").unwrap().error = Some("unknown_code".to_owned());
    });
    let once = world.home.pager(&world.tmux, &world.relay, &["--once"]);
    let (code, _, err) = once.finish(LONG);
    assert_eq!(code, 3, "{err}");
    let begun = world.relay.script().polls.len();
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    until(LONG, "both told it", || {
        let log = world.home.log();
        log.matches("WARN web - unknown_code (code CODE…)").count() == 2
    });
    let calls = world.relay.script().polls.len();
    world.untouched(Duration::from_secs(5));
    assert_eq!(
        world.relay.script().polls.len(),
        calls,
        "again after a minute only"
    );
    assert!(calls > begun);
    assert!(!world.home.log().contains(CODE));
}

#[test]
fn pager_024_a_part_of_somebody_else_does_not_stop_the_others() {
    let world = World::without_pager("");
    let api = Agent::start(&world.tmux, "api", "");
    world.tmux.join(&api.pane, CODE, "api");
    world.relay.change(|script| {
        script.parts.insert("api".to_owned(), Default::default());
        script.parts.get_mut("api").unwrap().error = Some("not_yours".to_owned());
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    assert!(world.home.log().contains("WARN api - not_yours"));
    assert!(api.bytes().is_empty());
}

#[test]
fn pager_025_retry_after_is_waited_and_a_transient_fault_is_not_told_twice() {
    let world = World::without_pager("");
    world
        .relay
        .change(|script| script.poll_instead = Some(Instead::Status(429, Some(4))));
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    until(LONG, "three calls", || {
        world.relay.script().polls.len() >= 3
    });
    let times: Vec<_> = world
        .relay
        .script()
        .polls
        .iter()
        .map(|heard| heard.at)
        .collect();
    for pair in times.windows(2) {
        let wait = pair[1].duration_since(pair[0]);
        assert!(
            wait >= Duration::from_secs(4) && wait < Duration::from_secs(5) * SLACK,
            "{wait:?}"
        );
    }
    world.relay.change(|script| script.poll_instead = None);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    let log = world.home.log();
    assert_eq!(log.matches("relay: ").count(), 1, "{log}");
    assert_eq!(log.matches("relay over after").count(), 1, "{log}");
}

#[test]
fn pager_027_a_lost_answer_costs_nothing() {
    let mut world = World::without_pager("");
    world
        .relay
        .change(|script| script.poll_instead = Some(Instead::Silence));
    world.start();
    until(LONG, "a call hangs", || {
        !world.relay.script().polls.is_empty()
    });
    world.relay.wake("web", 1);
    world.relay.go_down();
    world.relay.change(|script| script.poll_instead = None);
    world.untouched(Duration::from_secs(3));
    world.relay.come_back();
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_028_another_machine_holds_the_part() {
    let world = World::new("");
    world.relay.change(|script| {
        let part = script.parts.get_mut("web").unwrap();
        part.error = Some("held".to_owned());
        part.machine = Some("laptop".to_owned());
    });
    world.relay.wake("web", 1);
    until(LONG, "it is named", || {
        world.home.log().contains("held by laptop")
    });
    let calls = world.relay.script().polls.len();
    world.untouched(Duration::from_secs(5));
    assert_eq!(
        world.relay.script().polls.len(),
        calls,
        "left alone for 45 s"
    );
}

#[test]
fn pager_028_a_wake_another_pager_holds_is_not_typed() {
    let world = World::without_pager("");
    world.relay.change(|script| {
        script.answer = Box::new(|call| {
            matches!(call.stage, Stage::Confirm).then_some(ReportResult::NotHolder)
        });
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    until(LONG, "it is told", || {
        world.home.log().contains("another pager holds this wake")
    });
    world.untouched(Duration::from_secs(4));
}

#[test]
fn pager_029_a_draft_begun_while_a_wake_is_held_is_known_within_three_seconds() {
    let world = World::new("--dialog start");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    world.agent.knob("draft merge PR ten only after");
    world.agent.knob("dialog close");
    let begun = std::time::Instant::now();
    until(
        Duration::from_secs(3) * SLACK,
        "the relay has the draft",
        || {
            let script = world.relay.script();
            let last = script.polls.last().unwrap();
            let pane = last.call.parts[0].pane.clone();
            pane.is_some_and(|pane| {
                (pane.state.as_str(), pane.detail.as_str()) == ("draft", "text")
            })
        },
    );
    assert!(begun.elapsed() < Duration::from_secs(3) * SLACK);
    assert!(world.agent.bytes().is_empty());
}

#[test]
fn pager_030_an_unanswered_submitted_is_repeated_with_its_id() {
    let world = World::without_pager("");
    world.relay.change(|script| {
        let mut failures = 3;
        script.report_instead = Box::new(move |call| {
            let fails = matches!(call.stage, Stage::Submitted { .. }) && failures > 0;
            failures -= i32::from(fails);
            fails.then_some(Instead::Status(503, None))
        });
    });
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    let submitted = || -> Vec<String> {
        let script = world.relay.script();
        let reports = script.reports.iter();
        reports
            .filter(|heard| matches!(heard.call.stage, Stage::Submitted { .. }))
            .map(|heard| heard.call.event.clone())
            .collect()
    };
    until(LONG, "four tries", || submitted().len() == 4);
    let ids = submitted();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    throughout(Duration::from_secs(3), "no fifth", || {
        submitted().len() == 4
    });
}

#[test]
fn pager_031_a_stop_gives_the_lease_back() {
    let mut world = World::new("--dialog start");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    let (status, took) = world.pager.take().unwrap().stop();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(1) * SLACK, "{took:?}");
    world.stage("released");
    assert_eq!(
        world
            .tmux
            .attempt(&["show-options", "-t", "web", "-v", "@relayroom_status"])
            .stdout,
        b""
    );
    world.agent.knob("dialog close");
    world.start();
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_031_a_stop_without_the_relay_is_as_quick() {
    let mut world = World::new("--dialog start");
    world.relay.wake("web", 1);
    world.stage("blocked dialog/choice");
    world.relay.go_down();
    let (status, took) = world.pager.take().unwrap().stop();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_millis(1_200) * SLACK, "{took:?}");
}

#[test]
fn pager_031_a_stop_between_text_and_enter_makes_one_submit_in_all() {
    let mut world = World::without_pager("");
    world.relay.change(|script| {
        script.report_instead = Box::new(|call| {
            matches!(call.stage, Stage::Typed { .. }).then_some(Instead::Status(503, None))
        });
    });
    world.start();
    world.relay.wake("web", 1);
    world.stage("typed");
    let (status, _) = world.pager.take().unwrap().stop();
    assert_eq!(status.code(), Some(0));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 0));
    world
        .relay
        .change(|script| script.report_instead = Box::new(|_| None));
    world.start();
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
    assert_eq!((world.agent.pastes(), world.agent.enters()), (1, 1));
}

#[test]
fn pager_032_neither_code_nor_token_is_written_anywhere() {
    let world = World::without_pager("");
    token(&world.home, "rrp_verysecret\n", 0o600);
    let _pager = world
        .home
        .pager(&world.tmux, &world.relay, &["--code", CODE]);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    let mut folders = vec![world.home.state()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if name != "machine.token" {
                files += 1;
                let text = fs::read_to_string(entry.path()).unwrap();
                for secret in [CODE, "rrp_verysecret"] {
                    assert!(!text.contains(secret) && !name.contains(secret), "{name}");
                }
            }
        }
    }
    assert!(files >= 4, "log, journal, locks, machine: {files}");
}

#[test]
fn pager_once_tries_each_wake_once_and_says_how_it_went() {
    let world = World::without_pager("");
    let nothing = world.home.pager(&world.tmux, &world.relay, &["--once"]);
    assert_eq!(nothing.finish(LONG).0, 0);
    world.relay.wake("web", 1);
    let typed = world.home.pager(&world.tmux, &world.relay, &["--once"]);
    assert_eq!(typed.finish(LONG).0, 0);
    world.one_submit(&line(TAG));
    world.agent.knob("draft not yet");
    world.relay.wake("web", 2);
    let held = world.home.pager(&world.tmux, &world.relay, &["--once"]);
    assert_eq!(held.finish(LONG).0, 5);
    assert_eq!(world.relay.stages("web").last().unwrap(), "released");
    let elsewhere = Home::new();
    let unjoined = Tmux::new();
    unjoined.session("other", "cat");
    let none = elsewhere.pager(&unjoined, &world.relay, &["--once"]);
    assert_eq!(none.finish(LONG).0, 0);
}

#[test]
fn pager_027_many_parts_without_an_answer_to_confirm_ask_no_more_often_than_they_look() {
    const PARTS: usize = 6;
    let tmux = Tmux::new();
    let names: Vec<String> = (0..PARTS).map(|number| format!("part-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let relay = Relay::start(&names);
    let _agents: Vec<Agent> = names
        .iter()
        .map(|name| {
            let agent = Agent::start(&tmux, name, "");
            tmux.join(&agent.pane, CODE, name);
            agent
        })
        .collect();
    relay.change(|script| {
        script.report_instead = Box::new(|call| {
            matches!(call.stage, Stage::Confirm).then_some(Instead::Status(503, None))
        });
    });
    let home = Home::new();
    let _pager = home.pager(&tmux, &relay, &[]);
    for name in &names {
        relay.wake(name, 1);
    }
    let asked = || {
        let script = relay.script();
        let stages = script.reports.iter().map(|heard| &heard.call.stage);
        stages.filter(|stage| **stage == Stage::Confirm).count()
    };
    until(LONG, "all ask", || asked() >= PARTS);
    let before = asked();
    std::thread::sleep(Duration::from_secs(4));
    // A look every two seconds, and one of those that waited for a slot.
    let more = asked() - before;
    assert!(more <= PARTS * 4, "{more} times in four seconds");
}
