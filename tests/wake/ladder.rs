//! After a nudge: further nudges, the end, reminders.

use super::*;
use crate::wake::pager::Pager;

#[test]
fn wake_024_case_a02_four_nudges_and_no_more() {
    let world = World::new();
    sent(&world, "api", "web");
    let mut at = Vec::new();
    for _ in 0..2 * 60 * 2 {
        if Pager::FIRST.delivers(&world, "web") {
            at.push(world.now().0);
        }
        world.seconds(30);
        sweep(&world);
    }
    let gaps: Vec<_> = at
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) / 1_000)
        .collect();
    assert_eq!(gaps, [90, 300, 900]);
    assert_eq!(latest(&world, "web"), "unanswered");
    assert_eq!(wakes(&world), 1);
}

#[test]
fn wake_025_new_mail_after_unanswered_is_a_new_wake() {
    let world = World::new();
    sent(&world, "api", "web");
    world.execute("UPDATE wake SET rung = 4");
    assert!(Pager::FIRST.delivers(&world, "web"));
    sweep_for(&world, 16);
    assert_eq!(latest(&world, "web"), "unanswered");
    assert_eq!(sent(&world, "api", "web"), "issued no_pager");
    assert!(Pager::FIRST.delivers(&world, "web"));
}

#[test]
fn mail_that_came_after_the_last_nudge_is_announced_by_a_new_wake() {
    let world = World::new();
    sent(&world, "api", "web");
    world.execute("UPDATE wake SET rung = 4");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.minutes(2);
    assert_eq!(sent(&world, "db", "web"), "waiting no_pager");
    sweep_for(&world, 14);
    assert_eq!(wakes(&world), 2);
    assert_eq!(latest(&world, "web"), "waiting");
}

#[test]
fn new_mail_brings_the_next_nudge_forward() {
    let world = World::new();
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.seconds(20);
    assert_eq!(sent(&world, "db", "web"), "waiting");
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    world.seconds(41);
    sweep(&world);
    assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().nudge, 2);
}

#[test]
fn wake_026_two_reminders_then_never() {
    let world = World::new();
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    assert_eq!(latest(&world, "web"), "consumed");
    for minutes in [10, 30] {
        let before = wakes(&world);
        sweep_for(&world, minutes - 1);
        assert_eq!(wakes(&world), before);
        sweep_for(&world, 1);
        assert_eq!(wakes(&world), before + 1);
        assert_eq!(
            text(&world, "SELECT kind FROM wake ORDER BY seq DESC LIMIT 1").as_deref(),
            Some("reminder")
        );
        assert!(Pager::FIRST.delivers(&world, "web"));
        world.inbox("web");
    }
    sweep_for(&world, 24 * 60);
    assert_eq!(wakes(&world), 3);
}

#[test]
fn wake_027_acking_one_of_two_does_not_wake_for_the_other() {
    let world = World::new();
    let first = world.sent("api", &["web"], "one", "b");
    sent(&world, "db", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.ack("web", &first.message_id).unwrap();
    assert_eq!(latest(&world, "web"), "consumed");
    sweep_for(&world, 9);
    assert_eq!(wakes(&world), 1);
    sweep_for(&world, 1);
    assert_eq!(wakes(&world), 2);
}

#[test]
fn what_the_part_answered_last_is_not_reminded_of() {
    let world = World::new();
    let first = world.sent("api", &["web"], "one", "b");
    assert!(Pager::FIRST.delivers(&world, "web"));
    // Answered without a look at the message, which stays unread.
    world.replied("web", &first.thread_id, "done");
    assert_eq!(world.status(&first.thread_id), "answered");
    world.inbox("api");
    world.execute("UPDATE recipient SET read_at = 1 WHERE message = 2");
    sweep_for(&world, 60);
    assert_eq!(wakes(&world), 2);
    assert_eq!(open_wakes(&world), 0);
}

#[test]
fn unanswered_mail_is_not_reminded_of() {
    let world = World::new();
    sent(&world, "api", "web");
    world.execute("UPDATE wake SET rung = 4");
    assert!(Pager::FIRST.delivers(&world, "web"));
    sweep_for(&world, 120);
    assert_eq!(wakes(&world), 1);
}

#[test]
fn each_nudge_passes_the_budget() {
    let world = World::new();
    budget(&world, world.kim, 1, 0);
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.seconds(90);
    sweep(&world);
    assert_eq!(hold(&world, "web").as_deref(), Some("budget"));
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    budget(&world, world.kim, 2, 0);
    assert_eq!(hold(&world, "web"), None);
    assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().nudge, 2);
}
