//! Reading threads in pages (cases 64–68).

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::ShowArgs;
use relayroom::messaging::Shown;
use relayroom::store::Outcome;
use relayroom::store::new_id;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::json;

fn show(world: &World, name: &str, thread: &str, after: Option<&str>) -> Outcome<Shown> {
    let caller = world.caller(name);
    let args = ShowArgs {
        thread_id: thread.into(),
        after: after.map(str::to_owned),
    };
    let shown = world.read(|connection| {
        messaging::show(connection, &Author::Part(&caller), &args, world.now())
    })?;
    assert!(serde_json::to_string(&shown).unwrap().len() <= 49_152);
    world.mark_shown(name, &shown.shown);
    Ok(shown)
}

fn seen(world: &World) -> i64 {
    world.count("SELECT count(*) FROM recipient WHERE seen_at IS NOT NULL")
}

#[test]
fn tools_064_show_marks_shown_and_nothing_read() {
    let world = World::new();
    let sent = world.sent("api", &["web"], "Index", "first\nline");
    let outside = json(&show(&world, "db", &sent.thread_id, None).unwrap());
    assert_eq!(outside["messages"][0]["unread"], false);
    assert_eq!(seen(&world), 0);
    let shown = json(&show(&world, "web", &sent.thread_id, None).unwrap());
    assert_eq!(
        shown,
        json!({
            "thread": {"id": sent.thread_id, "subject": "Index", "status": "open", "createdAt": "2026-12-01T09:00:00.000Z"},
            "messages": [{"id": sent.message_id, "from": "api", "body": "first\nline",
                          "createdAt": "2026-12-01T09:00:00.000Z", "unread": true}]
        })
    );
    assert_eq!(seen(&world), 1);
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE read_at IS NOT NULL"),
        0
    );
    assert_eq!(
        world.count("SELECT count(*) FROM wake WHERE outcome = 'consumed'"),
        1
    );
    assert_eq!(
        json(&show(&world, "web", &sent.thread_id, None).unwrap())["messages"][0]["unread"],
        true
    );
}

#[test]
fn tools_065_receipts_follow_the_facts() {
    let world = World::new();
    let sent = world.sent("api", &["web", "db", "human"], "s", "x");
    let receipts = |world: &World| {
        let shown = json(&show(world, "api", &sent.thread_id, None).unwrap());
        shown["messages"][0]["receipts"].clone()
    };
    let stored = receipts(&world);
    assert_eq!(
        stored.to_string(),
        r#"{"web":"stored","db":"stored","human":"stored"}"#
    );
    let wakes = world.count("SELECT count(*) FROM wake");
    world.execute("UPDATE recipient SET presented_at = 1 WHERE part = (SELECT seq FROM part WHERE slug = 'web')");
    assert_eq!(receipts(&world)["web"], "presented");
    world.inbox("web");
    assert_eq!(receipts(&world)["web"], "shown");
    world.ack("web", &sent.message_id).unwrap();
    assert_eq!(
        receipts(&world),
        json!({"web": "read", "db": "stored", "human": "stored"})
    );
    assert_eq!(world.count("SELECT count(*) FROM wake"), wakes);
    // Whoever did not write it sees no receipts.
    let other = json(&show(&world, "db", &sent.thread_id, None).unwrap());
    assert!(other["messages"][0].get("receipts").is_none());
}

#[test]
fn tools_066_pages_give_every_message_once_in_order() {
    let world = World::new();
    let first = world.sent(
        "api",
        &["web"],
        "s",
        &format!("{:05}{}", 0, "x".repeat(995)),
    );
    let mut ids = vec![first.message_id];
    for n in 1..300 {
        world.seconds(4);
        let body = format!("{n:05}{}", "x".repeat(995));
        ids.push(world.replied("api", &first.thread_id, &body).message_id);
    }
    let mut followed = Vec::new();
    let mut after = None;
    loop {
        let page = show(&world, "web", &first.thread_id, after.as_deref()).unwrap();
        assert_eq!(page.more, page.after.is_some());
        assert!(page.messages.iter().all(|message| !message.cut));
        followed.extend(page.messages.into_iter().map(|message| message.id));
        assert_eq!(seen(&world), i64::try_from(followed.len()).unwrap());
        let Some(next) = page.after else { break };
        after = Some(next);
    }
    assert_eq!(followed, ids);
}

#[test]
fn tools_067_a_body_too_long_comes_in_pieces() {
    for c in ["\"", "😀", "\n"] {
        let world = World::new();
        let mut body = c.repeat(65_536 / c.len() - 2);
        body.push('x');
        let sent = world.sent("api", &["web"], "s", &body);
        let second = world.replied("api", &sent.thread_id, "after it").message_id;
        let mut pieces = String::new();
        let mut after = None;
        let mut bodies = 0;
        let last = loop {
            let page = show(&world, "web", &sent.thread_id, after.as_deref()).unwrap();
            let piece = &page.messages[0];
            assert_eq!(piece.id, sent.message_id);
            assert_eq!(piece.offset.unwrap_or(0), pieces.len());
            pieces.push_str(&piece.body);
            bodies += 1;
            if !piece.cut {
                break page;
            }
            assert_eq!(page.messages.len(), 1);
            assert_eq!(seen(&world), 0);
            assert_eq!(
                page.after,
                Some(format!("{}:{}", sent.message_id, pieces.len()))
            );
            after = page.after;
        };
        assert!(bodies > 1);
        assert_eq!(pieces, body);
        assert_eq!(last.messages[1].id, second);
        assert_eq!(seen(&world), 2);
    }
}

#[test]
fn tools_068_cursors_of_nothing_are_refused() {
    let world = World::new();
    let sent = world.sent("api", &["web"], "s", "é body");
    let other = world.sent("api", &["web"], "t", "x");
    let id = &sent.message_id;
    for bad in [
        "garbage",
        "",
        &other.message_id,
        &new_id(),
        &format!("{id}:1"),
        &format!("{id}:0"),
        &format!("{id}:7"),
        &format!("{id}:-2"),
    ] {
        assert_eq!(
            code(show(&world, "web", &sent.thread_id, Some(bad))),
            "bad_cursor",
            "{bad}"
        );
    }
    let rest = show(&world, "web", &sent.thread_id, Some(&format!("{id}:2"))).unwrap();
    assert_eq!(
        (rest.messages[0].body.as_str(), rest.messages[0].offset),
        (" body", Some(2))
    );
    let end = json(&show(&world, "web", &sent.thread_id, Some(id)).unwrap());
    assert_eq!(end["messages"], json!([]));
    assert!(end.get("more").is_none());
}

#[test]
fn tools_075_show_finds_nothing_of_another_project() {
    let world = World::new();
    let other = world.project("other");
    for name in ["one", "web"] {
        world.add_to(other, name, world.kim);
    }
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    let foreigner = world.caller_in(other, "web");
    let args = ShowArgs {
        thread_id: thread,
        after: None,
    };
    let refused = world.read(|connection| {
        messaging::show(connection, &Author::Part(&foreigner), &args, world.now())
    });
    assert_eq!(code(refused), "thread_not_found");
}
