//! Listing threads (cases 69, 70, 75).

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::List;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::ThreadRow;
use relayroom::messaging::ThreadsArgs;
use relayroom::store::Outcome;
use relayroom::store::new_id;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;

fn threads(world: &World, args: &ThreadsArgs) -> Outcome<List<ThreadRow>> {
    world.read(|connection| messaging::threads(connection, world.shop, args))
}

fn subjects(world: &World, args: &ThreadsArgs) -> Vec<String> {
    let list = threads(world, args).unwrap();
    list.items.into_iter().map(|row| row.subject).collect()
}

fn with_q(q: &str) -> ThreadsArgs {
    ThreadsArgs {
        q: Some(q.into()),
        ..ThreadsArgs::default()
    }
}

fn with_status(status: &str) -> ThreadsArgs {
    ThreadsArgs {
        status: Some(status.into()),
        ..ThreadsArgs::default()
    }
}

#[test]
fn tools_069_fifty_newest_then_the_rest() {
    let world = World::new();
    for n in 0..60 {
        world.seconds(4);
        world.sent("api", &["web"], &format!("t{n}"), "x");
    }
    let newest = threads(&world, &ThreadsArgs::default()).unwrap();
    assert_eq!(newest.note, None);
    assert_eq!(newest.items.len(), 50);
    assert_eq!(newest.items[0].subject, "t59");
    let rest = ThreadsArgs {
        before: Some(newest.items[49].id.clone()),
        ..ThreadsArgs::default()
    };
    let rest = subjects(&world, &rest);
    assert_eq!(
        (rest.len(), rest[0].as_str(), rest[9].as_str()),
        (10, "t9", "t0")
    );
    let keys = json(&newest.items[0]);
    let keys: Vec<&String> = keys.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "subject", "status", "createdAt"]);
}

#[test]
fn tools_069_a_state_is_found_behind_fifty_newer_threads() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "held", "x").thread_id;
    let holding = ReplyArgs {
        status: Some("holding".into()),
        ..answer(&thread, "wait")
    };
    world.reply("web", holding).unwrap();
    for n in 0..51 {
        world.seconds(4);
        world.sent("api", &["web"], &format!("t{n}"), "x");
    }
    assert_eq!(subjects(&world, &with_status("holding")), ["held"]);
    assert_eq!(subjects(&world, &with_status("open")).len(), 50);
    for bad in ["done", "", "OPEN"] {
        assert_eq!(code(threads(&world, &with_status(bad))), "invalid_argument");
    }
}

#[test]
fn tools_070_q_is_literal_and_knows_no_case() {
    let world = World::new();
    for subject in [
        "deploy plan",
        "100% done",
        "1000 done",
        "a_b",
        "axb",
        r"back\slash",
        "ÉCOLE",
    ] {
        world.sent("api", &["web"], subject, "x");
    }
    assert_eq!(subjects(&world, &with_q("DEPLOY")), ["deploy plan"]);
    assert_eq!(subjects(&world, &with_q("100%")), ["100% done"]);
    assert_eq!(subjects(&world, &with_q("a_b")), ["a_b"]);
    assert_eq!(subjects(&world, &with_q(r"\")), [r"back\slash"]);
    assert_eq!(subjects(&world, &with_q("école")), ["ÉCOLE"]);
    assert_eq!(code(threads(&world, &with_q("  "))), "invalid_argument");
    assert_eq!(
        code(threads(&world, &with_q(&"x".repeat(201)))),
        "too_large"
    );
    assert_eq!(code(threads(&world, &with_q("a\0b"))), "control_character");
}

#[test]
fn case_a08_cursor_of_no_thread_here_is_refused() {
    let world = World::new();
    let other = world.project("other");
    for name in ["one", "two"] {
        world.add_to(other, name, world.kim);
    }
    let one = world.caller_in(other, "one");
    let foreign = world
        .write(move |tx, now| {
            messaging::send(
                tx,
                &Author::Part(&one),
                &mail(&["two"], "foreign", "x"),
                now,
            )
        })
        .unwrap();
    let message = world.sent("api", &["web"], "s", "x").message_id;
    for bad in [
        foreign.thread_id.as_str(),
        &message,
        &new_id(),
        "garbage",
        "",
    ] {
        let args = ThreadsArgs {
            before: Some(bad.into()),
            ..ThreadsArgs::default()
        };
        assert_eq!(code(threads(&world, &args)), "bad_cursor");
    }
    assert_eq!(subjects(&world, &ThreadsArgs::default()), ["s"]);
}

#[test]
fn tools_059_threads_with_long_subjects_are_cut_and_can_be_followed() {
    let world = World::new();
    for n in 0..50 {
        world.seconds(4);
        world.sent("api", &["web"], &format!("{n:03}{}", "😀".repeat(197)), "x");
    }
    let mut args = ThreadsArgs::default();
    let mut followed = 0;
    loop {
        let page = threads(&world, &args).unwrap();
        assert!(serde_json::to_string(&page).unwrap().len() <= 24_576);
        followed += page.items.len();
        let Some(note) = page.note else { break };
        args.before = note.before;
    }
    assert_eq!(followed, 50);
}

#[test]
fn person_can_ask_for_the_threads_of_one_part() {
    let world = World::new();
    world.sent("api", &["web"], "with web", "x");
    world.sent("api", &["db"], "with db", "x");
    let args = ThreadsArgs {
        part: Some(world.part("web")),
        ..ThreadsArgs::default()
    };
    assert_eq!(subjects(&world, &args), ["with web"]);
}
