//! Budgets: exact, per owner, sliding.

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::store::Time;

use super::*;
use crate::wake::pager::Pager;

#[test]
fn wake_006_the_third_waits_until_the_first_nudge_is_an_hour_old() {
    let world = World::new();
    world.add("ops");
    budget(&world, world.kim, 2, 5);
    assert_eq!(sent(&world, "ops", "web"), "issued no_pager");
    assert_eq!(sent(&world, "ops", "db"), "issued no_pager");
    assert_eq!(sent(&world, "ops", "api"), "held budget");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    let first = world.now();
    world.seconds(10);
    assert!(Pager::FIRST.delivers(&world, "db"));
    world.inbox("db");
    world.set_now(Time(first.0 + 3_599_999));
    sweep(&world);
    assert_eq!(hold(&world, "api").as_deref(), Some("budget"));
    assert_eq!(world.count("SELECT until FROM hold"), first.0 + 3_600_000);
    world.set_now(Time(first.0 + 3_600_000));
    sweep(&world);
    assert_eq!(latest(&world, "api"), "waiting");
    assert_eq!(hold(&world, "api"), None);
}

#[test]
fn wake_007_a_wake_cleared_untyped_gives_its_place_to_the_next_at_once() {
    let world = World::new();
    world.add("ops");
    budget(&world, world.kim, 2, 5);
    let first = world.sent("ops", &["web"], "s", "b");
    sent(&world, "ops", "db");
    assert_eq!(sent(&world, "ops", "api"), "held budget");
    world.close("ops", &first.thread_id).unwrap();
    assert_eq!(latest(&world, "web"), "cleared");
    assert_eq!(latest(&world, "api"), "waiting");
}

#[test]
fn wake_008_without_a_normal_budget_only_urgent_mail_wakes() {
    let world = World::new();
    budget(&world, world.kim, 0, 5);
    assert_eq!(sent(&world, "api", "web"), "held budget");
    sweep_for(&world, 130);
    assert_eq!(wakes(&world), 0);
    assert_eq!(world.count("SELECT count(*) FROM hold"), 1);
    assert_eq!(sent_urgent(&world, "db", "web"), "issued no_pager");
    assert_eq!(lane(&world, "web"), "urgent");
}

#[test]
fn wake_009_without_an_urgent_budget_the_normal_lane_is_taken_and_said() {
    let world = World::new();
    budget(&world, world.kim, 30, 0);
    assert_eq!(sent_urgent(&world, "api", "web"), "issued normal_lane");
    assert_eq!(lane(&world, "web"), "normal");
    assert_eq!(sent_urgent(&world, "db", "web"), "waiting normal_lane");
}

#[test]
fn wake_010_the_lanes_are_counted_apart() {
    let world = World::new();
    for n in 0..36 {
        world.add(&format!("p{n}"));
    }
    for n in 0..5 {
        let to = format!("p{n}");
        assert_eq!(sent_urgent(&world, "api", &to), "issued no_pager");
        assert!(Pager::FIRST.delivers(&world, &to));
        world.inbox(&to);
    }
    // Urgent nudges leave the normal budget whole.
    for n in 5..34 {
        let from = ["db", "web", "api"][n % 3];
        let to = format!("p{n}");
        assert_eq!(sent(&world, from, &to), "issued no_pager");
        assert!(Pager::FIRST.delivers(&world, &to));
        world.inbox(&to);
    }
    assert_eq!(sent_urgent(&world, "db", "p34"), "issued normal_lane");
    assert_eq!(sent(&world, "db", "p35"), "held budget");
    assert_eq!(
        world.count("SELECT count(*) FROM nudge WHERE lane = 'urgent'"),
        5
    );
}

#[test]
fn wake_011_twelve_at_once_under_five_issue_five() {
    let world = World::new();
    budget(&world, world.kim, 5, 5);
    let names: Vec<_> = (0..12).map(|n| format!("p{n}")).collect();
    for name in &names {
        world.add(name);
    }
    let caller = world.caller("api");
    let now = world.now();
    std::thread::scope(|scope| {
        for name in &names {
            let (store, caller) = (world.store.clone(), caller.clone());
            scope.spawn(move || {
                let args = mail(&[name], "subject", name);
                store
                    .write_blocking(move |tx| {
                        messaging::send(tx, &Author::Part(&caller), &args, now)
                    })
                    .unwrap();
            });
        }
    });
    assert_eq!(open_wakes(&world), 5);
    assert_eq!(
        world.count("SELECT count(*) FROM hold WHERE reason = 'budget' AND ended_at IS NULL"),
        7
    );
    sweep(&world);
    assert_eq!(open_wakes(&world), 5);
}

#[test]
fn wake_012_two_projects_of_one_owner_share_the_budget() {
    let world = World::new();
    budget(&world, world.kim, 1, 5);
    let other = world.project("garden");
    for name in ["hoe", "rake"] {
        world.add_to(other, name, world.kim);
    }
    let hoe = world.caller_in(other, "hoe");
    assert_eq!(sent(&world, "api", "web"), "issued no_pager");
    let sent = world
        .write(move |tx, now| {
            messaging::send(tx, &Author::Part(&hoe), &mail(&["rake"], "s", "b"), now)
        })
        .unwrap();
    assert_eq!(outcomes(&sent), ["held budget"]);
}

#[test]
fn wake_039_a_clock_set_back_refills_nothing_early() {
    use std::time::Duration;

    use relayroom::store::Clock;

    let world = World::new();
    budget(&world, world.kim, 1, 5);
    let clock = Clock::new(world.store.last_time(), Duration::ZERO);
    let wall = world.now();
    world.set_now(clock.read(wall, Duration::ZERO));
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    assert_eq!(sent(&world, "api", "db"), "held budget");
    // The wall clock loses an hour while 59 min and then one more pass.
    for (minutes, held) in [(59_u64, true), (60, false)] {
        let span = Duration::from_secs(minutes * 60);
        let back = Time(wall.0 + span.as_millis() as i64 - 3_600_000);
        world.set_now(clock.read(back, span));
        sweep(&world);
        assert_eq!(hold(&world, "db").is_some(), held, "after {minutes} min");
    }
    assert_eq!(latest(&world, "db"), "waiting");
}

#[test]
fn wake_040_a_budget_raised_wakes_at_once() {
    let world = World::new();
    budget(&world, world.kim, 0, 0);
    assert_eq!(sent(&world, "api", "web"), "held budget");
    budget(&world, world.kim, 30, 0);
    assert_eq!(latest(&world, "web"), "waiting");
    assert_eq!(hold(&world, "web"), None);
}

#[test]
fn the_next_free_place_goes_to_the_part_whose_oldest_new_mail_is_oldest() {
    let world = World::new();
    for name in ["ops", "qa"] {
        world.add(name);
    }
    budget(&world, world.kim, 1, 0);
    assert_eq!(sent(&world, "ops", "api"), "issued no_pager");
    assert_eq!(sent(&world, "ops", "db"), "held budget");
    assert!(Pager::FIRST.delivers(&world, "api"));
    world.inbox("api");
    world.minutes(60);
    // A place is free by now; the mail that comes before the sweep must not jump the queue.
    assert_eq!(sent(&world, "ops", "web"), "held budget");
    assert_eq!(latest(&world, "db"), "waiting");
}

#[test]
fn a_parked_part_holds_no_place() {
    let world = World::new();
    budget(&world, world.kim, 1, 0);
    assert_eq!(sent(&world, "api", "web"), "issued no_pager");
    pause(&world, "web", true);
    assert_eq!(sent(&world, "api", "db"), "issued no_pager");
    pause(&world, "web", false);
    // Two places for one line: the older wake keeps its own, the other waits.
    assert!(Pager::FIRST.wake(&world, "db").is_none());
    sweep(&world);
    assert_eq!(hold(&world, "db").as_deref(), Some("budget"));
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.minutes(60);
    world.inbox("web");
    assert!(Pager::FIRST.delivers(&world, "db"));
}

#[test]
fn a_budget_lowered_under_waiting_wakes_holds_the_youngest() {
    let world = World::new();
    sent(&world, "api", "web");
    sent(&world, "api", "db");
    let first = Pager::FIRST.wake(&world, "web").unwrap();
    let second = Pager::FIRST.wake(&world, "db").unwrap();
    budget(&world, world.kim, 1, 0);
    use relayroom::api::ReportResult;
    use relayroom::api::Stage;
    let confirm = |part, wake| Pager::FIRST.report(&world, part, wake, Stage::Confirm);
    assert_eq!(confirm("db", &second), ReportResult::Cleared);
    assert_eq!(confirm("web", &first), ReportResult::Ok);
    assert_eq!(nudges(&world), 0);
}

#[test]
fn an_urgent_wake_whose_allowance_was_taken_away_goes_on_as_normal() {
    let world = World::new();
    sent_urgent(&world, "api", "web");
    assert_eq!(lane(&world, "web"), "urgent");
    budget(&world, world.kim, 30, 0);
    assert_eq!(lane(&world, "web"), "normal");
    assert!(Pager::FIRST.delivers(&world, "web"));
}
