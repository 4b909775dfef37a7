//! Turns: what begins and ends them, what caused them, and what a part is doing by them (usage.md 7 and 12).

use std::time::Duration;

use relayroom::api::PaneLook;
use relayroom::api::ReportResult;
use relayroom::api::Stage;
use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::Origin;
use relayroom::api::hook::Reason;
use relayroom::messaging;
use relayroom::store::Time;

use super::reporter::Hook;
use super::reporter::turns;
use crate::support::world::World;
use crate::wake::pager::Pager;
use crate::wake::pager::blocked;
use crate::wake::pager::submitted;

/// Mail for web from api, typed and submitted by the pager; the tag.
fn woken(world: &World) -> String {
    let count = world.count("SELECT count(*) FROM message");
    world.sent("api", &["web"], &format!("s{count}"), "b");
    let wake = Pager::FIRST.wake(world, "web").unwrap();
    Pager::FIRST.types(world, "web", &wake);
    Pager::FIRST.report(world, "web", &wake, submitted(&wake));
    wake.tag
}

fn complete_events(world: &World) -> i64 {
    world.count("SELECT count(*) FROM event WHERE type = 'complete'")
}

fn lost(world: &World, what: &str) -> i64 {
    world.count(&format!(
        "SELECT coalesce(sum(count), 0) FROM usage_lost WHERE what = '{what}'"
    ))
}

/// A poll whose screen says so since then.
fn sees(world: &World, screen: &str, since: Time) {
    Pager::FIRST.sees(
        world,
        "web",
        PaneLook {
            screen: screen.into(),
            screen_since: since.rfc3339(),
            ..Pager::look()
        },
    );
}

#[test]
fn usage_027_a_turn_is_caused_by_the_wake_its_prompt_begins_with() {
    let world = World::new();
    let hook = Hook::new(&world);
    world.sent("api", &["web"], "s", "b");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.seconds(1);
    hook.starts_by("t1", &wake.tag);
    assert_eq!(hook.turns(), turns([("t1", "wake", "open")]));
    let presented = "SELECT presented_at FROM wake WHERE state = 'presented'";
    assert_eq!(world.count(presented), world.now().0);
    assert_eq!(hook.view().tag, Some(wake.tag.clone()));
    // The pager's own word comes second and adds what it saw.
    world.seconds(1);
    let said = Pager::FIRST.report(&world, "web", &wake, submitted(&wake));
    assert_eq!(said, ReportResult::Ok);
    let both = "SELECT count(*) FROM nudge WHERE outcome = 'submitted' AND enters = 1";
    assert_eq!(world.count(both), 1);
    assert_eq!(world.count(presented), world.now().0 - 1_000);
    hook.stops("t1");

    // A tag of no wake, and one of another part's: a person's, and counted.
    hook.starts_by("t2", "bbbbbb");
    world.sent("web", &["api"], "s2", "b");
    let other = Pager::FIRST.wake(&world, "api").unwrap();
    hook.starts_by("t3", &other.tag);
    hook.starts("t4");
    assert_eq!(
        hook.turns()[1..],
        turns([
            ("t2", "human", "superseded"),
            ("t3", "human", "superseded"),
            ("t4", "human", "open")
        ])
    );
    assert_eq!(lost(&world, "foreign_tag"), 2);
    // Done wakes still cause.
    world.inbox("web");
    hook.starts_by("t5", &wake.tag);
    assert_eq!(hook.turns()[4].1, "wake");
}

#[test]
fn usage_029_the_cli_that_prompts_itself_is_named() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("t1".into());
        report.origin = Some(Origin::Itself);
    })
    .unwrap();
    hook.stops("t1");
    assert_eq!(hook.turns(), turns([("t1", "self", "stop")]));
}

#[test]
fn usage_030_case_u11_a_turn_broken_off_is_superseded_and_keeps_its_tokens() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.seconds(10);
    let first = hook.row("m1", 100);
    world.seconds(10);
    hook.starts("t2");
    world.seconds(10);
    let second = hook.row("m2", 20);
    hook.stops("t2");
    hook.posts_with(vec![first, second], |report| {
        report.turn = Some("t2".into());
    })
    .unwrap();
    assert_eq!(
        hook.turns(),
        turns([("t1", "human", "superseded"), ("t2", "human", "stop")])
    );
    assert_eq!((hook.output_of("t1"), hook.output_of("t2")), (100, 20));
    assert_eq!(complete_events(&world), 2);
}

#[test]
fn usage_031_a_turn_nobody_ended_is_lost_when_its_screen_has_been_ready() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.seconds(5);
    let ready = world.now();
    sees(&world, "ready", ready);
    world.seconds(59);
    sees(&world, "ready", ready);
    assert_eq!(hook.state(), "busy");
    world.sent("api", &["web"], "s", "b");
    world.seconds(1);
    sees(&world, "ready", ready);
    assert_eq!(hook.state(), "idle");
    assert_eq!(hook.view().since, Some(ready.rfc3339()));
    assert_eq!(hook.turns(), turns([("t1", "human", "lost")]));
    assert!(Pager::FIRST.delivers(&world, "web"));

    // The sweep does it, too, and only while a pager looks.
    hook.starts("t2");
    let ready = world.now();
    sees(&world, "ready", ready);
    world.seconds(61);
    world.write(relayroom::activity::turn::sweep).unwrap();
    assert_eq!(hook.state(), "idle");
    hook.starts("t3");
    world.seconds(200);
    world.write(relayroom::activity::turn::sweep).unwrap();
    assert_eq!(hook.state(), "busy");
}

#[test]
fn usage_031_a_refused_dialog_ends_its_turn_on_two_looks() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.seconds(5);
    hook.blocks();
    assert_eq!(hook.state(), "blocked");
    world.seconds(60);
    sees(&world, "dialog", world.now());
    assert_eq!(hook.state(), "blocked");
    world.seconds(60);
    let ready = world.now();
    sees(&world, "ready", ready);
    assert_eq!(hook.state(), "blocked");
    let due = world
        .read(|connection| {
            let part = world.part("web");
            relayroom::activity::turn::next_look(connection, part, world.now())
        })
        .unwrap();
    assert_eq!(due, Some(ready + Duration::from_secs(2)));
    world.seconds(2);
    sees(&world, "ready", ready);
    assert_eq!(hook.state(), "idle");
    assert_eq!(hook.turns(), turns([("t1", "human", "lost")]));
}

#[test]
fn a_dialog_that_was_allowed_leaves_the_turn_running() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    hook.blocks();
    world.seconds(5);
    let busy = world.now();
    sees(&world, "busy", busy);
    assert_eq!(hook.state(), "blocked");
    world.seconds(2);
    sees(&world, "busy", busy);
    assert_eq!(hook.state(), "busy");
    hook.blocks();
    // The session's next report says it, too.
    hook.stops("t1");
    assert_eq!(hook.state(), "idle");
}

#[test]
fn usage_032_two_reports_of_one_end_are_one() {
    let world = World::new();
    let hook = Hook::new(&world).provider("codex");
    hook.starts("t1");
    hook.posts_with(vec![hook.row("r1", 5)], |report| {
        report.turn = Some("t1".into());
    })
    .unwrap();
    hook.ends("t1", Reason::Interrupted);
    assert_eq!(hook.state(), "idle");
    world.seconds(1);
    hook.stops("t1");
    assert_eq!(hook.turns(), turns([("t1", "human", "interrupted")]));
    assert_eq!(complete_events(&world), 1);
}

#[test]
fn usage_033_compaction_goes_on_with_the_turn() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    hook.posts(vec![hook.row("m1", 10)]);
    world.minutes(5);
    hook.tells(ActivityKind::SessionStart, |report| {
        report.reason = Some(Reason::Compaction);
    })
    .unwrap();
    assert_eq!(hook.state(), "busy");
    let answer = hook.posts(vec![hook.row("m1", 10), hook.row("m2", 5)]);
    assert_eq!((answer.new, answer.same), (1, 1));
    hook.stops("t1");
    assert_eq!(hook.output_of("t1"), 15);
    assert_eq!(hook.turns(), turns([("t1", "human", "stop")]));
}

#[test]
fn usage_034_one_complete_event_whose_usage_is_the_sum_of_the_rows() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.seconds(1);
    let rows = (1..=5).map(|n| hook.row(&format!("m{n}"), n)).collect();
    hook.stops("t1");
    assert_eq!(complete_events(&world), 0);
    hook.posts(rows);
    assert_eq!(complete_events(&world), 1);
    let usage = || {
        world
            .read(|connection| {
                let turn = connection.query_row(
                    "SELECT t.seq FROM turn AS t JOIN event AS e ON e.seq = t.event",
                    [],
                    |row| row.get(0),
                )?;
                relayroom::activity::usage::of_turn(connection, turn)
            })
            .unwrap()
            .output
    };
    assert_eq!(usage(), 15);
    hook.posts(vec![hook.row("m6", 100)]);
    assert_eq!((complete_events(&world), usage()), (1, 115));
    let detail = "SELECT count(*) FROM event WHERE detail = '{\"turn\":\"t1\",\"provider\":\"claude\",\"session\":\"s1\",\
                  \"cause\":\"human\",\"wakeId\":null,\"end\":\"stop\"}'";
    assert_eq!(world.count(detail), 1);

    hook.starts("t2");
    hook.stops("t2");
    assert_eq!(complete_events(&world), 1);
}

#[test]
fn usage_035_rows_before_any_activity_make_a_turn_without_a_begin() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.posts(vec![hook.row("m1", 5)]);
    hook.posts(vec![hook.row("m2", 5)]);
    assert_eq!(hook.turns(), turns([("s1", "human", "open")]));
    assert_eq!(hook.state(), "none");
    world.seconds(60);
    hook.starts("t1");
    assert_eq!(hook.turns()[0].2, "superseded");
    assert_eq!(complete_events(&world), 1);
}

#[test]
fn usage_051_reports_that_come_late_change_nothing_that_began_since() {
    let world = World::new();
    let codex = Hook::new(&world).provider("codex").session("new");
    let began = world.now();
    codex.starts("t1");
    codex
        .tells(ActivityKind::SessionStart, |report| {
            report.at = (began + Duration::from_millis(40)).rfc3339();
        })
        .unwrap();
    assert_eq!(codex.turns(), turns([("t1", "human", "open")]));
    world.seconds(50);
    let old = codex.session("old");
    old.tells(ActivityKind::SessionEnd, |_| {}).unwrap();
    assert_eq!(codex.view().since, Some(began.rfc3339()));
    codex.stops("t1");
    let idle = codex.view();
    world.seconds(50);
    for _ in 0..3 {
        codex.tells(ActivityKind::SessionEnd, |_| {}).unwrap();
    }
    assert_eq!(codex.view(), idle);
    assert_eq!(codex.turns(), turns([("t1", "human", "stop")]));
}

#[test]
fn usage_052_a_line_sent_into_a_running_turn_is_presented_and_makes_the_second_turn() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.minutes(1);
    world.sent("api", &["web"], "s", "b");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    hook.starts_by("t1", &wake.tag);
    assert_eq!(hook.turns(), turns([("t1", "human", "open")]));
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE state = 'presented'"),
        1
    );
    world.minutes(1);
    hook.stops("t1");
    let ended = world.now();
    world.minutes(1);
    hook.stops("t2");
    assert_eq!(
        hook.turns(),
        turns([("t1", "human", "stop"), ("t2", "wake", "stop")])
    );
    let began = world.count("SELECT started_at FROM turn WHERE turn = 't2'");
    assert_eq!(began, ended.0);
}

#[test]
fn a_session_that_starts_in_the_pane_of_another_ends_its_turn_as_lost() {
    let world = World::new();
    let first = Hook::new(&world);
    let in_pane = |hook: &Hook<'_>, kind, pane: &str, turn: Option<&str>| {
        hook.tells(kind, |report| {
            report.pane = Some(pane.into());
            report.tmux = Some("/tmp/tmux-0/default".into());
            report.turn = turn.map(str::to_owned);
        })
        .unwrap();
    };
    in_pane(&first, ActivityKind::TurnStart, "%1", Some("t1"));
    world.minutes(1);
    let second = first.session("s2");
    in_pane(&second, ActivityKind::SessionStart, "%9", None);
    assert_eq!(first.state(), "busy");
    in_pane(&second, ActivityKind::SessionStart, "%1", None);
    assert_eq!(first.state(), "idle");
    assert_eq!(first.turns(), turns([("t1", "human", "lost")]));
}

#[test]
fn only_the_joined_pane_says_what_a_part_is_doing() {
    let world = World::new();
    let hook = Hook::new(&world);
    Pager::FIRST.poll(&world, &["web"]);
    let elsewhere = hook.session("other");
    elsewhere
        .tells(ActivityKind::TurnStart, |report| {
            report.turn = Some("x1".into());
            report.pane = Some("%77".into());
        })
        .unwrap();
    assert_eq!(hook.state(), "none");
    assert_eq!(hook.turns(), turns([("x1", "human", "open")]));
    hook.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("t1".into());
        report.pane = Some("%1".into());
    })
    .unwrap();
    assert_eq!(hook.state(), "busy");
}

#[test]
fn a_report_that_was_old_when_it_was_sent_changes_turns_and_not_the_state() {
    let world = World::new();
    let hook = Hook::new(&world);
    world.minutes(10);
    let then = world.now() - Duration::from_secs(300);
    hook.tells_of(ActivityKind::TurnStart, "t1", then);
    assert_eq!(hook.state(), "none");
    assert_eq!(hook.turns(), turns([("t1", "human", "open")]));
    // What it ends is over all the same.
    hook.starts("t2");
    hook.tells_of(ActivityKind::TurnEnd, "t1", then + Duration::from_secs(60));
    assert_eq!(
        hook.turns(),
        turns([("t1", "human", "stop"), ("t2", "human", "open")])
    );
    assert_eq!(hook.state(), "busy");
    world.minutes(5);
    hook.tells_of(
        ActivityKind::TurnEnd,
        "t2",
        world.now() - Duration::from_secs(120),
    );
    assert_eq!(hook.state(), "idle");
}

#[test]
fn a_sender_whose_clock_is_off_is_put_right_and_marked() {
    let world = World::new();
    let hook = Hook::new(&world);
    let slow = Duration::from_secs(7_200);
    hook.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("t1".into());
        report.sent_at = Some((world.now() - slow).rfc3339());
        report.at = (world.now() - slow - Duration::from_secs(1)).rfc3339();
    })
    .unwrap();
    let began = world.now() - Duration::from_secs(1);
    assert_eq!(hook.view().since, Some(began.rfc3339()));
    assert_eq!(
        world.count("SELECT count(*) FROM turn WHERE shifted = 1"),
        1
    );
}

#[test]
fn what_a_hook_dropped_is_counted() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.tells(ActivityKind::TurnStart, |report| report.dropped = 3)
        .unwrap();
    assert_eq!(lost(&world, "dropped"), 3);
}

#[test]
fn a_turn_that_ran_into_the_providers_limit_parks_its_part() {
    let world = World::new();
    let hook = Hook::new(&world);
    let until = || world.count("SELECT coalesce(max(limited_until), 0) FROM part");
    hook.starts("t1");
    hook.ends("t1", Reason::Limited);
    assert_eq!(until(), world.now().0 + 30 * 60_000);
    hook.starts("t2");
    let reset = world.now() + Duration::from_secs(7_200);
    hook.tells(ActivityKind::TurnEnd, |report| {
        report.turn = Some("t2".into());
        report.reason = Some(Reason::Limited);
        report.reset_at = Some(reset.rfc3339());
    })
    .unwrap();
    assert_eq!(until(), reset.0);
    // Told again after the park was lifted, it parks nobody.
    world.execute("UPDATE part SET limited_until = NULL");
    hook.ends("t2", Reason::Limited);
    assert_eq!(until(), 0);
}

#[test]
fn wake_029_a_busy_part_is_woken_after_its_turn() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.sent("api", &["web"], "s", "b");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    assert_eq!(Pager::FIRST.view(&world, "web").turn.state, "busy");
    Pager::FIRST.report(&world, "web", &wake, blocked("busy"));
    for _ in 0..40 {
        world.seconds(30);
        world.write(relayroom::wake::sweep).unwrap();
        Pager::FIRST.poll(&world, &["web"]);
    }
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE hold_reason = 'busy' AND state = 'leased'"),
        1
    );
    hook.stops("t1");
    assert_eq!(Pager::FIRST.view(&world, "web").turn.state, "idle");
    assert!(Pager::FIRST.delivers(&world, "web"));
}

#[test]
fn wake_029_nothing_is_typed_if_the_turn_read_the_mail_itself() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.sent("api", &["web"], "s", "b");
    assert!(Pager::FIRST.wake(&world, "web").is_some());
    world.inbox("web");
    world.seconds(30);
    hook.stops("t1");
    assert!(Pager::FIRST.wake(&world, "web").is_none());
}

#[test]
fn a_running_turn_stops_the_ladder_until_it_ends() {
    let world = World::new();
    let hook = Hook::new(&world);
    let tag = woken(&world);
    hook.starts_by("t1", &tag);
    world.minutes(20);
    world.write(relayroom::wake::sweep).unwrap();
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    hook.stops("t1");
    world.seconds(89);
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    world.seconds(1);
    assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().nudge, 2);
}

#[test]
fn wake_046_two_turns_of_one_tag_are_both_kept_under_it() {
    let world = World::new();
    let hook = Hook::new(&world);
    let tag = woken(&world);
    for (turn, key, tokens) in [("t1", "m1", 10), ("t2", "m2", 70)] {
        hook.starts_by(turn, &tag);
        world.seconds(5);
        hook.posts(vec![hook.row(key, tokens)]);
        hook.stops(turn);
        world.seconds(5);
    }
    let both = "SELECT count(*) FROM turn AS t JOIN wake AS w ON w.seq = t.wake";
    assert_eq!(world.count(both), 2);
    let cost = "SELECT sum(output) FROM usage_sum WHERE wake = (SELECT seq FROM wake)";
    assert_eq!(world.count(cost), 80);
}

#[test]
fn wake_047_a_prompt_without_a_tag_is_a_persons_and_no_alarm() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    hook.stops("t1");
    assert_eq!(hook.turns(), turns([("t1", "human", "stop")]));
    assert_eq!(lost(&world, "foreign_tag"), 0);
}

#[test]
fn the_fastest_wakes_are_presented_though_their_pager_spoke_too_late() {
    let world = World::new();
    world.sent("api", &["web"], "s", "b");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.seconds(1);
    world.inbox("web");
    let consumed = world.now();
    world.seconds(2);
    let said = Pager::FIRST.report(&world, "web", &wake, submitted(&wake));
    assert_eq!(said, ReportResult::Stale);
    let presented = "SELECT presented_at FROM wake WHERE outcome = 'consumed'";
    assert_eq!(world.count(presented), consumed.0);
    let nudged = "SELECT count(*) FROM nudge WHERE outcome = 'submitted' AND enters = 1";
    assert_eq!(world.count(nudged), 1);

    // One that is not known stays so.
    world.minutes(1);
    world.sent("api", &["web"], "s2", "b");
    let wake = Pager::FIRST.wake(&world, "web").unwrap();
    Pager::FIRST.types(&world, "web", &wake);
    world.inbox("web");
    let unknown = Stage::Unconfirmed {
        why: "vanished".into(),
    };
    let said = Pager::FIRST.report(&world, "web", &wake, unknown);
    assert_eq!(said, ReportResult::Stale);
    let unconfirmed = "SELECT count(*) FROM nudge AS n JOIN wake AS w ON w.seq = n.wake
                        WHERE n.outcome = 'unconfirmed' AND w.presented_at IS NULL";
    assert_eq!(world.count(unconfirmed), 1);
}

#[test]
fn a_thread_shown_within_a_running_turn_is_not_closed_under_it() {
    let world = World::new();
    let hook = Hook::new(&world);
    let thread = world.sent("api", &["web"], "s", "b").thread_id;
    hook.starts("t1");
    world.seconds(1);
    world.inbox("web");
    world.minutes(20);
    hook.blocks();
    world.minutes(20);
    let close = || world.write(messaging::auto_close).unwrap();
    assert_eq!(close(), 0);
    hook.stops("t1");
    assert_eq!(close(), 1);
    assert_eq!(world.status(&thread), "closed");
}
