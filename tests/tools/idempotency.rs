//! Keys for calls that may be repeated (cases 102, 103, 43).

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;

fn keyed(body: &str) -> SendArgs {
    SendArgs {
        idempotency_key: Some("k1".into()),
        ..mail(&["web"], "s", body)
    }
}

#[test]
fn tools_102_case_m27_the_same_call_gives_the_same_ids() {
    let world = World::new();
    let first = world.send("api", keyed("x")).unwrap();
    assert!(!first.duplicate);
    for _ in 0..20 {
        let again = json(&world.send("api", keyed("x")).unwrap());
        assert_eq!(
            again,
            json!({"threadId": first.thread_id, "messageId": first.message_id, "duplicate": true})
        );
    }
    assert_eq!(world.count("SELECT count(*) FROM message"), 1);
    for n in 0..19 {
        world.sent("api", &["web"], &format!("t{n}"), "x");
    }
    world.close("api", &first.thread_id).unwrap();
    assert!(world.send("api", keyed("x")).unwrap().duplicate);
}

#[test]
fn tools_102_a_repeated_reply_answers_after_the_thread_closed() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let args = ReplyArgs {
        idempotency_key: Some("k1".into()),
        ..answer(&thread, "done")
    };
    let first = world.reply("web", args.clone()).unwrap();
    world.close("web", &thread).unwrap();
    let again = json(&world.reply("web", args).unwrap());
    assert_eq!(
        again,
        json!({"messageId": first.message_id, "duplicate": true})
    );
}

#[test]
fn tools_102_case_m27_two_at_once_are_one_message() {
    let world = World::new();
    let sent: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let (caller, store, now) = (world.caller("api"), world.store.clone(), world.now());
                scope.spawn(move || {
                    store
                        .write_blocking(move |tx| {
                            messaging::send(tx, &Author::Part(&caller), &keyed("x"), now)
                        })
                        .unwrap()
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(sent[0].message_id, sent[1].message_id);
    assert_eq!(world.count("SELECT count(*) FROM message"), 1);
}

#[test]
fn tools_103_case_m27_a_key_stands_for_one_call() {
    let world = World::new();
    let thread = world.send("api", keyed("x")).unwrap().thread_id;
    assert_eq!(code(world.send("api", keyed("y"))), "key_reused");
    let urgent = SendArgs {
        urgent: true,
        ..keyed("x")
    };
    assert_eq!(code(world.send("api", urgent)), "key_reused");
    let reply = ReplyArgs {
        idempotency_key: Some("k1".into()),
        ..answer(&thread, "x")
    };
    assert_eq!(code(world.reply("api", reply)), "key_reused");
    assert_eq!(world.count("SELECT count(*) FROM message"), 1);
    let by_web = SendArgs {
        to: vec!["api".into()],
        ..keyed("x")
    };
    assert!(!world.send("web", by_web).unwrap().duplicate);
    world.minutes(24 * 60);
    assert!(!world.send("api", keyed("y")).unwrap().duplicate);
    // What is too old is forgotten for good.
    assert_eq!(world.count("SELECT count(*) FROM idempotency"), 1);
}

#[test]
fn tools_103_a_refused_call_does_not_use_its_key_up() {
    let world = World::new();
    let to_ghost = SendArgs {
        to: vec!["ghost".into()],
        ..keyed("x")
    };
    assert_eq!(code(world.send("api", to_ghost)), "bad_recipients");
    assert!(!world.send("api", keyed("x")).unwrap().duplicate);
}

#[test]
fn tools_103_keys_are_bounded_texts() {
    let world = World::new();
    let with = |key: &str| SendArgs {
        idempotency_key: Some(key.into()),
        ..mail(&["web"], "s", "x")
    };
    assert_eq!(code(world.send("api", with(&"k".repeat(129)))), "too_large");
    assert_eq!(code(world.send("api", with(" "))), "invalid_argument");
    assert_eq!(code(world.send("api", with("a\nb"))), "control_character");
    world.send("api", with(&"k".repeat(128))).unwrap();
}

#[test]
fn tools_103_case_m27_without_a_key_two_calls_are_two_messages() {
    let world = World::new();
    world.sent("api", &["web"], "s", "x");
    world.sent("api", &["web"], "s", "x");
    assert_eq!(world.count("SELECT count(*) FROM thread"), 2);
}
