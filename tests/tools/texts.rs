//! What a text may hold, and how long a refusal may be (cases 28–31).

use relayroom::messaging;
use relayroom::messaging::LessonArgs;
use relayroom::messaging::ReplyArgs;
use relayroom::messaging::SendArgs;
use relayroom::messaging::ThreadsArgs;

use crate::support::world::World;
use crate::support::world::answer;
use crate::support::world::code;
use crate::support::world::mail;
use crate::support::world::nothing_stored;
use crate::support::world::refused;

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
fn tools_004_refusals_stay_short_whatever_they_quote() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "s", "x").thread_id;
    for long in ["😀".repeat(500), "\u{202e}x".repeat(500)] {
        let reply = ReplyArgs {
            status: Some(long.clone()),
            ..answer(&thread, "x")
        };
        refused(world.reply("web", reply));
        refused(world.reply("web", answer(&long, "x")));
        refused(world.ack("web", &long));
        refused(world.send("api", mail(&[&long], "s", "x")));
        let lesson = LessonArgs {
            title: Some("t".into()),
            body: Some("b".into()),
            kind: Some(long.clone()),
        };
        refused(world.close_with("web", &thread, Some(lesson)));
        let args = ThreadsArgs {
            status: Some(long),
            ..ThreadsArgs::default()
        };
        refused(world.read(|connection| messaging::threads(connection, world.shop, &args)));
    }
}
