//! Whom the names of `to` mean, and how many there may be (cases 34–36, 42).

use relayroom::identity::project;
use serde_json::json;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;
use crate::support::world::nothing_stored;
use crate::support::world::refused;

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
