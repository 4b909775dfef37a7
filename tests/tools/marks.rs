//! Acknowledging and counting what is unread (cases 57, 63, 95, 104).

use relayroom::messaging;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::SendArgs;
use relayroom::store::new_id;
use serde_json::Value;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::ids;
use crate::support::world::json;
use crate::support::world::mail;
use crate::support::world::refused;

fn unread_only() -> InboxArgs {
    InboxArgs {
        unread_only: true,
        ..InboxArgs::default()
    }
}

#[test]
fn tools_057_acked_mail_is_listed_but_not_as_unread() {
    let world = World::new();
    let first = world.sent("api", &["web"], "1", "x").message_id;
    let second = world.sent("api", &["web"], "2", "x").message_id;
    world.inbox("web");
    world.ack("web", &first).unwrap();
    assert_eq!(
        ids(&world.inbox_of("web", unread_only()).unwrap()),
        [&*second]
    );
    let all = world.inbox("web");
    assert_eq!(ids(&all), [&*second, &*first]);
    let unread: Vec<bool> = all.list.items.iter().map(|item| item.unread).collect();
    assert_eq!(unread, [true, false]);
    world.ack("web", &second).unwrap();
    // Nothing new, nothing unread: nothing to write.
    assert_eq!(world.peek("web", InboxArgs::default()).unwrap().shown, []);
}

#[test]
fn tools_063_case_a07_ack_is_clear_repeatable_and_one_s_own() {
    let world = World::new();
    let sent = world.sent("api", &["web"], "1", "x");
    assert_eq!(
        json(&world.ack("web", &sent.message_id).unwrap()),
        json!({"ok": true})
    );
    let read = world.count("SELECT read_at FROM recipient");
    world.seconds(9);
    assert_eq!(
        json(&world.ack("web", &sent.message_id).unwrap()),
        json!({"ok": true, "alreadyRead": true})
    );
    assert_eq!(world.count("SELECT read_at FROM recipient"), read);
    let foreign = refused(world.ack("db", &sent.message_id));
    assert_eq!(foreign["error"], "message_not_found");
    assert_eq!(foreign, refused(world.ack("web", &new_id())));
    assert_eq!(foreign, refused(world.ack("api", &sent.message_id)));
    for bad in ["", "x", "00000000-0000-0000-0000"] {
        assert_eq!(code(world.ack("web", bad)), "invalid_argument");
    }
    let late = world.sent("api", &["web"], "2", "x");
    world.execute("UPDATE recipient SET read_at = NULL");
    world.close("api", &late.thread_id).unwrap();
    assert!(world.ack("web", &late.message_id).unwrap().already_read);
}

#[test]
fn tools_095_whoami_counts_unread_mail_of_live_threads() {
    let world = World::new();
    world.execute("UPDATE part SET nickname = 'Bo' WHERE slug = 'web'");
    let who = |world: &World| -> Value {
        let caller = world.caller("web");
        json(
            &world
                .read(|connection| messaging::whoami(connection, &caller))
                .unwrap(),
        )
    };
    assert_eq!(
        who(&world).to_string(),
        r#"{"part":"web","project":"shop","isMain":false,"nickname":"Bo","unread":0}"#
    );
    world.set_main(Some("api"));
    let mut thread = String::new();
    for n in 0..60 {
        world.seconds(4);
        thread = world.sent("api", &["web"], &n.to_string(), "x").thread_id;
    }
    let closed = world.sent("db", &["web"], "closed", "x").thread_id;
    for n in 0..2 {
        world.reply("db", answer(&closed, &n.to_string())).unwrap();
    }
    assert_eq!(who(&world)["unread"], 63);
    world.close("db", &closed).unwrap();
    assert_eq!(
        who(&world),
        json!({"part": "web", "project": "shop", "isMain": false, "nickname": "Bo", "unread": 60, "main": "api"})
    );
    world.replied("web", &thread, "seen none of it");
    assert_eq!(who(&world)["unread"], 60);
}

#[test]
fn tools_104_a_turn_of_mail_costs_at_most_1200_bytes() {
    let world = World::new();
    let args = SendArgs {
        body: "x".repeat(160),
        ..mail(&["web"], "Index on orders", "")
    };
    let thread = world.send("api", args).unwrap().thread_id;
    let inbox = serde_json::to_string(&world.inbox("web").list).unwrap();
    let reply = serde_json::to_string(&world.replied("web", &thread, "done")).unwrap();
    let close = serde_json::to_string(&world.close("web", &thread).unwrap()).unwrap();
    let first_block = "1 message".len();
    assert!(inbox.len() + reply.len() + close.len() + first_block <= 1200);
}
