//! The person's lane (cli.md 5, dashboard.md 5).

use relayroom::messaging;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::ShowArgs;
use relayroom::messaging::Shown;
use relayroom::messaging::Status;
use relayroom::messaging::ThreadRow;
use relayroom::messaging::person;
use relayroom::messaging::person::PersonInboxArgs;
use relayroom::store::Outcome;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;
use crate::support::world::refused;

fn set_status(
    world: &World,
    thread: &str,
    status: Status,
    expected: Option<Status>,
) -> Outcome<ThreadRow> {
    let (human, thread) = (world.human(), thread.to_owned());
    world.write(move |tx, now| person::set_status(tx, &human, &thread, status, expected, now))
}

fn inbox(world: &World, all: bool) -> Vec<String> {
    let args = PersonInboxArgs {
        all,
        ..PersonInboxArgs::default()
    };
    let list = world
        .read(|connection| person::inbox(connection, world.shop, &args))
        .unwrap();
    list.items.into_iter().map(|row| row.subject).collect()
}

/// The person opens a thread as the routes do it: read, then marked.
fn open(world: &World, thread: &str) -> Shown {
    let (human, shop) = (world.human(), world.shop);
    let args = ShowArgs {
        thread_id: thread.to_owned(),
        after: None,
    };
    let shown = world
        .read(|connection| messaging::show(connection, &human, &args, world.now()))
        .unwrap();
    let marks = shown.shown.clone();
    world
        .write(move |tx, now| person::opened(tx, shop, &marks, now))
        .unwrap();
    shown
}

#[test]
fn cli_018_a_person_writes_as_human() {
    let world = World::new();
    let sent = json(
        &world
            .send_as_human(mail(&["web", "api"], "Freeze", "x"))
            .unwrap(),
    );
    assert_eq!(sent["recipients"].as_array().unwrap().len(), 2);
    assert_eq!(json(&world.inbox("web").list)[0]["from"], "human");
    assert_eq!(
        world.count("SELECT count(*) FROM message WHERE sender IS NULL"),
        1
    );
    assert_eq!(
        world.count("SELECT count(*) FROM thread WHERE opener IS NULL"),
        1
    );
}

#[test]
fn a_person_is_not_a_recipient_of_their_own_mail() {
    let world = World::new();
    let refusal = refused(world.send_as_human(mail(&["human", "wbe"], "s", "x")));
    assert_eq!(
        refusal["bad"],
        json!([{"name": "human", "why": "self"}, {"name": "wbe", "why": "unknown", "near": ["web"]}])
    );
    assert_eq!(refusal["known"], json!(["api", "db", "web"]));
}

#[test]
fn cli_021_looking_on_marks_nothing() {
    let world = World::new();
    world.sent("api", &["web"], "s", "x");
    let part = world.part("web");
    let list = world
        .read(|connection| person::look_on(connection, part, &InboxArgs::default(), world.now()))
        .unwrap();
    assert_eq!(list.items.len(), 1);
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE seen_at IS NOT NULL"),
        0
    );
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        1
    );
}

#[test]
fn inbox_of_the_person_has_flagged_threads_first() {
    let world = World::new();
    let flagging = SendArgs {
        needs_human: true,
        ..mail(&["web"], "flagged", "x")
    };
    world.send("api", flagging).unwrap();
    world.sent("api", &["human"], "question", "may I?");
    let settled = world.sent("api", &["human"], "settled", "x").thread_id;
    world.sent("api", &["web"], "not yours", "x");
    open(&world, &settled);
    assert_eq!(inbox(&world, false), ["flagged", "question"]);
    assert_eq!(inbox(&world, true), ["flagged", "settled", "question"]);
    let list = world
        .read(|connection| person::inbox(connection, world.shop, &PersonInboxArgs::default()))
        .unwrap();
    let question = json(&list.items[1]);
    assert_eq!(
        (
            question["from"].clone(),
            question["preview"].clone(),
            question["unread"].clone()
        ),
        (json!("api"), json!("may I?"), json!(1))
    );
    assert_eq!(json(&list.items[0])["needsHuman"], true);
}

#[test]
fn inbox_of_the_person_can_be_followed_past_the_flagged_threads() {
    let world = World::new();
    for n in 0..110 {
        world.seconds(10);
        let args = SendArgs {
            needs_human: n % 2 == 0,
            ..mail(&["human"], &n.to_string(), "x")
        };
        world.send("api", args).unwrap();
    }
    let mut followed: Vec<u32> = Vec::new();
    let mut args = PersonInboxArgs::default();
    loop {
        let page = world
            .read(|connection| person::inbox(connection, world.shop, &args))
            .unwrap();
        let Some(last) = page.items.last() else { break };
        args.before = Some(last.thread_id.clone());
        followed.extend(
            page.items
                .iter()
                .map(|row| row.subject.parse::<u32>().unwrap()),
        );
    }
    let flagged_first = (0..110).rev().filter(|n| n % 2 == 0);
    let expected: Vec<u32> = flagged_first
        .chain((0..110).rev().filter(|n| n % 2 == 1))
        .collect();
    assert_eq!(followed, expected);
}

#[test]
fn opening_a_thread_marks_it_read_for_the_person_and_shows_all_receipts() {
    let world = World::new();
    let sent = world.sent("api", &["web", "human"], "s", "x");
    let shown = open(&world, &sent.thread_id);
    assert!(shown.messages[0].unread);
    let receipts = json(&shown.messages[0])["receipts"].clone();
    assert_eq!(receipts, json!({"web": "stored", "human": "stored"}));
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE part IS NULL AND seen_at IS NOT NULL AND read_at IS NOT NULL"),
        1
    );
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE read_at IS NOT NULL"),
        1
    );
}

#[test]
fn a_reply_of_a_person_answers_the_flag_unless_it_is_kept() {
    let world = World::new();
    let flagging = SendArgs {
        needs_human: true,
        ..mail(&["web"], "flagged", "x")
    };
    let thread = world.send("api", flagging).unwrap().thread_id;
    let flags =
        |world: &World| world.count("SELECT count(*) FROM thread WHERE flagged_at IS NOT NULL");
    let keep = ReplyArgs {
        keep_flag: true,
        ..answer(&thread, "later")
    };
    world.reply_as_human(keep).unwrap();
    assert_eq!(flags(&world), 1);
    let replied = json(&world.reply_as_human(answer(&thread, "yes")).unwrap());
    assert_eq!(flags(&world), 0);
    assert_eq!(replied["recipients"].as_array().unwrap().len(), 2);
}

#[test]
fn a_person_may_choose_whom_a_reply_goes_to() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let to_db = ReplyArgs {
        to: vec!["db".into()],
        ..answer(&thread, "have a look")
    };
    let replied = json(&world.reply_as_human(to_db).unwrap());
    assert_eq!(replied["recipients"][0]["part"], "db");
    assert_eq!(replied["recipients"].as_array().unwrap().len(), 1);
    let wrong = ReplyArgs {
        to: vec!["ghost".into()],
        ..answer(&thread, "x")
    };
    assert_eq!(code(world.reply_as_human(wrong)), "bad_recipients");
}

#[test]
fn tools_007_a_person_sets_any_state_from_any() {
    let world = World::new();
    for from in Status::ALL {
        for to in Status::ALL {
            let thread = world
                .send_as_human(mail(&["web"], "s", "x"))
                .unwrap()
                .thread_id;
            set_status(&world, &thread, from, None).unwrap();
            assert_eq!(
                set_status(&world, &thread, to, Some(from)).unwrap().status,
                to.as_str()
            );
            assert_eq!(world.status(&thread), to.as_str());
            let live = world.count(&format!(
                "SELECT live FROM recipient AS r JOIN thread AS t ON t.seq = r.thread WHERE t.id = '{thread}'"
            ));
            assert_eq!(live == 1, to.is_live(), "{from:?} {to:?}");
        }
    }
}

#[test]
fn reopening_wakes_nobody_and_unreads_nothing() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.close("api", &thread).unwrap();
    set_status(&world, &thread, Status::Open, None).unwrap();
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        0
    );
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE read_at IS NULL"),
        0
    );
    assert_eq!(world.inbox("web").list.items.len(), 1);
    // Past the cooldown of api's first message.
    world.seconds(30);
    world.replied("api", &thread, "open again");
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        1
    );
}

#[test]
fn a_state_that_changed_meanwhile_is_a_conflict() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    world.replied("web", &thread, "done");
    let refusal = refused(set_status(
        &world,
        &thread,
        Status::Closed,
        Some(Status::Open),
    ));
    assert_eq!(
        (refusal["error"].clone(), refusal["status"].clone()),
        (json!("conflict"), json!("answered"))
    );
    assert_eq!(world.status(&thread), "answered");
}

#[test]
fn cli_027_threads_are_found_by_the_end_of_their_id() {
    let world = World::new();
    let id = world.sent("api", &["web"], "s", "x").thread_id;
    let ending = |tail: &str| world.read(|connection| person::threads_ending(connection, tail));
    for tail in [&id[30..], &id[20..], &id, &id[30..].to_uppercase()] {
        let found = ending(tail).unwrap();
        assert_eq!(
            (found.len(), found[0].0, found[0].1.id.as_str()),
            (1, world.shop, id.as_str())
        );
    }
    assert!(ending("ffffffffffff").unwrap().is_empty());
    for bad in ["", "abc12", "xyz_%%", &format!("{id}0")] {
        assert!(ending(bad).is_err(), "{bad}");
    }
}
