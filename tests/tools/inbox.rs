//! Listing one's mail (cases 54–62).

use relayroom::messaging::EmptyPolls;
use relayroom::messaging::InboxArgs;
use relayroom::store::Time;
use relayroom::store::new_id;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::ids;
use crate::support::world::json;
use crate::support::world::refused;

fn limit(limit: i64) -> InboxArgs {
    InboxArgs {
        limit: Some(limit),
        ..InboxArgs::default()
    }
}

fn before(id: &str) -> InboxArgs {
    InboxArgs {
        before: Some(id.into()),
        ..InboxArgs::default()
    }
}

#[test]
fn tools_054_inbox_shows_a_preview_and_says_whether_it_is_full() {
    let world = World::new();
    world.sent(
        "api",
        &["web"],
        "Index on orders",
        "Migration is in.\nRoll back with make down?",
    );
    let json = json(&world.inbox("web").list);
    let item = json[0].as_object().unwrap();
    let keys: Vec<&String> = item.keys().collect();
    assert_eq!(
        keys,
        [
            "messageId",
            "threadId",
            "subject",
            "from",
            "unread",
            "at",
            "preview",
            "full",
            "threadStatus"
        ]
    );
    assert_eq!(
        item["preview"],
        "Migration is in. Roll back with make down?"
    );
    assert_eq!(item["at"], "2026-12-01T09:00:00.000Z");
    assert_eq!(item["full"], true);
    world.sent("api", &["web"], "long", &"x".repeat(161));
    assert!(
        crate::support::world::json(&world.inbox("web").list)[0]
            .get("full")
            .is_none()
    );
}

#[test]
fn tools_054_an_element_costs_at_most_440_bytes() {
    let world = World::new();
    let thread = world
        .sent("api", &["web"], &"s".repeat(40), &"x".repeat(160))
        .thread_id;
    world.replied("web", &thread, "ok");
    let item = serde_json::to_string(&world.inbox("web").list.items[0]).unwrap();
    assert!(
        item.contains("\"full\":true") && item.contains("answered"),
        "{item}"
    );
    assert!(item.len() <= 440, "{} bytes", item.len());
}

#[test]
fn tools_055_inbox_twice_gives_the_same_unread_mail() {
    let world = World::new();
    world.sent("api", &["web"], "1", "x");
    world.sent("db", &["web"], "2", "x");
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        1
    );
    let first = world.inbox("web");
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE outcome = 'consumed'"),
        1
    );
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE ended_at IS NULL"),
        0
    );
    let seen = world.count("SELECT max(seen_at) FROM recipient");
    assert_eq!(seen, world.now().0);
    world.seconds(5);
    let second = world.inbox("web");
    assert_eq!(ids(&first), ids(&second));
    assert!(second.list.items.iter().all(|item| item.unread));
    assert_eq!(world.count("SELECT max(seen_at) FROM recipient"), seen);
    assert_eq!(
        world.count("SELECT min(last_seen_at) FROM recipient"),
        seen + 5_000
    );
}

#[test]
fn case_a06_a_lost_answer_comes_again_unread() {
    let world = World::new();
    world.sent("api", &["web"], "1", "x");
    let lost = world.peek("web", InboxArgs::default()).unwrap();
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE seen_at IS NOT NULL"),
        0
    );
    let again = world.inbox("web");
    assert_eq!(ids(&lost), ids(&again));
    assert!(again.list.items[0].unread);
}

#[test]
fn tools_056_shown_mail_whose_answer_was_cut_is_unread_in_the_next() {
    let world = World::new();
    world.sent("api", &["web"], "1", "x");
    let cut = world.inbox("web");
    let next = world.inbox("web");
    assert_eq!(ids(&cut), ids(&next));
    assert!(next.list.items[0].unread);
}

#[test]
fn tools_058_pages_of_exactly_the_limit_have_no_note() {
    let world = World::new();
    let sent: Vec<String> = (0..3)
        .map(|n| world.sent("api", &["web"], &n.to_string(), "x").message_id)
        .collect();
    let page = world.inbox_of("web", limit(2)).unwrap();
    assert_eq!(ids(&page), [&*sent[2], &*sent[1]]);
    assert_eq!(page.list.note, None);
    assert_eq!(
        ids(&world.inbox_of("web", before(&sent[1])).unwrap()),
        [&*sent[0]]
    );
    for bad in [0, 51, -3] {
        let refusal = refused(world.peek("web", limit(bad)));
        assert_eq!(refusal["error"], "invalid_argument");
        assert!(refusal["message"].as_str().unwrap().contains("1–50"));
    }
}

#[test]
fn tools_059_a_list_too_long_is_cut_and_can_be_followed() {
    let world = World::new();
    let sent: Vec<String> = (0..50)
        .map(|n| {
            world.seconds(4);
            let subject = format!("{n:03}{}", "語".repeat(197));
            world.sent("api", &["web"], &subject, "x").message_id
        })
        .collect();
    let mut followed: Vec<String> = Vec::new();
    let mut args = limit(50);
    loop {
        let page = world.inbox_of("web", args).unwrap();
        assert!(serde_json::to_string(&page.list).unwrap().len() <= 24_576);
        followed.extend(ids(&page).into_iter().map(str::to_owned));
        let shown = world.count("SELECT count(*) FROM recipient WHERE seen_at IS NOT NULL");
        assert_eq!(usize::try_from(shown), Ok(followed.len()));
        let Some(note) = page.list.note else { break };
        assert!(note.more);
        assert_eq!(note.before.as_deref(), followed.last().map(String::as_str));
        args = InboxArgs {
            limit: Some(50),
            ..before(&note.before.unwrap())
        };
    }
    let newest_first: Vec<String> = sent.into_iter().rev().collect();
    assert_eq!(followed, newest_first);
}

#[test]
fn tools_060_case_a08_a_cursor_of_another_list_is_refused() {
    let world = World::new();
    world.sent("api", &["web"], "1", "x");
    let to_db = world.sent("api", &["db"], "2", "x").message_id;
    for bad in [to_db.as_str(), &new_id(), "garbage", "", "0"] {
        let refusal = refused(world.peek("web", before(bad)));
        assert_eq!(refusal["error"], "bad_cursor");
        assert!(refusal["message"].as_str().unwrap().contains("without it"));
    }
}

#[test]
fn tools_060_a_cursor_into_a_closed_thread_holds() {
    let world = World::new();
    let old = world.sent("api", &["web"], "1", "x").message_id;
    let middle = world.sent("api", &["web"], "2", "x");
    world.sent("api", &["web"], "3", "x");
    world.close("api", &middle.thread_id).unwrap();
    assert_eq!(
        ids(&world.inbox_of("web", before(&middle.message_id)).unwrap()),
        [&*old]
    );
}

#[test]
fn tools_061_polling_an_empty_inbox_gets_a_hint() {
    let world = World::new();
    let polls = EmptyPolls::default();
    let ask = || {
        let mut inbox = world.inbox("web");
        polls.advise(world.part("web"), &mut inbox, world.now());
        json(&inbox.list)
    };
    for _ in 0..5 {
        assert_eq!(ask(), json!([]));
        world.seconds(10);
    }
    assert_eq!(
        ask(),
        json!([{"hint": "No mail. End your turn; you will be woken."}])
    );
    for _ in 0..10 {
        world.minutes(1);
        assert_eq!(ask(), json!([]));
    }
    world.sent("api", &["web"], "1", "x");
    assert_eq!(ask().as_array().unwrap().len(), 1);
}

#[test]
fn tools_062_case_s06_order_is_the_order_of_storing_whatever_the_clock_says() {
    let world = World::new();
    let names: Vec<String> = (0..5).map(|n| format!("s{n}")).collect();
    for name in &names {
        world.add(name);
    }
    let start = world.now();
    let mut sent: Vec<String> = Vec::new();
    for n in 0..100 {
        if n == 60 {
            world.set_now(Time(start.0 - 86_400_000));
        }
        sent.push(
            world
                .sent(&names[n % 5], &["web"], &n.to_string(), "x")
                .message_id,
        );
    }
    let first = world.inbox_of("web", limit(50)).unwrap();
    let last = InboxArgs {
        limit: Some(50),
        ..before(ids(&first)[49])
    };
    let second = world.inbox_of("web", last).unwrap();
    let listed: Vec<&str> = ids(&second)
        .into_iter()
        .rev()
        .chain(ids(&first).into_iter().rev())
        .collect();
    // `first` is the newer half: put the halves in the order of storing.
    assert_eq!(listed, sent);
}
