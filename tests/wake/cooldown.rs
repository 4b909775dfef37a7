//! Cooldown and the broadcast cap.

use super::*;
use crate::support::world::answer;
use crate::wake::pager::Pager;

/// web was woken by api's message and has caught up.
fn caught_up() -> World {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web", "api", "db"]);
    assert_eq!(sent(&world, "api", "web"), "issued");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.inbox("web");
    world
}

#[test]
fn wake_013_a_second_message_within_30_s_waits_for_the_first_sweep_after() {
    let world = caught_up();
    world.seconds(10);
    assert_eq!(sent(&world, "api", "web"), "held cooldown");
    world.seconds(19);
    sweep(&world);
    assert_eq!(hold(&world, "web").as_deref(), Some("cooldown"));
    world.seconds(1);
    sweep(&world);
    assert_eq!(latest(&world, "web"), "waiting");
    assert_eq!(hold(&world, "web"), None);
}

#[test]
fn wake_014_another_sender_is_not_cooled() {
    let world = caught_up();
    assert_eq!(sent(&world, "db", "web"), "issued");
}

#[test]
fn wake_015_the_answer_is_not_cooled() {
    let world = caught_up();
    assert_eq!(sent(&world, "web", "api"), "issued");
}

#[test]
fn wake_016_a_broadcast_neither_asks_nor_leaves_a_cooldown() {
    let world = caught_up();
    let both = world.sent("api", &["web", "db"], "to both", "b");
    assert_eq!(outcomes(&both), ["issued", "issued"]);
    assert!(Pager::FIRST.delivers(&world, "db"));
    world.inbox("db");
    assert_eq!(sent(&world, "api", "db"), "issued");
}

#[test]
fn urgent_mail_skips_the_cooldown() {
    let world = caught_up();
    assert_eq!(sent_urgent(&world, "api", "web"), "issued");
}

#[test]
fn a_part_is_held_only_if_every_new_message_is() {
    let world = caught_up();
    assert_eq!(sent(&world, "api", "web"), "held cooldown");
    assert_eq!(sent(&world, "db", "web"), "issued");
    assert_eq!(hold(&world, "web"), None);
}

#[test]
fn what_a_reply_reached_beyond_the_cap_is_woken_by_the_next_sweep() {
    let world = World::new();
    world.add("ops");
    world.execute("UPDATE project SET max_broadcast = 1");
    let thread = world.sent("api", &["web"], "s", "b").thread_id;
    world.replied("db", &thread, "one more");
    for part in ["web", "api"] {
        world.inbox(part);
    }
    world.seconds(40);
    let reply = world.reply("ops", answer(&thread, "and me")).unwrap();
    let outcomes: Vec<_> = reply
        .recipients
        .unwrap()
        .into_iter()
        .map(|to| (to.wake, to.reason))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("issued", Some("no_pager")),
            ("held", Some("broadcast")),
            ("held", Some("broadcast")),
        ]
    );
    assert_eq!(open_wakes(&world), 1);
    sweep(&world);
    assert_eq!(open_wakes(&world), 3);
    assert_eq!(
        world.count("SELECT count(*) FROM hold WHERE ended_at IS NULL"),
        0
    );
}
