//! Starting threads: who gets mail, and what is refused (cases 33, 37–41, 97).

use relayroom::identity::Level;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::messaging::SendArgs;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;
use crate::support::world::nothing_stored;
use crate::support::world::refused;

#[test]
fn tools_033_send_reaches_its_recipients_and_nobody_else() {
    let world = World::new();
    let sent = json(&world.sent("api", &["web", "db"], "Index on orders", "Migration is in."));
    assert_eq!(
        sent["recipients"],
        json!([
            {"part": "web", "wake": "issued", "reason": "no_pager"},
            {"part": "db", "wake": "issued", "reason": "no_pager"},
        ])
    );
    let keys: Vec<&String> = sent.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["threadId", "messageId", "recipients"]);
    assert_eq!(world.status(sent["threadId"].as_str().unwrap()), "open");
    let inbox = json(&world.inbox("web").list);
    assert_eq!(inbox[0]["messageId"], sent["messageId"]);
    assert_eq!(inbox[0]["from"], "api");
    assert_eq!(json(&world.inbox("db").list).as_array().unwrap().len(), 1);
    assert_eq!(json(&world.inbox("api").list), json!([]));
}

#[test]
fn tools_037_mail_to_the_person_wakes_nobody() {
    let world = World::new();
    let sent = json(&world.sent("api", &["human"], "s", "x"));
    assert_eq!(
        sent["recipients"],
        json!([{"part": "human", "wake": "none", "reason": "human"}])
    );
    assert_eq!(
        world.count("SELECT count(*) FROM recipient WHERE part IS NULL"),
        1
    );
    assert_eq!(world.count("SELECT count(*) FROM wake"), 0);
}

#[test]
fn tools_038_fyi_is_listed_and_wakes_nobody() {
    let world = World::new();
    let fyi = |urgent| SendArgs {
        fyi: true,
        urgent,
        ..mail(&["web"], "s", "x")
    };
    assert_eq!(code(world.send("api", fyi(true))), "invalid_argument");
    nothing_stored(&world);
    let sent = json(&world.send("api", fyi(false)).unwrap());
    assert_eq!(
        sent["recipients"],
        json!([{"part": "web", "wake": "none", "reason": "fyi"}])
    );
    assert_eq!(json(&world.inbox("web").list)[0]["fyi"], true);
    assert_eq!(world.count("SELECT count(*) FROM wake"), 0);
}

#[test]
fn tools_039_urgency_is_granted_not_taken() {
    let world = World::new();
    let lee = world.person("lee", Level::Write, false, false);
    world.add_to(world.shop, "ops", lee);
    let urgent = || SendArgs {
        urgent: true,
        ..mail(&["web"], "s", "x")
    };
    assert_eq!(code(world.send("ops", urgent())), "urgent_not_granted");
    nothing_stored(&world);
    world.send("api", urgent()).unwrap();
    assert_eq!(json(&world.inbox("web").list)[0]["urgent"], true);
}

#[test]
fn tools_040_flag_without_the_capability_is_ignored_and_said() {
    let world = World::new();
    let lee = world.person("lee", Level::Write, false, false);
    world.add_to(world.shop, "ops", lee);
    let flagged = || SendArgs {
        needs_human: true,
        ..mail(&["web"], "s", "x")
    };
    let sent = json(&world.send("ops", flagged()).unwrap());
    assert_eq!(sent["humanFlagIgnored"], true);
    assert_eq!(
        world.count("SELECT count(*) FROM thread WHERE flagged_at IS NOT NULL"),
        0
    );
    let shop = world.shop;
    world
        .write(move |tx, _| people::set_member(tx, shop, lee, Level::Write, false, true))
        .unwrap();
    let sent = json(&world.send("ops", flagged()).unwrap());
    assert!(sent.get("humanFlagIgnored").is_none());
    assert_eq!(
        world.count("SELECT count(*) FROM thread WHERE flagged_at IS NOT NULL"),
        1
    );
}

#[test]
fn tools_041_outcomes_say_what_happens_next() {
    let world = World::new();
    assert_eq!(
        json(&world.sent("api", &["web"], "1", "x"))["recipients"][0]["wake"],
        "issued"
    );
    assert_eq!(
        json(&world.sent("api", &["web"], "2", "x"))["recipients"][0]["wake"],
        "waiting"
    );
    let db = world.part("db");
    world
        .write(move |tx, now| {
            let reset = now + std::time::Duration::from_secs(7200);
            relayroom::activity::park::set(tx, db, Some(reset), now)
        })
        .unwrap();
    assert_eq!(
        json(&world.sent("api", &["db"], "3", "x"))["recipients"],
        json!([{"part": "db", "wake": "held", "reason": "limited"}])
    );
}

#[test]
fn tools_097_level_readonly_sends_nothing() {
    let world = World::new();
    let lee = world.person("lee", Level::Readonly, true, true);
    world.add_to(world.shop, "ops", lee);
    let refusal = refused(world.send("ops", mail(&["web"], "s", "x")));
    assert_eq!(refusal["error"], "unauthorized");
    assert!(refusal["message"].as_str().unwrap().contains("write"));
    nothing_stored(&world);
}

#[test]
fn tools_006_checks_come_in_their_order() {
    let world = World::new();
    let lee = world.person("lee", Level::Readonly, false, false);
    world.add_to(world.shop, "ops", lee);
    let shop = world.shop;
    world
        .write(move |tx, _| project::set_max_broadcast(tx, shop, Some(1)))
        .unwrap();
    let all_wrong = SendArgs {
        urgent: true,
        idempotency_key: Some("k1".into()),
        ..mail(&["ghost", "web", "db"], "", "x")
    };
    assert_eq!(
        code(world.send("ops", all_wrong.clone())),
        "invalid_argument"
    );
    let args = SendArgs {
        subject: "s".into(),
        ..all_wrong
    };
    assert_eq!(code(world.send("ops", args.clone())), "unauthorized");
    world
        .write(move |tx, _| people::set_member(tx, shop, lee, Level::Write, false, false))
        .unwrap();
    let first = SendArgs {
        idempotency_key: Some("k1".into()),
        ..mail(&["web"], "other", "x")
    };
    world.send("ops", first).unwrap();
    assert_eq!(code(world.send("ops", args.clone())), "key_reused");
    let args = SendArgs {
        idempotency_key: None,
        ..args
    };
    assert_eq!(code(world.send("ops", args.clone())), "urgent_not_granted");
    let args = SendArgs {
        urgent: false,
        ..args
    };
    assert_eq!(code(world.send("ops", args.clone())), "bad_recipients");
    let args = SendArgs {
        to: vec!["web".into(), "db".into()],
        ..args
    };
    assert_eq!(code(world.send("ops", args)), "broadcast_cap");
}
