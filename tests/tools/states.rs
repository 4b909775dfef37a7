//! States of a thread and what moves it (cases 44–47, 49).

use relayroom::messaging::ReplyArgs;
use serde_json::Value;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::refused;

fn holding(thread: &str) -> ReplyArgs {
    ReplyArgs {
        status: Some("holding".into()),
        ..answer(thread, "give me an hour")
    }
}

fn fyi(thread: &str, body: &str) -> ReplyArgs {
    ReplyArgs {
        fyi: true,
        ..answer(thread, body)
    }
}

fn names(replied: &Value) -> Vec<&str> {
    replied["recipients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|recipient| recipient["part"].as_str().unwrap())
        .collect()
}

#[test]
fn tools_044_answer_and_further_question() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let replied = json(&world.replied("web", &thread, "done"));
    assert_eq!(replied["threadStatus"], "answered");
    let keys: Vec<&String> = replied.as_object().unwrap().keys().collect();
    // web was never shown the message it answers.
    assert_eq!(keys, ["messageId", "recipients", "threadStatus", "unseen"]);
    assert_eq!(names(&replied), ["api"]);
    assert_eq!(
        json(&world.replied("api", &thread, "and now?"))["threadStatus"],
        "open"
    );
    assert_eq!(
        json(&world.replied("api", &thread, "well?"))["threadStatus"],
        "open"
    );
}

#[test]
fn tools_045_outsider_becomes_participant_and_then_addressee() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.replied("web", &thread, "done");
    let outside = json(&world.replied("db", &thread, "may I add"));
    assert_eq!(outside["threadStatus"], "answered");
    assert_eq!(names(&outside), ["web", "api"]);
    let next = json(&world.replied("api", &thread, "thanks both, next"));
    assert_eq!(next["threadStatus"], "open");
    assert_eq!(names(&next), ["db", "web"]);
    assert_eq!(
        json(&world.replied("db", &thread, "here"))["threadStatus"],
        "answered"
    );
}

#[test]
fn tools_045_outsider_leaves_an_open_thread_open() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    assert_eq!(
        json(&world.replied("db", &thread, "aside"))["threadStatus"],
        "open"
    );
}

#[test]
fn tools_046_holding_and_what_ends_it() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let held = json(&world.reply("web", holding(&thread)).unwrap());
    assert_eq!(held["threadStatus"], "holding");
    assert_eq!(
        json(&world.replied("api", &thread, "hurry"))["threadStatus"],
        "open"
    );
    world.reply("web", holding(&thread)).unwrap();
    assert_eq!(
        json(&world.replied("web", &thread, "done"))["threadStatus"],
        "answered"
    );
    for bad in ["closed", "open", "", "Holding"] {
        let args = ReplyArgs {
            status: Some(bad.into()),
            ..answer(&thread, "x")
        };
        assert_eq!(code(world.reply("web", args)), "invalid_argument", "{bad}");
    }
    assert_eq!(code(world.reply("db", holding(&thread))), "not_participant");
    assert_eq!(world.status(&thread), "answered");
}

#[test]
fn tools_047_fyi_answers_and_fyi_thanks() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let answered = json(&world.reply("web", fyi(&thread, "done")).unwrap());
    assert_eq!(answered["threadStatus"], "answered");
    assert_eq!(
        answered["recipients"],
        json!([{"part": "api", "wake": "none", "reason": "fyi"}])
    );
    let thanks = json(&world.reply("api", fyi(&thread, "thanks")).unwrap());
    assert_eq!(thanks["threadStatus"], "answered");
    let both = ReplyArgs {
        urgent: true,
        ..fyi(&thread, "x")
    };
    assert_eq!(code(world.reply("api", both)), "invalid_argument");
}

#[test]
fn tools_049_done_threads_take_no_reply() {
    let world = World::new();
    let closed = world.sent("api", &["web"], "s", "x").thread_id;
    world.close("web", &closed).unwrap();
    let canceled = world.sent("api", &["web"], "t", "x").thread_id;
    let (human, thread) = (world.human(), canceled.clone());
    world
        .write(move |tx, now| {
            let status = relayroom::messaging::Status::Canceled;
            relayroom::messaging::person::set_status(tx, &human, &thread, status, None, now)
        })
        .unwrap();
    let messages = world.count("SELECT count(*) FROM message");
    for (thread, status) in [(closed, "closed"), (canceled, "canceled")] {
        let refusal = refused(world.reply("api", answer(&thread, "x")));
        assert_eq!(refusal["error"], "thread_done");
        assert_eq!(refusal["status"], status);
        assert_eq!(
            code(world.reply_as_human(answer(&thread, "x"))),
            "thread_done"
        );
    }
    assert_eq!(world.count("SELECT count(*) FROM message"), messages);
}
