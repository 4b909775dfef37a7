//! One wake per part, whatever arrives.

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::InboxArgs;
use relayroom::wake::Decision;

use super::*;
use crate::wake::pager::Pager;

#[test]
fn wake_001_idle_part_one_message_one_waiting_wake() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    assert_eq!(sent(&world, "api", "web"), "issued");
    assert_eq!(open_wakes(&world), 1);
    assert_eq!(latest(&world, "web"), "waiting");
}

#[test]
fn wake_002_three_messages_in_a_second_join_one_wake() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    assert_eq!(sent(&world, "api", "web"), "issued");
    assert_eq!(sent(&world, "api", "web"), "waiting");
    assert_eq!(sent(&world, "db", "web"), "waiting");
    assert_eq!(wakes(&world), 1);
    assert_eq!(
        world.count("SELECT last_seq FROM wake"),
        world.count("SELECT max(seq) FROM message")
    );
}

#[test]
fn wake_003_eight_sends_at_once_one_wake() {
    let world = World::new();
    let callers: Vec<_> = (0..8)
        .map(|n| {
            world.add(&format!("p{n}"));
            world.caller(&format!("p{n}"))
        })
        .collect();
    let now = world.now();
    std::thread::scope(|scope| {
        for caller in callers {
            let store = world.store.clone();
            scope.spawn(move || {
                let args = mail(&["web"], "subject", "body");
                store.write_blocking(move |tx| {
                    messaging::send(tx, &Author::Part(&caller), &args, now)
                })
            });
        }
    });
    assert_eq!(world.count("SELECT count(*) FROM message"), 8);
    assert_eq!(wakes(&world), 1);
}

#[test]
fn wake_004_fyi_wakes_nobody() {
    let world = World::new();
    let outcome = sent_as(&world, "api", "web", |args| args.fyi = true);
    assert_eq!(outcome, "none fyi");
    sweep(&world);
    assert_eq!(wakes(&world), 0);
    assert_eq!(hold(&world, "web"), None);
    assert_eq!(world.inbox("web").list.items.len(), 1);
}

#[test]
fn wake_005_a_wake_is_for_loud_mail_only() {
    let world = World::new();
    sent_as(&world, "api", "web", |args| args.fyi = true);
    sent(&world, "api", "web");
    let loud = world.count("SELECT max(seq) FROM message");
    sent_as(&world, "db", "web", |args| args.fyi = true);
    sweep(&world);
    assert_eq!(wakes(&world), 1);
    assert_eq!(world.count("SELECT last_seq FROM wake"), loud);
    Pager::FIRST.delivers(&world, "web");
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE presented_at IS NOT NULL"),
        1
    );
}

#[test]
fn wake_028_mail_that_comes_while_the_inbox_is_read_is_listed_or_wakes() {
    let world = World::new();
    sent(&world, "api", "web");
    assert!(Pager::FIRST.delivers(&world, "web"));
    let listed = world.peek("web", InboxArgs::default()).unwrap();
    sent(&world, "db", "web");
    world.mark_shown("web", &listed.shown);
    assert_eq!(listed.list.items.len(), 1);
    assert_eq!(wakes(&world), 2);
    assert_eq!(latest(&world, "web"), "waiting");
}

#[test]
fn wake_041_paused_three_messages_resumed_one_wake() {
    let world = World::new();
    pause(&world, "web", true);
    for from in ["api", "db", "api"] {
        assert_eq!(sent(&world, from, "web"), "held paused");
    }
    sweep(&world);
    assert_eq!(wakes(&world), 0);
    assert_eq!(world.count("SELECT count(*) FROM hold"), 1);
    assert_eq!(world.count("SELECT count FROM hold"), 3);
    pause(&world, "web", false);
    assert_eq!(wakes(&world), 1);
    assert_eq!(
        world.count("SELECT count(*) FROM hold WHERE ended_at IS NULL"),
        0
    );
}

#[test]
fn wake_045_a_silent_pager_is_said_and_noted_until_it_polls() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    world.seconds(91);
    assert_eq!(sent(&world, "api", "web"), "issued no_pager");
    assert_eq!(
        text(&world, "SELECT hold_reason FROM wake").as_deref(),
        Some("no_pager")
    );
    assert!(Pager::FIRST.wake(&world, "web").is_some());
    assert_eq!(text(&world, "SELECT hold_reason FROM wake"), None);
}

#[test]
fn a_pager_that_falls_silent_later_holds_the_wake_up_since_then() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    assert_eq!(sent(&world, "api", "web"), "issued");
    let heard = world.now();
    sweep_for(&world, 3);
    assert_eq!(
        text(&world, "SELECT hold_reason FROM wake").as_deref(),
        Some("no_pager")
    );
    assert_eq!(world.count("SELECT hold_since FROM wake"), heard.0 + 90_000);
}

#[test]
fn wake_050_own_mail_and_the_persons_lane_wake_nobody() {
    let world = World::new();
    let sent = world.send("api", mail(&["human"], "s", "b")).unwrap();
    assert_eq!(outcomes(&sent), ["none human"]);
    let sent = world.sent("api", &["web"], "t", "b");
    world.inbox("web");
    world.replied("web", &sent.thread_id, "answer");
    world.inbox("api");
    sweep(&world);
    assert_eq!(consider(&world, "api"), Decision::Nothing);
    assert_eq!(open_wakes(&world), 0);
}

#[test]
fn a_wake_again_is_one_wake_in_the_human_lane() {
    let world = World::new();
    let part = world.part("web");
    let again = || world.write(move |tx, now| wake::again(tx, part, now));
    assert!(again().is_err(), "nothing loud is open");
    budget(&world, world.kim, 0, 0);
    assert_eq!(sent(&world, "api", "web"), "held budget");
    assert!(matches!(again().unwrap(), Decision::Issued(_)));
    assert_eq!(lane(&world, "web"), "human");
    assert!(matches!(again().unwrap(), Decision::Waiting(_)));
    assert_eq!(open_wakes(&world), 1);
    assert_eq!(hold(&world, "web"), None);
    assert!(Pager::FIRST.delivers(&world, "web"));
    assert!(Pager::FIRST.wake(&world, "web").is_none());
    world.seconds(61);
    assert!(matches!(again().unwrap(), Decision::Waiting(_)));
    assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().nudge, 2);
    pause(&world, "web", true);
    assert_eq!(again().unwrap(), Decision::Held(wake::HoldReason::Paused));
}

#[test]
fn a_wake_again_after_the_last_nudge_begins_a_new_ladder() {
    let world = World::new();
    let part = world.part("web");
    sent(&world, "api", "web");
    world.execute("UPDATE wake SET rung = 4");
    assert!(Pager::FIRST.delivers(&world, "web"));
    world.seconds(61);
    world
        .write(move |tx, now| wake::again(tx, part, now))
        .unwrap();
    assert_eq!(wakes(&world), 2);
    assert_eq!(Pager::FIRST.wake(&world, "web").unwrap().nudge, 1);
}

#[test]
fn the_hold_of_a_pause_ends_with_it_while_a_pager_has_the_wake() {
    let world = World::new();
    sent(&world, "api", "web");
    assert!(Pager::FIRST.wake(&world, "web").is_some());
    pause(&world, "web", true);
    assert_eq!(hold(&world, "web").as_deref(), Some("paused"));
    pause(&world, "web", false);
    assert_eq!(latest(&world, "web"), "leased");
    assert_eq!(hold(&world, "web"), None);
}
