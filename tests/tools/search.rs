//! Finding threads by text (cases 71–75, S08–S11).

use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::List;
use relayroom::messaging::SearchArgs;
use relayroom::messaging::SearchHit;
use relayroom::store::Outcome;

use crate::support::world::World;
use crate::support::world::code;
use crate::support::world::json;
use crate::support::world::mail;

fn search(world: &World, query: &str) -> Outcome<List<SearchHit>> {
    let args = SearchArgs {
        query: query.into(),
        ..SearchArgs::default()
    };
    world.read(|connection| messaging::search(connection, world.shop, &args))
}

fn found(world: &World, query: &str) -> Vec<String> {
    let list = search(world, query).unwrap();
    list.items.into_iter().map(|hit| hit.subject).collect()
}

#[test]
fn tools_071_case_s10_search_characters_are_literal() {
    let world = World::new();
    world.sent(
        "api",
        &["web"],
        "ticket",
        "see POL-358 and don't \"panic\" (yet)",
    );
    world.sent("api", &["web"], "code", "body:x a AND b * NEAR(c) ^x");
    world.sent("api", &["web"], "plain", "nothing of the kind; 358");
    for (query, hits) in [
        ("POL-358", &["ticket"][..]),
        ("don't", &["ticket"]),
        ("\"", &["ticket"]),
        ("\"panic\"", &["ticket"]),
        ("(", &["code", "ticket"]),
        ("(yet)", &["ticket"]),
        ("body:x", &["code"]),
        ("a AND", &["code", "ticket"]),
        ("NEAR(", &["code"]),
        ("*", &["code"]),
        ("^x", &["code"]),
        ("pol-3*", &[]),
        ("panic OR code", &[]),
        ("\"\"\"", &[]),
        ("subject:ticket", &[]),
        ("{body}", &[]),
        ("--", &[]),
        ("'; DROP TABLE message", &[]),
    ] {
        assert_eq!(found(&world, query), hits, "{query}");
    }
}

#[test]
fn tools_072_case_s09_short_terms_are_found() {
    let world = World::new();
    world.sent("api", &["web"], "status", "all ok here");
    world.sent("api", &["web"], "登录", "用户登录失败");
    world.sent("api", &["web"], "天気", "雨の日");
    world.sent("api", &["web"], "party", "🎉");
    assert_eq!(found(&world, "ok"), ["status"]);
    assert_eq!(found(&world, "OK"), ["status"]);
    assert_eq!(found(&world, "用户"), ["登录"]);
    assert_eq!(found(&world, "雨"), ["天気"]);
    assert_eq!(found(&world, "🎉"), ["party"]);
    assert_eq!(found(&world, "用户登录"), ["登录"]);
    assert_eq!(found(&world, "zz"), [""; 0]);
}

#[test]
fn tools_072_case_s11_wildcards_mean_themselves() {
    let world = World::new();
    world.sent("api", &["web"], "percent", "50% done");
    world.sent("api", &["web"], "under", "a_b");
    world.sent("api", &["web"], "slash", r"c:\temp");
    world.sent("api", &["web"], "plain", "axb 500");
    assert_eq!(found(&world, "%"), ["percent"]);
    assert_eq!(found(&world, "_"), ["under"]);
    assert_eq!(found(&world, "50%"), ["percent"]);
    assert_eq!(found(&world, "a_b"), ["under"]);
    assert_eq!(found(&world, r"\"), ["slash"]);
    assert_eq!(found(&world, r"\t"), ["slash"]);
}

#[test]
fn tools_072_queries_are_bounded() {
    let world = World::new();
    for blank in ["", "  ", "\t\n"] {
        assert_eq!(code(search(&world, blank)), "invalid_argument");
    }
    assert_eq!(code(search(&world, &"x".repeat(201))), "too_large");
    assert_eq!(code(search(&world, &"x".repeat(10_000))), "too_large");
    assert!(search(&world, &"語".repeat(200)).is_ok());
    assert!(search(&world, &"a ".repeat(100)).is_ok());
    for limit in [0, 21] {
        let args = SearchArgs {
            query: "x".into(),
            limit: Some(limit),
            before: None,
        };
        let refused = world.read(|connection| messaging::search(connection, world.shop, &args));
        assert_eq!(code(refused), "invalid_argument");
    }
}

#[test]
fn case_s08_nul_is_refused_in_a_query_too() {
    let world = World::new();
    assert_eq!(code(search(&world, "a\0b")), "control_character");
}

#[test]
fn tools_073_every_term_must_occur_somewhere_in_the_thread() {
    let world = World::new();
    let split = world
        .sent("api", &["web"], "Rollback plan", "first")
        .thread_id;
    world.replied("web", &split, "that is ok");
    world.sent("api", &["web"], "rollback only", "no consent here");
    world.sent("api", &["web"], "consent only", "ok");
    world.sent("api", &["web"], "école", "äb");
    assert_eq!(found(&world, "rollback ok"), ["Rollback plan"]);
    assert_eq!(found(&world, "ok rollback plan first"), ["Rollback plan"]);
    assert_eq!(found(&world, "ok first plan zebra"), [""; 0]);
    assert_eq!(found(&world, "ÉCOLE"), ["école"]);
    assert_eq!(found(&world, "ÄB"), ["école"]);
    assert_eq!(found(&world, "ÉCO ÄB"), ["école"]);
}

#[test]
fn tools_074_one_row_per_thread_newest_first() {
    let world = World::new();
    let thread = world.sent("api", &["web"], "needle", "needle").thread_id;
    world.replied("web", &thread, "needle");
    assert_eq!(found(&world, "needle"), ["needle"]);
    for n in 0..14 {
        world.seconds(4);
        world.sent("api", &["db"], &format!("needle {n}"), "x");
    }
    let ten = search(&world, "needle").unwrap();
    let subjects: Vec<&str> = ten.items.iter().map(|hit| hit.subject.as_str()).collect();
    assert_eq!(subjects.len(), 10);
    assert_eq!((subjects[0], subjects[9]), ("needle 13", "needle 4"));
    assert_eq!(ten.note, None);
    let rest = SearchArgs {
        query: "needle".into(),
        limit: Some(20),
        before: Some(ten.items[9].thread_id.clone()),
    };
    let rest = world
        .read(|connection| messaging::search(connection, world.shop, &rest))
        .unwrap();
    let rest: Vec<&str> = rest.items.iter().map(|hit| hit.subject.as_str()).collect();
    assert_eq!(
        rest,
        ["needle 3", "needle 2", "needle 1", "needle 0", "needle"]
    );
    world.close("api", &ten.items[0].thread_id).unwrap();
    let closed = search(&world, "needle").unwrap();
    assert_eq!(
        json(&closed.items[0])
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        ["threadId", "subject", "status", "createdAt"]
    );
    assert_eq!(closed.items[0].status, "closed");
}

#[test]
fn tools_075_nothing_of_another_project_is_found() {
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
                &mail(&["two"], "secret", "ok secret"),
                now,
            )
        })
        .unwrap();
    world.sent("api", &["web"], "ours", "nothing to see");
    assert_eq!(found(&world, "secret"), [""; 0]);
    assert_eq!(found(&world, "ok"), [""; 0]);
    assert_eq!(found(&world, "ok secret"), [""; 0]);
    let args = SearchArgs {
        query: "x".into(),
        limit: None,
        before: Some(foreign.thread_id),
    };
    let refused = world.read(|connection| messaging::search(connection, world.shop, &args));
    assert_eq!(code(refused), "bad_cursor");
}

/// What the walk finds is what reading every text finds.
#[test]
fn search_agrees_with_reading_everything() {
    let world = World::new();
    let other = world.project("other");
    world.add_to(other, "one", world.kim);
    world.add_to(other, "two", world.kim);
    let words = ["alpha", "beta", "gamma", "ab", "z"];
    let text = |mut n: u64| {
        let mut text = String::new();
        for word in words {
            if n.is_multiple_of(2) {
                text.push_str(word);
                text.push(' ');
            }
            n /= 2;
        }
        text + "."
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for n in 0..64_u64 {
        world.seconds(9);
        let (subject, body) = (format!("{n} {}", text(n * 7)), text(n * 13 + 5));
        if n.is_multiple_of(3) {
            let one = world.caller_in(other, "one");
            let args = mail(&["two"], &subject, &body);
            world
                .write(move |tx, now| messaging::send(tx, &Author::Part(&one), &args, now))
                .unwrap();
            continue;
        }
        let thread = world.sent("api", &["web"], &subject, &body).thread_id;
        let reply = text(n * 5 + 3);
        world.replied("web", &thread, &reply);
        texts.push((
            subject.trim().to_owned(),
            format!("{subject}\u{1}{body}\u{1}{reply}"),
        ));
    }
    for mask in 1..32_u32 {
        let terms: Vec<&str> = (0..5)
            .filter(|bit| mask >> bit & 1 == 1)
            .map(|bit| words[bit])
            .collect();
        let expected: Vec<&str> = texts
            .iter()
            .rev()
            .filter(|(_, text)| terms.iter().all(|term| text.contains(term)))
            .map(|(subject, _)| subject.as_str())
            .take(10)
            .collect();
        assert_eq!(found(&world, &terms.join(" ")), expected, "{terms:?}");
    }
}
