//! Ending threads by hand, and their lessons (cases 76–81).

use relayroom::identity::Level;
use relayroom::identity::project;
use relayroom::messaging;
use relayroom::messaging::LessonArgs;
use relayroom::messaging::Status;
use relayroom::messaging::person;
use relayroom::store::new_id;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::refused;

fn lesson(title: &str, body: &str, kind: &str) -> Option<LessonArgs> {
    Some(LessonArgs {
        title: Some(title.into()),
        body: Some(body.into()),
        kind: Some(kind.into()),
    })
}

fn open_wakes(world: &World) -> i64 {
    world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL")
}

#[test]
fn tools_076_close_takes_the_thread_out_of_everything() {
    let world = World::new();
    let thread = world.sent("api", &["web", "db"], "s", "x").thread_id;
    let other = world.sent("api", &["db"], "t", "x").thread_id;
    assert_eq!(open_wakes(&world), 2);
    let closed = json(&world.close("web", &thread).unwrap());
    assert_eq!(
        closed,
        json!({"ok": true, "threadId": thread, "status": "closed", "unseen": ["db"]})
    );
    assert_eq!(json(&world.inbox("web").list), json!([]));
    let left = world.inbox("db").list.items;
    assert_eq!(
        (left.len(), left[0].thread_id.as_str()),
        (1, other.as_str())
    );
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE live = 0 AND read_at IS NOT NULL"),
        2
    );
    assert_eq!(
        code(world.reply("api", answer(&thread, "x"))),
        "thread_done"
    );
}

#[test]
fn tools_076_wakes_with_other_mail_stay() {
    let world = World::new();
    let thread = world.sent("api", &["web", "db"], "s", "x").thread_id;
    world.sent("api", &["db"], "t", "x");
    world.close("api", &thread).unwrap();
    assert_eq!(open_wakes(&world), 1);
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL AND part = (SELECT seq FROM part WHERE slug = 'db')"),
        1
    );
}

#[test]
fn tools_077_bystanders_may_not_close_and_main_may() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    assert_eq!(code(world.close("db", &thread)), "not_participant");
    assert_eq!(world.status(&thread), "open");
    world.set_main(Some("db"));
    assert_eq!(world.close("db", &thread).unwrap().status, "closed");
    assert_eq!(code(world.close("db", &new_id())), "thread_not_found");
    assert_eq!(code(world.close("db", "x")), "invalid_argument");
}

#[test]
fn tools_078_close_again_says_what_the_thread_is() {
    let world = World::new();
    let thread = world.sent("api", &["web", "db"], "s", "x").thread_id;
    world.inbox("web");
    assert_eq!(
        json(&world.close("api", &thread).unwrap())["unseen"],
        json!(["db"])
    );
    let ended = world.count("SELECT ended_at FROM thread");
    world.seconds(5);
    let again = json(&world.close("api", &thread).unwrap());
    assert_eq!(
        again,
        json!({"ok": true, "threadId": thread, "status": "closed"})
    );
    assert_eq!(world.count("SELECT ended_at FROM thread"), ended);
    let canceled = world.sent("api", &["web"], "t", "x").thread_id;
    let (human, id) = (world.human(), canceled.clone());
    world
        .write(move |tx, now| person::set_status(tx, &human, &id, Status::Canceled, None, now))
        .unwrap();
    assert_eq!(
        json(&world.close("web", &canceled).unwrap())["status"],
        "canceled"
    );
    assert_eq!(world.status(&canceled), "canceled");
}

#[test]
fn tools_079_a_lesson_is_recorded_once() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let closed = json(
        &world
            .close_with("web", &thread, lesson("T", "B", "pitfall"))
            .unwrap(),
    );
    assert_eq!(closed["lesson"]["recorded"], true);
    assert!(closed["lesson"]["knowledgeId"].is_string());
    let keys: Vec<&String> = closed.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["ok", "threadId", "status", "lesson"]);
    let second = json(
        &world
            .close_with("api", &thread, lesson("T2", "B2", "fact"))
            .unwrap(),
    );
    assert_eq!(second["lesson"]["code"], "already_decided");
    assert_eq!(world.count("SELECT count(*) FROM knowledge"), 1);
}

#[test]
fn tools_079_lesson_on_a_thread_closed_without_one() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.close("web", &thread).unwrap();
    let late = json(
        &world
            .close_with("web", &thread, lesson("T", "B", "fact"))
            .unwrap(),
    );
    assert_eq!(late["lesson"]["recorded"], true);
}

#[test]
fn tools_079_what_stops_a_lesson_never_stops_the_close() {
    let world = World::new();
    let lee = world.person("lee", Level::Readonly, false, false);
    world.add_to(world.shop, "ops", lee);
    let thread = world.sent("api", &["ops", "web"], "s", "x").thread_id;
    let closed = json(
        &world
            .close_with("ops", &thread, lesson("T", "B", "fact"))
            .unwrap(),
    );
    assert_eq!(
        (closed["status"].clone(), closed["lesson"]["code"].clone()),
        (json!("closed"), json!("unauthorized"))
    );
    let shop = world.shop;
    world
        .write(move |tx, _| project::set_distill_on_close(tx, shop, false))
        .unwrap();
    let thread = world.sent("api", &["web"], "t", "x").thread_id;
    let closed = json(
        &world
            .close_with("web", &thread, lesson("T", "B", "fact"))
            .unwrap(),
    );
    assert_eq!(
        (closed["status"].clone(), closed["lesson"]["code"].clone()),
        (json!("closed"), json!("distill_disabled"))
    );
    assert_eq!(world.count("SELECT count(*) FROM knowledge"), 0);
}

#[test]
fn tools_080_lessons_have_their_own_limit_and_redaction() {
    let world = World::new();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let thread = world.sent("api", &["web"], "secret", "x").thread_id;
    let empty = json(
        &world
            .close_with("web", &thread, lesson("T", &secret, "fact"))
            .unwrap(),
    );
    assert_eq!(empty["lesson"]["code"], "empty_after_redaction");
    let title = json(
        &world
            .close_with("web", &thread, lesson(&secret, "B", "fact"))
            .unwrap(),
    );
    assert_eq!(title["lesson"]["recorded"], true);
    assert_eq!(
        world.count("SELECT count(*) FROM knowledge WHERE title = '(redacted)'"),
        1
    );
    for n in 0..60 {
        world.seconds(20);
        let thread = world.sent("api", &["web"], &format!("t{n}"), "x").thread_id;
        let closed = json(
            &world
                .close_with("web", &thread, lesson("T", "B", "fact"))
                .unwrap(),
        );
        assert_eq!(closed["status"], "closed");
        assert_eq!(closed["lesson"]["recorded"], n < 59, "{n}");
        if n == 59 {
            assert_eq!(closed["lesson"]["code"], "rate_limited");
        }
    }
}

#[test]
fn tools_081_a_malformed_lesson_closes_nothing() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let partial = LessonArgs {
        title: Some("T".into()),
        body: Some("B".into()),
        kind: None,
    };
    assert_eq!(
        code(world.close_with("web", &thread, Some(partial))),
        "invalid_argument"
    );
    for (bad, why) in [
        (lesson(&"x".repeat(201), "B", "fact"), "too_large"),
        (lesson("T", &"x".repeat(4001), "fact"), "too_large"),
        (lesson("T", "B", "tip"), "invalid_argument"),
        (lesson(" ", "B", "fact"), "invalid_argument"),
        (lesson("T", " ", "fact"), "invalid_argument"),
        (lesson("a\nb", "B", "fact"), "control_character"),
    ] {
        assert_eq!(code(world.close_with("web", &thread, bad)), why);
    }
    assert_eq!(world.status(&thread), "open");
}

#[test]
fn tools_081_two_closes_at_once_record_one_lesson() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let codes: Vec<_> = std::thread::scope(|scope| {
        let calls: Vec<_> = ["api", "web"]
            .map(|name| {
                let (caller, store, now) = (world.caller(name), world.store.clone(), world.now());
                let args = messaging::CloseArgs {
                    thread_id: thread.clone(),
                    lesson: lesson("T", name, "fact"),
                };
                scope.spawn(move || {
                    store.write_blocking(move |tx| {
                        messaging::close(tx, &messaging::Author::Part(&caller), &args, now)
                    })
                })
            })
            .into_iter()
            .collect();
        calls
            .into_iter()
            .map(|call| call.join().unwrap().unwrap())
            .map(|closed| {
                assert_eq!(closed.status, "closed");
                closed.lesson.unwrap().code
            })
            .collect()
    });
    assert!(
        codes.contains(&None) && codes.contains(&Some("already_decided")),
        "{codes:?}"
    );
}

#[test]
fn tools_076_readonly_participants_may_close() {
    let world = World::new();
    let lee = world.person("lee", Level::Readonly, false, false);
    world.add_to(world.shop, "ops", lee);
    let thread = world.sent("api", &["ops"], "s", "x").thread_id;
    assert_eq!(world.close("ops", &thread).unwrap().status, "closed");
    assert_eq!(
        refused(world.reply("ops", answer(&thread, "x")))["error"],
        "unauthorized"
    );
}
