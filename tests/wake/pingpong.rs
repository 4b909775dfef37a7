//! Parts that answer each other too fast, chains, and the person who ends it.

use relayroom::messaging::Replied;
use relayroom::messaging::ReplyArgs;

use super::*;
use crate::support::world::answer;
use crate::wake::pager::Pager;

fn woken(replied: Replied, part: &str) -> String {
    let to = replied
        .recipients
        .unwrap()
        .into_iter()
        .find(|to| to.part == part)
        .unwrap();
    match to.reason {
        Some(reason) => format!("{} {reason}", to.wake),
        None => to.wake.to_owned(),
    }
}

/// One reply in the thread, after the writer fetched its mail.
fn reply(world: &World, from: &str, to: &str, thread: &str) -> String {
    let number = world.count("SELECT count(*) FROM message");
    world.inbox(from);
    // Urgent, so that no cooldown is in the way; it does not pass the brake.
    let args = ReplyArgs {
        urgent: true,
        ..answer(thread, &format!("answer {number}"))
    };
    woken(world.reply(from, args).unwrap(), to)
}

#[test]
fn wake_031_case_a01_alternating_replies_are_held_for_longer_and_longer() {
    let world = World::new();
    budget(&world, world.kim, 240, 60);
    Pager::FIRST.poll(&world, &["api", "web"]);
    let thread = world.sent("api", &["web"], "s", "b").thread_id;
    let mut holds: Vec<(i64, i64)> = Vec::new();
    let mut parties = ["api", "web"];
    for message in 2..=70 * 6 {
        world.seconds(10);
        parties.reverse();
        let [from, to] = parties;
        let until = holds.last().map_or(0, |hold| hold.1);
        let before = wakes(&world);
        let outcome = reply(&world, from, to, &thread);
        sweep(&world);
        if message < 6 {
            assert_eq!(outcome, "issued", "message {message}");
        }
        if message == 6 || world.now().0 < until {
            assert_eq!(outcome, "held ping_pong", "message {message}");
            assert_eq!(wakes(&world), before);
        }
        let brake = (
            world.count("SELECT coalesce(max(tripped_at), 0) FROM brake"),
            world.count("SELECT coalesce(max(until), 0) FROM brake"),
        );
        if brake.0 > 0 && holds.last() != Some(&brake) {
            holds.push(brake);
        }
        Pager::FIRST.poll(&world, &["api", "web"]);
    }
    let minutes: Vec<_> = holds
        .iter()
        .map(|(tripped, until)| (until - tripped) / 60_000)
        .collect();
    assert_eq!(minutes, [2, 4, 8, 16, 30, 30]);
}

/// api and web have answered each other until api's wakes are held.
fn braked() -> (World, String) {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "b").thread_id;
    let mut parties = ["web", "api"];
    for _ in 0..5 {
        world.seconds(10);
        reply(&world, parties[0], parties[1], &thread);
        parties.reverse();
    }
    assert_eq!(hold(&world, "api").as_deref(), Some("ping_pong"));
    (world, thread)
}

#[test]
fn what_the_brake_held_is_woken_for_when_the_hold_ends() {
    let (world, _) = braked();
    world.seconds(119);
    sweep(&world);
    assert!(hold(&world, "api").is_some());
    world.seconds(1);
    sweep(&world);
    assert_eq!(hold(&world, "api"), None);
    assert_eq!(latest(&world, "api"), "waiting");
}

/// Three parts pass a message round, one every `seconds`, each in a thread of its own; what became of each.
fn passed_round(seconds: u64) -> (World, Vec<String>) {
    let world = World::new();
    budget(&world, world.kim, 240, 60);
    Pager::FIRST.poll(&world, &["api", "web", "db"]);
    let ring = ["api", "web", "db"];
    let outcomes = (0..16)
        .map(|n| {
            let (from, to) = (ring[n % 3], ring[(n + 1) % 3]);
            world.inbox(from);
            let outcome = sent(&world, from, to);
            // Read, so that no reminder comes in between.
            world.execute("UPDATE recipient SET read_at = 1 WHERE seen_at IS NOT NULL");
            world.seconds(seconds);
            Pager::FIRST.poll(&world, &["api", "web", "db"]);
            outcome
        })
        .collect();
    (world, outcomes)
}

#[test]
fn wake_032_a_fast_chain_is_held_from_hop_twelve_on() {
    let (world, outcomes) = passed_round(10);
    for (hop, outcome) in outcomes.iter().enumerate() {
        let expected = if hop < 12 { "issued" } else { "held ping_pong" };
        assert_eq!(outcome, expected, "hop {hop}");
    }
    assert_eq!(
        world.count("SELECT min(until - tripped_at) FROM brake"),
        120_000
    );
    let (_, slow) = passed_round(360);
    assert_eq!(slow, ["issued"; 16]);
}

#[test]
fn wake_033_a_persons_message_clears_the_brake_and_wakes_whatever_the_budget() {
    let (world, thread) = braked();
    budget(&world, world.kim, 0, 0);
    let person = world.reply_as_human(answer(&thread, "stop")).unwrap();
    assert_eq!(woken(person, "api"), "issued no_pager");
    assert_eq!(lane(&world, "api"), "human");
    assert_eq!(hold(&world, "api"), None);
    // The pair starts from nothing.
    budget(&world, world.kim, 240, 60);
    world.inbox("web");
    world.seconds(10);
    assert_eq!(reply(&world, "api", "web", &thread), "issued no_pager");
    assert_eq!(world.count("SELECT count(*) FROM brake"), 0);
}

#[test]
fn wake_034_the_sixty_first_message_of_a_person_in_an_hour_is_held() {
    let world = World::new();
    Pager::FIRST.poll(&world, &["web"]);
    for _ in 0..60 {
        assert_eq!(sent_by_person(&world, "web"), "issued");
        assert!(Pager::FIRST.delivers(&world, "web"));
        world.inbox("web");
        world.seconds(50);
    }
    assert_eq!(sent_by_person(&world, "web"), "held human_ceiling");
    world.minutes(10);
    sweep(&world);
    assert_eq!(latest(&world, "web"), "waiting");
}
