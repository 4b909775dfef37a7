//! What is not on the screen: identity, modes of tmux, persons, age, and which of two facts wins.

use super::Kind;
use super::fixture;
use super::fixture::NOW;
use super::fixture::reads;
use super::fixture::still;
use super::verdict;
use crate::pager::facts::Absent;
use crate::pager::facts::ClientFacts;
use crate::pager::facts::Facts;
use crate::pager::facts::Turn;
use crate::pager::rules::Rules;

const IDLE: &str = "claude/2.1.332-empty";

type Change = fn(&mut Facts);

/// What the idle screen reads as with its facts changed.
fn with(change: impl FnOnce(&mut Facts)) -> String {
    let mut facts = fixture::facts(IDLE);
    change(&mut facts);
    reads(&still(&Rules::shipped(), &facts, &Turn::default()))
}

fn start_agent_at(facts: &mut Facts, start: i64) {
    for process in facts.processes.iter_mut().flatten() {
        process.start = start;
    }
}

fn key_at(facts: &mut Facts, pane: &str, second: i64) {
    facts.clients.push(ClientFacts {
        activity: second,
        read_only: false,
        pane: pane.into(),
    });
}

#[test]
fn a_pane_that_is_not_there_says_why() {
    let twice = Absent::Twice(vec!["%3".into(), "%7".into()]);
    let table = [
        (Absent::NoServer, "wrong_pane/no_server"),
        (Absent::Gone, "wrong_pane/gone"),
        (twice, "wrong_pane/twice"),
        (Absent::Own, "wrong_pane/own"),
        (Absent::Unreadable, "unknown/tmux"),
    ];
    for (absent, expected) in table {
        assert_eq!(with(|facts| facts.pane = Err(absent)), expected);
    }
}

#[test]
fn pager_009_another_identity_is_the_wrong_pane() {
    let changed = |change: fn(&mut crate::pager::facts::Identity)| {
        with(|facts| change(facts.expected.as_mut().unwrap()))
    };
    assert_eq!(changed(|id| id.server_start -= 1), "wrong_pane/restarted");
    assert_eq!(changed(|id| id.server_pid += 1), "wrong_pane/restarted");
    assert_eq!(changed(|id| id.socket.push('x')), "wrong_pane/restarted");
    assert_eq!(changed(|id| id.pane_pid += 1), "wrong_pane/respawned");
    assert_eq!(changed(|id| id.pane = "%4".into()), "wrong_pane/gone");
}

#[test]
fn modes_of_tmux_are_named() {
    let table: [(Change, &str); 5] = [
        (|f| f.pane.as_mut().unwrap().in_mode = true, "mode/copy"),
        (
            |f| f.pane.as_mut().unwrap().input_off = true,
            "mode/input_off",
        ),
        (
            |f| f.pane.as_mut().unwrap().synchronized = true,
            "mode/synchronized",
        ),
        (|f| f.refused_read_only = true, "mode/read_only"),
        (|f| f.pane.as_mut().unwrap().dead = true, "no_agent/dead"),
    ];
    for (change, expected) in table {
        assert_eq!(with(change), expected);
    }
}

#[test]
fn pager_056_a_dead_pane_tells_its_status() {
    let mut facts = fixture::facts(IDLE);
    let pane = facts.pane.as_mut().unwrap();
    (pane.dead, pane.dead_status) = (true, Some(130));
    let verdict = still(&Rules::shipped(), &facts, &Turn::default());
    assert_eq!(
        (reads(&verdict).as_str(), verdict.evidence.as_str()),
        ("no_agent/dead", "status 130")
    );
}

#[test]
fn pager_058_a_key_in_this_pane_is_a_person_for_five_seconds() {
    let second = NOW / 1_000;
    assert_eq!(with(|f| key_at(f, "%3", second - 2)), "busy/person");
    assert_eq!(
        with(|f| key_at(f, "%3", second - 5)),
        "busy/person",
        "the key may have come at the end of that second"
    );
    assert_eq!(with(|f| key_at(f, "%3", second - 6)), "ready");
    assert_eq!(
        with(|f| key_at(f, "%4", second)),
        "ready",
        "a client that shows another pane"
    );
    let watching = with(|f| {
        key_at(f, "%3", second);
        f.clients[0].read_only = true;
    });
    assert_eq!(watching, "ready");
}

#[test]
fn a_young_agent_is_starting() {
    assert_eq!(
        with(|f| start_agent_at(f, NOW - 2_999)),
        "starting/starting"
    );
    assert_eq!(
        with(|f| start_agent_at(f, NOW - 3_000)),
        "ready",
        "its composer was seen in two looks"
    );
    let mut facts = fixture::facts("claude/2.1.332-exited");
    facts.processes = Some(vec![fixture::process(100, 1, 100, &["claude".into()])]);
    let rules = Rules::shipped();
    start_agent_at(&mut facts, NOW - 59_000);
    assert_eq!(
        reads(&still(&rules, &facts, &Turn::default())),
        "starting/starting"
    );
    start_agent_at(&mut facts, NOW - 60_000);
    assert_eq!(
        reads(&still(&rules, &facts, &Turn::default())),
        "unknown/no_composer"
    );
}

#[test]
fn starting_is_reported_as_busy_and_a_wrong_pane_as_no_pane() {
    assert_eq!(Kind::Starting.reason(), Some("busy"));
    assert_eq!(Kind::WrongPane.reason(), Some("no_pane"));
    assert_eq!(Kind::Ready.reason(), None);
}

#[test]
fn the_first_look_is_never_ready() {
    let facts = fixture::facts(IDLE);
    let first = verdict(&Rules::shipped(), &facts, None, &Turn::default(), NOW);
    assert_eq!(reads(&first), "busy/moving");
    assert!(!first.in_turn());
}

#[test]
fn pager_044_a_screen_that_moves_in_colours_only_is_moving() {
    let rules = Rules::shipped();
    let facts = fixture::facts("claude/2.1.332-after-turn");
    let mut recoloured = facts.clone();
    let capture = String::from_utf8(facts.capture.clone().unwrap()).unwrap();
    recoloured.capture = Some(capture.replacen("38;5;246m✻", "38;5;247m✻", 1).into_bytes());
    assert_ne!(facts.capture, recoloured.capture);
    let first = verdict(&rules, &facts, None, &Turn::default(), NOW - 2_000);
    let second = verdict(
        &rules,
        &recoloured,
        first.sample.as_ref(),
        &Turn::default(),
        NOW,
    );
    assert_eq!(reads(&second), "busy/moving");
}

#[test]
fn pager_049_a_clock_in_the_footer_does_not_move_the_screen() {
    let rules = Rules::shipped();
    let at = |clock: &str, second: i64| {
        let mut facts = fixture::facts("claude/2.1.332-after-turn");
        let capture = String::from_utf8(facts.capture.take().unwrap()).unwrap();
        facts.capture = Some(capture.replace("? for shortcuts", clock).into_bytes());
        facts.pane.as_mut().unwrap().window_activity = second;
        facts
    };
    let mut sample = None;
    let mut last = None;
    for (ms, clock) in [
        (0, "12:00:00"),
        (2_000, "12:00:02"),
        (2_700, "12:00:02"),
        (3_900, "12:00:03"),
    ] {
        let facts = at(clock, (NOW + ms) / 1_000);
        let verdict = verdict(&rules, &facts, sample.as_ref(), &Turn::default(), NOW + ms);
        sample.clone_from(&verdict.sample);
        last = Some(reads(&verdict));
    }
    assert_eq!(last.as_deref(), Some("ready"));
}

#[test]
fn pager_050_the_screen_alone_is_told_beside_the_verdict() {
    let rules = Rules::shipped();
    let facts = fixture::facts("claude/2.1.332-after-turn");
    let verdict = still(&rules, &facts, &fixture::turn("busy"));
    assert_eq!(
        (verdict.kind, verdict.screen),
        (Kind::Busy, (Kind::Ready, ""))
    );
    let facts = fixture::facts("claude/2.1.332-busy-queued");
    let verdict = still(&rules, &facts, &fixture::turn("idle"));
    assert_eq!(
        (verdict.kind, verdict.screen),
        (Kind::Ready, (Kind::Busy, "marker"))
    );
}

#[test]
fn pager_051_a_marker_on_a_moving_screen_is_busy_although_the_turn_is_idle() {
    let facts = fixture::facts("claude/2.1.332-busy-queued");
    let first = verdict(&Rules::shipped(), &facts, None, &fixture::turn("idle"), NOW);
    assert_eq!(reads(&first), "busy/moving");
}

#[test]
fn pager_057_an_agent_without_a_described_composer_is_unknown() {
    let own = "[[cli]]\nname = \"claude\"\nrevision = 9\nprocess = [\"argv:claude\"]";
    let rules = Rules::shipped().overridden(Rules::parse(own).unwrap());
    let verdict = still(&rules, &fixture::facts(IDLE), &Turn::default());
    assert_eq!(reads(&verdict), "unknown/no_rules");
}

#[test]
fn pager_057_evidence_names_the_table_and_that_the_cli_is_newer() {
    let mut facts = fixture::facts("claude/2.1.332-draft");
    facts.cli_version = Some("9.0.1".into());
    let verdict = still(&Rules::shipped(), &facts, &Turn::default());
    assert!(
        verdict
            .evidence
            .contains("claude rules 1, made for older versions"),
        "{}",
        verdict.evidence
    );
}

#[test]
fn without_a_process_list_nothing_is_known() {
    assert_eq!(with(|f| f.processes = None), "unknown/no_capture");
    assert_eq!(with(|f| f.processes = Some(Vec::new())), "no_agent/other");
}
