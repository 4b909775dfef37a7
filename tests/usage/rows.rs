//! Replies: each counted once, and the sums that follow them (usage.md 7 and 12).

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use relayroom::api::hook::ActivityKind;
use relayroom::identity::Caller;
use relayroom::store::Time;
use serde_json::Value;
use serde_json::json;

use super::reporter::Hook;
use super::reporter::turns;
use crate::support::world::World;
use crate::support::world::refused;

/// The sums must be those of the rows, whatever happened.
#[track_caller]
fn sums_are_those_of_the_rows(world: &World) {
    for column in [
        "input",
        "output",
        "cache_read",
        "cache_write",
        "cache_write_1h",
        "reasoning",
        "coalesce(sum(cost), 0)",
        "count(*)",
    ] {
        let (of_rows, of_sums) = match column {
            "count(*)" => (column.to_owned(), "coalesce(sum(replies), 0)".to_owned()),
            "coalesce(sum(cost), 0)" => (column.to_owned(), column.to_owned()),
            _ => {
                let sum = format!("coalesce(sum({column}), 0)");
                (sum.clone(), sum)
            }
        };
        assert_eq!(
            world.count(&format!("SELECT {of_sums} FROM usage_sum")),
            world.count(&format!("SELECT {of_rows} FROM usage_row")),
            "{column}"
        );
    }
    // And each in its own place.
    let apart = "SELECT count(*) FROM (
        SELECT r.part, r.at / 900000, r.provider, r.model, coalesce(t.cause, 'human'), coalesce(t.wake, 0), r.cost IS NOT NULL,
               count(*), sum(r.output)
          FROM usage_row AS r LEFT JOIN turn AS t ON t.seq = r.turn GROUP BY 1, 2, 3, 4, 5, 6, 7
        EXCEPT
        SELECT part, quarter, provider, model, cause, wake, told, replies, output FROM usage_sum)";
    assert_eq!(world.count(apart), 0);
}

fn output(world: &World) -> i64 {
    world.count("SELECT coalesce(sum(output), 0) FROM usage_sum")
}

#[test]
fn usage_036_a_repeat_raises_single_numbers_and_nothing_else() {
    let world = World::new();
    let hook = Hook::new(&world);
    let row = |input: u64, output: u64, model: &str| {
        json!({"key": "m1", "at": world.now().rfc3339(), "model": model,
               "input_tokens": input, "output_tokens": output})
    };
    let answer = hook.posts(vec![row(10, 50, "")]);
    assert_eq!((answer.new, answer.raised, answer.same), (1, 0, 0));
    let answer = hook.posts(vec![row(30, 20, "model-a")]);
    assert_eq!((answer.new, answer.raised, answer.same), (0, 1, 0));
    let answer = hook.posts(vec![row(30, 50, "model-b"), row(1, 1, "")]);
    assert_eq!((answer.new, answer.raised, answer.same), (0, 0, 2));
    let kept =
        "SELECT count(*) FROM usage_row WHERE input = 30 AND output = 50 AND model = 'model-a'";
    assert_eq!(world.count(kept), 1);
    let sum = "SELECT count(*) FROM usage_sum WHERE input = 30 AND output = 50 AND replies = 1 AND model = 'model-a'";
    assert_eq!(world.count(sum), 1);
    assert_eq!(world.count("SELECT count(*) FROM usage_sum"), 1);
    sums_are_those_of_the_rows(&world);
}

#[test]
fn usage_012_case_u09_a_key_is_remembered_per_part_and_provider_and_not_per_session() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.posts((0..100).map(|n| hook.row(&format!("m{n}"), 1)).collect());
    let copied = hook.session("fork");
    let mut rows: Vec<Value> = (0..100).map(|n| hook.row(&format!("m{n}"), 1)).collect();
    rows.push(hook.row("m100", 1));
    let answer = copied.posts(rows);
    assert_eq!((answer.new, answer.same), (1, 100));
    hook.of("api").posts(vec![hook.row("m0", 1)]);
    hook.provider("codex").posts(vec![hook.row("m0", 1)]);
    assert_eq!(output(&world), 103);
    sums_are_those_of_the_rows(&world);
}

#[test]
fn usage_037_bad_rows_are_refused_alone() {
    let world = World::new();
    let hook = Hook::new(&world);
    let mut rows: Vec<Value> = (0..500).map(|n| hook.row(&format!("m{n}"), 1)).collect();
    rows[3]["output_tokens"] = json!(-1);
    rows[99]["output_tokens"] = json!(1.5);
    rows[200]["input_tokens"] = json!(1_000_000_001);
    rows[300]["key"] = json!("k".repeat(201));
    rows[499]["at"] = json!((world.now() + Duration::from_secs(2 * 86_400)).rfc3339());
    let answer = hook.posts(rows);
    assert_eq!((answer.new, answer.refused.len()), (495, 5));
    assert_eq!(answer.refused[0].key, "m3");
    assert!(answer.refused[0].why.contains("output_tokens"));
    assert_eq!(answer.refused[3].key.len(), 200);
    assert_eq!(output(&world), 495);
}

#[test]
fn usage_038_more_than_500_rows_are_refused_whole() {
    let world = World::new();
    let hook = Hook::new(&world);
    let rows = (0..501).map(|n| hook.row(&format!("m{n}"), 1)).collect();
    let refusal = refused(hook.posts_with(rows, |_| {}));
    assert_eq!(refusal["error"], "too_large");
    assert_eq!(world.count("SELECT count(*) FROM usage_row"), 0);
    assert_eq!(world.count("SELECT count(*) FROM turn"), 0);
}

#[test]
fn usage_039_a_usage_object_is_one_reply_per_key_or_per_post() {
    let world = World::new();
    let hook = Hook::new(&world).provider("other");
    let post = |key: Option<&str>, usage: Value| {
        hook.posts_with(Vec::new(), |report| {
            report.usage = Some(usage);
            report.key = key.map(str::to_owned);
        })
        .unwrap()
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 7, "cache_tokens": 11, "cost_usd": 0.0042, "model": "m"});
    assert_eq!(post(Some("k"), usage.clone()).new, 1);
    assert_eq!(post(Some("k"), usage.clone()).same, 1);
    assert_eq!(post(None, usage.clone()).new, 1);
    assert_eq!(post(None, usage).new, 1);
    assert_eq!(output(&world), 21);
    assert_eq!(world.count("SELECT sum(cost) FROM usage_sum"), 12_600);
    let empty = post(
        None,
        json!({"input_tokens": 0, "output_tokens": 0, "cost_usd": 0}),
    );
    assert_eq!(empty.skipped.as_deref(), Some("empty"));
    assert_eq!(world.count("SELECT count(*) FROM usage_row"), 3);
}

/// `event` by web with usage; its id.
fn event(world: &World, output: i64) -> String {
    let caller: Caller = world.caller("web");
    let usage = json!({"output_tokens": output, "model": "m"});
    let args = relayroom::activity::event::EventArgs {
        kind: "progress".into(),
        usage: usage.as_object().cloned(),
        ..Default::default()
    };
    world
        .write(move |tx, now| relayroom::activity::event::record(tx, &caller, args, now))
        .unwrap()
        .event_id
}

#[test]
fn usage_040_an_agents_own_word_counts_until_its_hook_counts() {
    let world = World::new();
    let hook = Hook::new(&world);
    let first = event(&world, 70);
    let key = format!("SELECT count(*) FROM usage_row WHERE key = '{first}'");
    assert_eq!((world.count(&key), output(&world)), (1, 70));
    hook.posts(vec![hook.row("m1", 5)]);
    event(&world, 900);
    assert_eq!(output(&world), 75);
    let shown = "SELECT count(*) FROM event WHERE output_tokens = 900";
    assert_eq!(world.count(shown), 1);
    sums_are_those_of_the_rows(&world);
    // What no reply could be is shown and not summed.
    let other = World::new();
    event(&other, 9_007_199_254_740_991);
    assert_eq!(output(&other), 0);
}

#[test]
fn usage_041_rows_of_a_deleted_part_stay() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.posts(vec![hook.row("m1", 5)]);
    world.delete("web");
    assert_eq!(output(&world), 5);
}

#[test]
fn usage_003_usage_029_rows_go_to_the_turn_they_name_or_fall_into() {
    let world = World::new();
    let hook = Hook::new(&world);
    hook.starts("t1");
    world.seconds(30);
    hook.stops("t1");
    world.seconds(30);
    hook.starts("t2");
    let mut named = hook.row("m1", 1);
    named["turn"] = json!("t1");
    let mut unknown = hook.row("m2", 2);
    unknown["turn"] = json!("never-heard-of");
    let before = hook.row_at("m3", 4, world.now() - Duration::from_secs(10));
    let mut child = hook.row("m4", 8);
    child["sidechain"] = json!(true);
    let long_ago = hook.row_at("m5", 16, world.now() - Duration::from_secs(7_200));
    hook.posts_with(vec![named, unknown, before, child, long_ago], |report| {
        report.turn = Some("t2".into());
    })
    .unwrap();
    assert_eq!(hook.output_of("t1"), 1 + 4);
    assert_eq!(hook.output_of("t2"), 2 + 8 + 16);
    assert_eq!(hook.turns().len(), 2);
    assert_eq!(
        world.count("SELECT count(*) FROM usage_row WHERE sidechain = 1"),
        1
    );
}

#[test]
fn rows_that_came_before_their_turns_begin_move_to_its_cause() {
    let world = World::new();
    world.sent("api", &["web"], "s", "b");
    let wake = crate::wake::pager::Pager::FIRST
        .wake(&world, "web")
        .unwrap();
    let hook = Hook::new(&world);
    let began = world.now();
    world.seconds(30);
    hook.posts_with(vec![hook.row("m1", 9)], |report| {
        report.turn = Some("t1".into());
    })
    .unwrap();
    assert_eq!(hook.turns(), turns([("t1", "human", "open")]));
    sums_are_those_of_the_rows(&world);
    hook.tells(ActivityKind::TurnStart, |report| {
        report.turn = Some("t1".into());
        report.tag = Some(wake.tag.clone());
        report.at = began.rfc3339();
    })
    .unwrap();
    assert_eq!(hook.turns(), turns([("t1", "wake", "open")]));
    sums_are_those_of_the_rows(&world);
    let human = "SELECT count(*) FROM usage_sum WHERE cause = 'human'";
    assert_eq!(world.count(human), 0);
}

#[test]
fn a_cost_told_late_takes_the_place_of_an_estimate() {
    let world = World::new();
    let hook = Hook::new(&world);
    let mut row = hook.row("m1", 9);
    hook.posts(vec![row.clone()]);
    row["cost_usd"] = json!(0.0042);
    assert_eq!(hook.posts(vec![row]).raised, 1);
    let sums = "SELECT count(*) FROM usage_sum WHERE told = 1 AND cost = 4200 AND replies = 1";
    assert_eq!(world.count(sums), 1);
    assert_eq!(world.count("SELECT count(*) FROM usage_sum"), 1);
}

#[test]
fn what_was_passed_over_is_counted_by_why() {
    let world = World::new();
    let hook = Hook::new(&world);
    for _ in 0..2 {
        hook.posts_with(Vec::new(), |report| {
            report.skipped = BTreeMap::from([("unknown".into(), 2), ("broken".into(), 1)]);
        })
        .unwrap();
    }
    let unknown = "SELECT count FROM usage_lost WHERE what = 'skipped' AND why = 'unknown'";
    assert_eq!(world.count(unknown), 4);
}

/// What a session does next in the generated days of case 48.
#[derive(Debug, Clone)]
enum Act {
    /// A turn of so many replies, begun by a wake or a person, and how it ends.
    Turn { replies: u8, woken: bool, end: End },
    /// The relay is killed and started again.
    Restart,
}

#[derive(Debug, Clone, Copy)]
enum End {
    Stop,
    /// The next turn begins without a word of this one's end.
    Silence,
    /// The session goes.
    Session,
    /// The relay does not hear of it before the next turn is over.
    Late,
}

fn act() -> impl Strategy<Value = Act> {
    let end = prop_oneof![
        4 => Just(End::Stop), 1 => Just(End::Silence), 1 => Just(End::Session), 2 => Just(End::Late)
    ];
    prop_oneof![
        12 => (0..6u8, any::<bool>(), end).prop_map(|(replies, woken, end)| Act::Turn { replies, woken, end }),
        1 => Just(Act::Restart),
    ]
}

/// Posts rows, each perhaps once more, and the post perhaps as a whole: as a hook does that did not hear the answer.
fn post(hook: &Hook<'_>, turn: &str, rows: &[Value], repeats: u8) {
    for _ in 0..=repeats % 3 {
        let mut posted = rows.to_vec();
        posted.extend(rows.first().cloned());
        hook.posts_with(posted, |report| report.turn = Some(turn.into()))
            .unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn usage_048_the_ledger_equals_what_was_handed_out(
        days in prop::collection::vec((0..8usize, act(), any::<u8>()), 60..160)
    ) {
        let mut world = World::new();
        let names = ["api", "db", "web", "p3", "p4", "p5", "p6", "p7"];
        for name in &names[3..] {
            world.add(name);
        }
        let mut handed_out = 0_u64;
        let mut per_turn: BTreeMap<String, u64> = BTreeMap::new();
        let mut late: Vec<(usize, String, Vec<Value>, Time, Time)> = Vec::new();
        let mut number = 0_u64;
        for (who, act, repeats) in days {
            world.seconds(20);
            let (replies, woken, end) = match act {
                Act::Restart => {
                    world = world.restarted();
                    continue;
                }
                Act::Turn { replies, woken, end } => (replies, woken, end),
            };
            number += 1;
            let turn = format!("turn-{number}");
            let hook = Hook::new(&world).of(names[who]);
            let began = world.now();
            let mut rows = Vec::new();
            for reply in 0..replies {
                world.seconds(3);
                let tokens = u64::from(repeats) * 7 + u64::from(reply);
                handed_out += tokens;
                *per_turn.entry(turn.clone()).or_default() += tokens;
                rows.push(hook.row(&format!("{turn}/{reply}"), tokens));
            }
            if let End::Late = end {
                late.push((who, turn, rows, began, world.now()));
                continue;
            }
            let tag = woken.then(|| tag_for(&world, names[who])).flatten();
            let start = |report: &mut relayroom::api::hook::ActivityReport| {
                report.turn = Some(turn.clone());
                report.tag = tag.clone();
                report.at = began.rfc3339();
            };
            for _ in 0..=repeats % 2 {
                hook.tells(ActivityKind::TurnStart, start).unwrap();
            }
            match end {
                End::Stop => drop(hook.stops(&turn)),
                End::Session => drop(hook.tells(ActivityKind::SessionEnd, |_| {}).unwrap()),
                End::Silence | End::Late => {}
            }
            post(&hook, &turn, &rows, repeats);
            // What had waited in the spool comes behind it.
            for (who, turn, rows, began, ended) in late.drain(..) {
                let hook = Hook::new(&world).of(names[who]);
                hook.tells_of(ActivityKind::TurnStart, &turn, began);
                post(&hook, &turn, &rows, repeats);
                hook.tells_of(ActivityKind::TurnEnd, &turn, ended);
            }
        }
        let waiting: u64 = late
            .iter()
            .flat_map(|(_, _, rows, ..)| rows)
            .map(|row| row["output_tokens"].as_u64().unwrap())
            .sum();
        prop_assert_eq!(output(&world).unsigned_abs(), handed_out - waiting);
        sums_are_those_of_the_rows(&world);
        let hook = Hook::new(&world);
        for (turn, tokens) in &per_turn {
            if !late.iter().any(|(_, late, ..)| late == turn) {
                prop_assert_eq!(hook.output_of(turn).unsigned_abs(), *tokens, "{}", turn);
            }
        }
        // Each has its one event once it is over.
        let doubled = "SELECT count(*) FROM (SELECT detail FROM event WHERE type = 'complete' GROUP BY detail HAVING count(*) > 1)";
        prop_assert_eq!(world.count(doubled), 0);
        let missing = "SELECT count(*) FROM turn AS t WHERE ended_at IS NOT NULL AND event IS NULL
                         AND EXISTS (SELECT 1 FROM usage_row WHERE turn = t.seq)";
        prop_assert_eq!(world.count(missing), 0);
    }
}

/// A wake's tag for the part, if its mail causes one.
fn tag_for(world: &World, part: &str) -> Option<String> {
    let from = if part == "api" { "db" } else { "api" };
    let count = world.count("SELECT count(*) FROM message");
    world
        .send(
            from,
            crate::support::world::mail(&[part], &format!("s{count}"), "b"),
        )
        .ok()?;
    let seq = world.part(part).0;
    world
        .read(|connection| {
            let sql = "SELECT tag FROM wake WHERE part = ?1 AND ended_at IS NULL";
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([seq])?;
            Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
        })
        .unwrap()
}

#[test]
fn a_restart_of_the_relay_forgets_no_turn() {
    let world = World::new();
    Hook::new(&world).starts("t1");
    let world = world.restarted();
    assert_eq!(Hook::new(&world).state(), "busy");
}
