//! Starting threads: who gets mail, and what is refused (cases 28–42).

use relayroom::identity::Level;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::messaging::SendArgs;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;
use crate::support::world::refused;

fn nothing_stored(world: &World) {
    for table in [
        "thread",
        "message",
        "recipient",
        "participant",
        "wake",
        "idempotency",
    ] {
        assert_eq!(
            world.count(&format!("SELECT count(*) FROM {table}")),
            0,
            "{table}"
        );
    }
}

#[test]
fn tools_028_control_characters_in_a_body_are_refused() {
    let world = World::new();
    for (bad, named) in [
        ("a\0b", "U+0000"),
        ("\u{1b}[2J", "U+001B"),
        ("\u{7f}", "U+007F"),
        ("\u{85}", "U+0085"),
        ("a\rb", "U+000D"),
    ] {
        let refusal = refused(world.send("api", mail(&["web"], "s", bad)));
        assert_eq!(refusal["error"], "control_character");
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains("body") && message.contains(named),
            "{message}"
        );
    }
    nothing_stored(&world);
    world.sent("api", &["web"], "s", "a\r\nb\tc");
    assert_eq!(
        world.count(
            "SELECT count(*) FROM message WHERE body = 'a' || char(10) || 'b' || char(9) || 'c'"
        ),
        1
    );
}

#[test]
fn tools_029_subjects_are_one_line_of_200_characters() {
    let world = World::new();
    for bad in ["a\nb", "a\tb", "a\u{9b}b", "a\u{2028}b", "a\u{2029}b"] {
        assert_eq!(
            code(world.send("api", mail(&["web"], bad, "x"))),
            "control_character"
        );
    }
    assert_eq!(
        code(world.send("api", mail(&["web"], "  ", "x"))),
        "invalid_argument"
    );
    assert_eq!(
        code(world.send("api", mail(&["web"], "s", " \n\t "))),
        "invalid_argument"
    );
    let refusal = refused(world.send("api", mail(&["web"], &"😀".repeat(201), "x")));
    assert_eq!(refusal["error"], "too_large");
    nothing_stored(&world);
    world.sent("api", &["web"], &"😀".repeat(200), "x");
    world.sent("api", &["web"], "  trimmed ", "  kept ");
    assert_eq!(
        world.count("SELECT count(*) FROM thread WHERE subject = 'trimmed'"),
        1
    );
    assert_eq!(
        world.count("SELECT count(*) FROM message WHERE body = '  kept '"),
        1
    );
}

#[test]
fn tools_030_body_of_65536_bytes_and_no_more() {
    let world = World::new();
    let refusal = refused(world.send("api", mail(&["web"], "s", &"x".repeat(65_537))));
    assert_eq!(refusal["error"], "too_large");
    let message = refusal["message"].as_str().unwrap();
    assert!(
        message.contains("65537") && message.contains("65536"),
        "{message}"
    );
    nothing_stored(&world);
    world.sent("api", &["web"], "s", &"x".repeat(65_536));
}

#[test]
fn tools_031_tags_are_bounded_and_one_is_reserved() {
    let world = World::new();
    let tagged = |tags: &[&str]| SendArgs {
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        ..mail(&["web"], "s", "x")
    };
    let eleven: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let eleven: Vec<&str> = eleven.iter().map(String::as_str).collect();
    assert_eq!(code(world.send("api", tagged(&eleven))), "too_large");
    assert_eq!(
        code(world.send("api", tagged(&[&"t".repeat(51)]))),
        "too_large"
    );
    assert_eq!(code(world.send("api", tagged(&[" "]))), "invalid_argument");
    for reserved in ["needs-human", "Needs-Human", " NEEDS-HUMAN "] {
        assert_eq!(code(world.send("api", tagged(&[reserved]))), "reserved_tag");
    }
    let names = vec!["web"; 65];
    assert_eq!(code(world.send("api", mail(&names, "s", "x"))), "too_large");
    assert_eq!(
        code(world.send("api", mail(&[], "s", "x"))),
        "invalid_argument"
    );
    nothing_stored(&world);
    world
        .send("api", tagged(&["t", "t", &"u".repeat(50)]))
        .unwrap();
    assert_eq!(world.count("SELECT count(*) FROM thread_tag"), 2);
}

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
fn tools_034_unknown_recipient_is_refused() {
    let world = World::new();
    let refusal = refused(world.send("api", mail(&["web", "ghost"], "s", "x")));
    assert_eq!(refusal["error"], "bad_recipients");
    assert_eq!(refusal["bad"], json!([{"name": "ghost", "why": "unknown"}]));
    assert_eq!(refusal["known"], json!(["db", "web", "human"]));
    assert!(refusal.get("knownMore").is_none());
    nothing_stored(&world);
    assert_eq!(
        world.count("SELECT count(*) FROM part WHERE slug = 'ghost'"),
        0
    );
}

#[test]
fn tools_035_each_bad_name_says_why() {
    let world = World::new();
    world.add("old");
    world.delete("old");
    let names = ["wbe", "api", "old", "a b", "", "@", "-x"];
    let refusal = refused(world.send("api", mail(&names, "s", "x")));
    let bad: Vec<(&str, &str)> = refusal["bad"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bad| (bad["name"].as_str().unwrap(), bad["why"].as_str().unwrap()))
        .collect();
    assert_eq!(
        bad,
        [
            ("wbe", "unknown"),
            ("api", "self"),
            ("old", "deleted"),
            ("a b", "malformed"),
            ("", "malformed"),
            ("-x", "malformed"),
        ]
    );
    assert_eq!(refusal["bad"][0]["near"], json!(["web"]));
    assert_eq!(refusal["known"], json!(["db", "web", "human"]));
    assert_eq!(
        code(world.send("api", mail(&["we\u{1b}b"], "s", "x"))),
        "control_character"
    );
    nothing_stored(&world);
}

#[test]
fn tools_035_names_are_read_as_meant() {
    let world = World::new();
    let sent = json(&world.sent("api", &[" @Web ", "WEB", "web"], "s", "x"));
    assert_eq!(sent["recipients"].as_array().unwrap().len(), 1);
}

#[test]
fn tools_011_refusal_of_thirty_names_stays_small() {
    let world = World::new();
    for n in 0..40 {
        world.add(&format!("a-part-with-a-name-of-32-lett{n:03}"));
    }
    let names: Vec<String> = (0..64)
        .map(|n| format!("a-part-with-a-nome-of-32-lett{n:03}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let refusal = refused(world.send("api", mail(&names, "s", "x")));
    assert_eq!(refusal["known"].as_array().unwrap().len(), 31);
    assert_eq!(refusal["knownMore"], 12);
    let listed = refusal["bad"].as_array().unwrap().len();
    assert!(listed >= 1);
    assert_eq!(refusal["badMore"], 64 - listed);
    let emoji = "😀".repeat(100);
    let refusal = refused(world.send("api", mail(&[&emoji], "s", "x")));
    assert_eq!(
        refusal["bad"][0]["name"].as_str().unwrap().chars().count(),
        40
    );
}

#[test]
fn tools_036_main_is_a_name_for_the_main_agent() {
    let world = World::new();
    let to_main = |from: &str| world.send(from, mail(&["main"], "s", "x"));
    assert_eq!(
        refused(to_main("web"))["bad"],
        json!([{"name": "main", "why": "no_main"}])
    );
    world.set_main(Some("api"));
    assert_eq!(
        json(&to_main("web").unwrap())["recipients"][0]["part"],
        "api"
    );
    assert_eq!(
        refused(to_main("api"))["bad"],
        json!([{"name": "main", "why": "self"}])
    );
    let both = world.sent("web", &["main", "api"], "s", "both");
    assert_eq!(both.recipients.unwrap().len(), 1);
    world.add("main");
    assert_eq!(
        json(&to_main("api").unwrap())["recipients"][0]["part"],
        "main"
    );
    world.delete("main");
    assert_eq!(
        json(&world.sent("web", &["main"], "t", "x"))["recipients"][0]["part"],
        "api"
    );
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
fn tools_042_broadcasts_are_capped() {
    let world = World::new();
    let three = world.send("api", mail(&["db", "web", "human"], "s", "x"));
    assert_eq!(three.unwrap().recipients.unwrap().len(), 3);
    for n in 0..20 {
        world.add(&format!("gone{n}"));
        world.delete(&format!("gone{n}"));
    }
    let cap = |world: &World, to: &[&str]| refused(world.send("api", mail(to, "s", "x")));
    let shop = world.shop;
    world
        .write(move |tx, _| project::set_max_broadcast(tx, shop, Some(1)))
        .unwrap();
    let refusal = cap(&world, &["db", "web"]);
    assert_eq!(
        (refusal["count"].clone(), refusal["cap"].clone()),
        (json!(2), json!(1))
    );
    world
        .write(move |tx, _| project::set_max_broadcast(tx, shop, None))
        .unwrap();
    for n in 0..37 {
        world.add(&format!("p{n}"));
    }
    let nine: Vec<String> = (0..9).map(|n| format!("p{n}")).collect();
    let mut nine: Vec<&str> = nine.iter().map(String::as_str).collect();
    let refusal = cap(&world, &nine);
    assert_eq!(refusal["error"], "broadcast_cap");
    assert_eq!(
        (refusal["count"].clone(), refusal["cap"].clone()),
        (json!(9), json!(8))
    );
    nine[8] = "human";
    assert_eq!(
        world
            .sent("api", &nine, "eight", "x")
            .recipients
            .unwrap()
            .len(),
        9
    );
    world
        .write(move |tx, _| project::set_max_broadcast(tx, shop, Some(2)))
        .unwrap();
    world.sent("api", &["p1", "p2", "human"], "two", "x");
    assert_eq!(cap(&world, &["p1", "p2", "p3"])["error"], "broadcast_cap");
}

#[test]
fn tools_042_cap_without_a_setting_counts_live_parts_only() {
    let world = World::new();
    for n in 0..20 {
        world.add(&format!("gone{n}"));
        world.delete(&format!("gone{n}"));
    }
    // Three live parts: no agent can name more than the two others; a person can name all three.
    let all = world.send_as_human(mail(&["api", "db", "web"], "s", "x"));
    assert_eq!(all.unwrap().recipients.unwrap().len(), 3);
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
