//! Brakes on senders (cases 98–101, A04).

use std::time::Duration;

use relayroom::identity::Level;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::store::Store;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::mail;
use crate::support::world::refused;

#[test]
fn tools_098_twenty_messages_a_minute() {
    let world = World::new();
    for n in 0..20 {
        world.sent("api", &["web"], &format!("t{n}"), "x");
        world.pass(Duration::from_secs(1));
    }
    let refusal = refused(world.send("api", mail(&["web"], "t20", "x")));
    assert_eq!(refusal["error"], "rate_limited");
    assert_eq!(refusal["scope"], "part");
    // 20 s have passed since the first: it leaves the window in 40.
    assert_eq!(refusal["retryAfterSeconds"], 40);
    let thread = world.sent("db", &["web"], "db is free", "x").thread_id;
    assert_eq!(
        code(world.reply("api", answer(&thread, "x"))),
        "rate_limited"
    );
    world.pass(Duration::from_millis(39_999));
    assert_eq!(
        code(world.send("api", mail(&["web"], "t20", "x"))),
        "rate_limited"
    );
    world.pass(Duration::from_millis(2));
    world.sent("api", &["web"], "t20", "x");
}

#[test]
fn tools_099_one_hundred_and_twenty_over_all_parts_of_an_owner() {
    let world = World::new();
    let other = world.project("other");
    let lee = world.person("lee", Level::Write, false, false);
    world.add_to(world.shop, "ops", lee);
    for n in 0..4 {
        world.add_to(other, &format!("o{n}"), world.kim);
    }
    for name in ["api", "db"] {
        for n in 0..20 {
            world.sent(name, &["web"], &format!("{name}{n}"), "x");
        }
    }
    for name in ["o0", "o1", "o2", "o3"] {
        for n in 0..20 {
            let caller = world.caller_in(other, name);
            let to = if name == "o0" { "o1" } else { "o0" };
            let args = mail(&[to], &format!("{name}{n}"), "x");
            world
                .write(move |tx, now| messaging::send(tx, &Author::Part(&caller), &args, now))
                .unwrap();
        }
    }
    let refusal = refused(world.send("web", mail(&["api"], "first of web", "x")));
    assert_eq!(
        (refusal["error"].clone(), refusal["scope"].clone()),
        (json!("rate_limited"), json!("owner"))
    );
    world.sent("ops", &["web"], "Lee goes on", "x");
    world
        .send_as_human(mail(&["web"], "people are not braked", "x"))
        .unwrap();
}

#[test]
fn tools_100_the_fourth_equal_message_is_repeated() {
    let world = World::new();
    for _ in 0..3 {
        world.sent("api", &["web", "db"], "s", "same");
    }
    let refusal = refused(world.send("api", mail(&["db", "web"], "s", "same")));
    assert_eq!(refusal["error"], "repeated");
    assert_eq!(refusal["retryAfterSeconds"], 60);
    world.sent("api", &["web"], "s", "same");
    world.sent("api", &["web", "db"], "other", "same");
    world.sent("api", &["web", "db"], "s", "other");
    world.sent("web", &["api", "db"], "s", "same");
    let one = world.sent("api", &["web"], "thread one", "x").thread_id;
    let two = world.sent("api", &["web"], "thread two", "x").thread_id;
    for _ in 0..3 {
        world.replied("api", &one, "ping");
    }
    assert_eq!(code(world.reply("api", answer(&one, "ping"))), "repeated");
    world.replied("api", &two, "ping");
    world.minutes(1);
    world.replied("api", &one, "ping");
}

#[test]
fn tools_101_a_restart_forgets_nothing_and_refusals_cost_nothing() {
    let world = World::new();
    for n in 0..20 {
        world.sent("api", &["web"], &format!("t{n}"), "x");
    }
    let (caller, now, path) = (
        world.caller("api"),
        world.now(),
        world.store.path().to_owned(),
    );
    let folder = world.close_file();
    let store = Store::open(&path, "again", now).unwrap();
    let again = |seconds: u64| {
        let caller = caller.clone();
        let now = now + Duration::from_secs(seconds);
        store.write_blocking(move |tx| {
            messaging::send(tx, &Author::Part(&caller), &mail(&["web"], "t20", "x"), now)
        })
    };
    for seconds in 1..60 {
        let refusal = refused(again(seconds));
        assert_eq!(refusal["retryAfterSeconds"], 60 - seconds);
    }
    again(60).unwrap();
    drop(store);
    drop(folder);
}

#[test]
fn case_a04_a_burst_is_stored_and_wakes_once() {
    let world = World::new();
    for part in 0..5 {
        world.add(&format!("p{part}"));
    }
    for n in 0..50 {
        world.pass(Duration::from_millis(40));
        world.sent(&format!("p{}", n % 5), &["web"], &format!("t{n}"), "x");
    }
    assert_eq!(world.count("SELECT count(*) FROM message"), 50);
    assert_eq!(world.count("SELECT count(*) FROM wake"), 1);
}
