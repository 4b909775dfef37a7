//! Start and addressing (pager.md 11, cases 1–20).

use super::*;
use crate::support::scripted_relay::TAG;
use crate::support::scripted_relay::line;

#[test]
fn pager_001_case_t15_a_target_that_is_a_prefix_reaches_nobody() {
    let tmux = Tmux::new();
    let agent = Agent::start(&tmux, "agent-10", "");
    let relay = Relay::start(&["web"]);
    relay.wake("web", 1);
    let home = Home::new();
    let once = home.pager(
        &tmux,
        &relay,
        &[
            "--code", CODE, "--part", "web", "--target", "agent-1", "--once",
        ],
    );
    let (code, _, err) = once.finish(LONG);
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("no_pane/gone") && err.contains("agent-10"),
        "{err}"
    );
    let _pager = home.pager_for(&tmux, &relay, "web", "agent-1");
    relay.wait_for("web", "blocked no_pane/gone", LONG);
    assert!(home.log().contains("near it: agent-10"), "{}", home.log());
    assert!(agent.bytes().is_empty());
}

#[test]
fn pager_002_case_t17_an_id_that_never_was_is_gone_whatever_tmux_answers() {
    let world = World::without_pager("");
    // tmux itself answers for it, with nothing and without a fault.
    let answer = ["display-message", "-p", "-t", "%999", "#{pane_id}"];
    assert_eq!(world.tmux.run(&answer), "");
    world.relay.wake("web", 1);
    let _pager = world
        .home
        .pager_for(&world.tmux, &world.relay, "web", "%999");
    world.stage("blocked no_pane/gone");
    world.untouched(Duration::from_secs(3));
}

#[test]
fn pager_002_a_target_with_two_panes_is_refused_and_a_missing_one_takes_no_other() {
    let tmux = Tmux::new();
    let agent = Agent::start(&tmux, "web", "");
    let relay = Relay::start(&["web"]);
    relay.wake("web", 1);
    let home = Home::new();
    let _missing = home.pager_for(&tmux, &relay, "web", "web:0.9");
    relay.wait_for("web", "blocked no_pane/gone", LONG);
    assert!(agent.bytes().is_empty());
    let other = tmux.run(&[
        "split-window",
        "-d",
        "-P",
        "-F",
        "#{pane_id}",
        "-t",
        &agent.pane,
        "cat",
    ]);
    let second = Home::new();
    let (code, _, err) = second.pager_for(&tmux, &relay, "web", "web").finish(LONG);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains(&agent.pane) && err.contains(&other), "{err}");
}

#[test]
fn pager_005_case_t31_the_own_pane_is_refused_and_the_same_id_elsewhere_is_not() {
    let tmux = Tmux::new();
    let elsewhere = Tmux::new();
    let agent = Agent::start(&tmux, "web", "");
    elsewhere.session("other", "cat");
    let relay = Relay::start(&["web"]);
    relay.wake("web", 1);
    let inside = |server: &Tmux, pane: &str| {
        let home = Home::new();
        let mut command = home.command();
        let pid = server.ask(pane, "#{pid}");
        command
            .env("TMUX", format!("{},{pid},0", server.socket().display()))
            .env("TMUX_PANE", pane)
            .args([
                "--server",
                &relay.url(),
                "--code",
                CODE,
                "--part",
                "web",
                "--target",
                &agent.pane,
            ])
            .arg("--socket")
            .arg(tmux.socket());
        (Pager::spawn(command, &home), home)
    };
    let (own, _home) = inside(&tmux, &agent.pane);
    let (code, _, err) = own.finish(LONG);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("own pane"), "{err}");
    assert!(agent.bytes().is_empty());
    let (_other, _home) = inside(&elsewhere, "%0");
    relay.wait_for("web", "submitted 1", LONG);
}

#[test]
fn pager_006_case_t21_no_server_is_waited_for_and_never_started() {
    let tmux = Tmux::new();
    let relay = Relay::start(&["web", "late"]);
    relay.wake("web", 1);
    let home = Home::new();
    let _pager = home.pager_for(&tmux, &relay, "web", "web");
    relay.wait_for("web", "blocked no_pane/no_server", LONG);
    throughout(Duration::from_secs(3), "no socket appears", || {
        !tmux.socket().exists()
    });
    let log = home.log();
    assert!(
        log.contains(&format!("no server on {}", tmux.socket().display())),
        "{log}"
    );
    let agent = Agent::start(&tmux, "web", "");
    relay.wait_for("web", "submitted 1", Duration::from_secs(10) * SLACK);
    assert_eq!(agent.submits(), [line(TAG)]);
    // A pane joined later is found by a pager that serves whatever is joined.
    let second = Home::new();
    let _all = second.pager(&tmux, &relay, &[]);
    until(LONG, "it has looked once", || {
        second.log().contains("start")
    });
    let late = Agent::start(&tmux, "late", "");
    tmux.join(&late.pane, CODE, "late");
    relay.wake("late", 1);
    relay.wait_for("late", "submitted 1", Duration::from_secs(21) * SLACK);
}

#[test]
fn pager_007_case_t20_a_deleted_socket_is_waited_for() {
    let world = World::new("");
    world.known();
    let socket = world.tmux.socket();
    let server = world.tmux.ask(&world.agent.pane, "#{pid}");
    std::fs::remove_file(&socket).unwrap();
    world.relay.wake("web", 1);
    world.stage("blocked no_pane/no_server");
    let told = format!("no server on {}", socket.display());
    throughout(Duration::from_secs(3), "told once", || {
        world.home.log().matches(&told).count() == 1
    });
    let server = rustix::process::Pid::from_raw(server.parse().unwrap()).unwrap();
    rustix::process::kill_process(server, rustix::process::Signal::USR1).unwrap();
    world
        .relay
        .wait_for("web", "submitted 1", Duration::from_secs(6) * SLACK);
}

#[test]
fn pager_008_tmux_is_told_its_socket_and_inherits_no_other() {
    let world = World::without_pager("");
    let elsewhere = Tmux::new();
    let pane = elsewhere.session("other", "cat");
    let seen = world.home.path("seen");
    let script = format!("{{ echo \"$*\"; env; }} >> {}", seen.display());
    let mut command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
    let pid = elsewhere.ask(&pane, "#{pid}");
    command
        .env("TMUX", format!("{},{pid},0", elsewhere.socket().display()))
        .env("TMUX_PANE", pane)
        .env("TMUX_TMPDIR", elsewhere.folder());
    let _pager = Pager::spawn(command, &world.home);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    let seen = std::fs::read_to_string(seen).unwrap();
    let socket = world.tmux.socket();
    let calls: Vec<&str> = seen.lines().filter(|line| line.starts_with('-')).collect();
    let flags = format!("-u -S {} -N ", socket.display());
    assert!(calls[0] == "-V" && calls.len() > 3, "{calls:?}");
    assert!(
        calls[1..].iter().all(|call| call.starts_with(&flags)),
        "{calls:?}"
    );
    assert!(!seen.contains("TMUX"), "{seen}");
    assert!(seen.contains("LC_ALL=C.UTF-8"));
}

#[test]
fn pager_009_case_t18_a_strangers_pane_with_the_old_id_gets_no_byte() {
    let world = World::new("");
    world.known();
    world.tmux.kill();
    let stranger = Agent::start(&world.tmux, "stranger", "");
    assert_eq!(stranger.pane, world.agent.pane);
    world.relay.wake("web", 1);
    world.stage("blocked no_pane/restarted");
    throughout(
        Duration::from_secs(4),
        "no byte reaches the stranger",
        || stranger.bytes().is_empty(),
    );
    world.tmux.join(&stranger.pane, CODE, "web");
    world.stage("submitted 1");
    assert_eq!(stranger.submits(), [line(TAG)]);
}

#[test]
fn pager_010_a_respawned_pane_is_served_when_joined_again() {
    let world = World::new("");
    world.known();
    let command = world.agent.command("", "");
    world
        .tmux
        .run(&["respawn-pane", "-k", "-t", &world.agent.pane, &command]);
    world.agent.is_up(&world.tmux);
    world.relay.wake("web", 1);
    world.stage("blocked no_pane/respawned");
    world.untouched(Duration::from_secs(4));
    world.tmux.join(&world.agent.pane, CODE, "web");
    world.stage("submitted 1");
}

#[test]
fn pager_012_two_panes_for_one_part_and_then_one() {
    let world = World::without_pager("");
    let second = Agent::start(&world.tmux, "second", "");
    world.tmux.join(&second.pane, CODE, "web");
    let _pager = world.home.pager(&world.tmux, &world.relay, &[]);
    world.relay.wake("web", 1);
    world.stage("blocked no_pane/twice");
    let evidence = format!("{} {}", world.agent.pane, second.pane);
    assert!(world.home.log().contains(&evidence), "{}", world.home.log());
    world.untouched(Duration::from_secs(3));
    assert!(second.bytes().is_empty());
    world.tmux.run(&["kill-pane", "-t", &world.agent.pane]);
    world.stage("submitted 1");
    assert_eq!(second.submits(), [line(TAG)]);
}

#[test]
fn pager_013_case_t19_the_joined_pane_gets_the_line_wherever_the_focus_is() {
    let world = World::new("");
    world
        .tmux
        .run(&["split-window", "-t", &world.agent.pane, "cat"]);
    world.tmux.run(&["new-window", "-t", "web", "cat"]);
    world.relay.wake("web", 1);
    world.stage("submitted 1");
    world.one_submit(&line(TAG));
}

#[test]
fn pager_016_a_second_pager_of_a_part_is_told_who_holds_it() {
    let tmux = Tmux::new();
    let agent = Agent::start(&tmux, "web", "");
    let relay = Relay::start(&["web"]);
    let home = Home::new();
    let first = home.pager_for(&tmux, &relay, "web", &agent.pane);
    let claims = || {
        let script = relay.script();
        script.polls.iter().filter(|heard| heard.call.claim).count()
    };
    until(LONG, "the first one serves", || claims() > 0);
    let (code, _, err) = home
        .pager_for(&tmux, &relay, "web", &agent.pane)
        .finish(LONG);
    assert_eq!(code, 4, "{err}");
    assert!(
        err.contains("held by pid ") && err.contains("started 20"),
        "{err}"
    );
    first.kill();
    let before = claims();
    let mut next = home.pager_for(&tmux, &relay, "web", &agent.pane);
    until(LONG, "the next one serves", || claims() > before);
    assert!(next.runs());
}

#[test]
fn pager_018_an_old_tmux_is_refused_and_a_new_one_warned_about() {
    for (version, code) in [("2.9", Some(2)), ("9.9", None)] {
        let world = World::without_pager("");
        let script = format!("if [ \"$1\" = -V ]; then echo tmux {version}; exit; fi");
        let command = world.home.with_stand_in(&world.tmux, &world.relay, &script);
        let pager = Pager::spawn(command, &world.home);
        match code {
            Some(code) => {
                let (got, _, err) = pager.finish(LONG);
                assert_eq!(got, code, "{err}");
                assert!(err.contains("tmux 2.9") && err.contains("3.0"), "{err}");
            }
            None => {
                world.relay.wake("web", 1);
                world.stage("submitted 1");
                assert_eq!(world.home.log().matches("newer than any known").count(), 1);
            }
        }
    }
}

#[test]
fn pager_087_a_dry_run_touches_nothing() {
    let world = World::without_pager("--draft 'not yet'");
    world.relay.wake("web", 1);
    let pager = world.home.pager(&world.tmux, &world.relay, &["--dry-run"]);
    let (code, out, err) = pager.finish(LONG);
    assert_eq!(code, 0, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 1, "{out}");
    let begin = format!("{}  web  claude (rules ", world.agent.pane);
    assert!(lines[0].starts_with(&begin), "{out}");
    assert!(
        lines[0].contains("DRAFT text") || lines[0].contains("STARTING"),
        "{out}"
    );
    assert!(!out.contains("not yet"));
    assert!(world.agent.bytes().is_empty());
    let script = world.relay.script();
    assert!(script.reports.is_empty());
    assert!(script.polls.iter().all(|heard| !heard.call.claim));
    let option = world
        .tmux
        .attempt(&["show-options", "-t", "web", "-v", "@relayroom_status"]);
    assert_eq!(option.stdout, b"");
}
