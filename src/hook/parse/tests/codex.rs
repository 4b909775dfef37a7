use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::json;

use super::super::codex::totals_of;
use super::*;

fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": "2026-11-30T19:00:00.000Z", "type": kind, "payload": payload}).to_string()
}

fn meta(id: &str, further: Value) -> String {
    let mut payload = json!({"id": id, "source": "cli"});
    for (name, value) in further.as_object().unwrap() {
        payload[name] = value.clone();
    }
    line("session_meta", payload)
}

fn turn(id: &str) -> String {
    line("turn_context", json!({"turn_id": id, "model": "gpt-5"}))
}

/// A running total of input alone, and the last response's.
fn count(total: u64, last: u64) -> String {
    let tokens = |n: u64| json!({"input_tokens": n, "total_tokens": n});
    let info = json!({"total_token_usage": tokens(total), "last_token_usage": tokens(last)});
    line("event_msg", json!({"type": "token_count", "info": info}))
}

fn record(response: &str, turn: &str, input: u64) -> String {
    let usage = json!({"input_tokens": input, "total_tokens": input});
    line(
        "token_usage_record",
        json!({"response_id": response, "turn_id": turn, "usage": usage, "turn_token_usage": {"input_tokens": 99_999}}),
    )
}

fn codex(lines: &[String]) -> Outcome {
    read(Provider::Codex, lines)
}

fn inputs(outcome: &Outcome) -> Vec<(&str, u64)> {
    let rows = outcome.rows.values();
    rows.map(|row| (row.key.as_str(), row.input_tokens))
        .collect()
}

#[test]
fn usage_005_case_u12_differences_of_totals_and_a_drop_begins_anew() {
    let mut lines = vec![meta("s", json!({})), turn("t")];
    lines.extend([100, 100, 250, 250, 40].map(|total| count(total, 7)));
    let outcome = codex(&lines);
    assert_eq!(
        inputs(&outcome),
        [("s:0:100", 100), ("s:0:250", 150), ("s:1:40", 40)]
    );
    assert_eq!(outcome.rows["s:1:40"].turn.as_deref(), Some("t"));
    assert_eq!(outcome.rows["s:1:40"].model, "gpt-5");
}

#[test]
fn usage_006_cached_is_inside_input_and_reasoning_inside_output() {
    let total = json!({"input_tokens": 1_000, "cached_input_tokens": 900, "output_tokens": 50, "reasoning_output_tokens": 30});
    let lines = [
        meta("s", json!({})),
        line("event_msg", json!({"type": "token_count", "info": null})),
        line(
            "event_msg",
            json!({"type": "token_count", "info": {"total_token_usage": total}}),
        ),
    ];
    let outcome = codex(&lines);
    assert_eq!(outcome.sums(), [100, 900, 0, 0, 50, 30]);
    assert!(outcome.rows.contains_key("s:0:1050"));
    assert!(outcome.skipped.is_empty());
}

#[test]
fn usage_007_both_kinds_of_one_response_count_once_in_either_order() {
    let results = line("response_item", json!({"type": "function_call_output"}));
    let start = [meta("s", json!({})), turn("t")];
    let count_first = [count(150, 150), results.clone(), record("r1", "t", 150)];
    let record_first = [record("r1", "t", 150), results, count(150, 150)];
    for first in [count_first, record_first] {
        for second in [
            [count(220, 70), record("r2", "t", 70)],
            [record("r2", "t", 70), count(220, 70)],
        ] {
            let lines: Vec<_> = start.iter().chain(&first).chain(&second).cloned().collect();
            let outcome = codex(&lines);
            assert_eq!(outcome.sums()[0], 220, "{lines:?}");
            assert_eq!(outcome.rows.len(), 2);
        }
    }
}

#[test]
fn a_record_of_another_turn_is_another_response() {
    let lines = [
        meta("s", json!({})),
        turn("t1"),
        count(150, 150),
        turn("t2"),
        record("r2", "t2", 150),
    ];
    assert_eq!(codex(&lines).sums()[0], 300);
}

#[test]
fn usage_008_a_child_counts_what_its_parent_did_not() {
    let parent: Vec<String> = (1..=34).map(|n| count(n * 300, 300)).collect();
    let mut totals = HashSet::new();
    for line in &parent {
        totals_of(line.as_bytes(), &mut totals);
    }
    assert_eq!(totals.len(), 34);
    let spawned = json!({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}});
    let forked = json!({"forked_from_id": "p"});
    for (id, origin) in [("c1", spawned), ("c2", forked)] {
        let mut lines = vec![meta(id, origin), meta("p", json!({}))];
        lines.extend(parent.clone());
        lines.push(count(34 * 300 + 9_035, 9_035));
        let beside = Context {
            parent: Some(totals.clone()),
            ..context()
        };
        let outcome = read_in(Provider::Codex, &beside, &lines);
        assert_eq!(inputs(&outcome), [(&*format!("{id}:0:19235"), 9_035)]);
    }
}

#[test]
fn usage_008_two_children_are_two_whose_totals_are_equal() {
    let totals = HashSet::new();
    let beside = Context {
        parent: Some(totals),
        ..context()
    };
    let child = |id: &str| {
        let lines = [meta(id, json!({"forked_from_id": "p"})), count(500, 500)];
        read_in(Provider::Codex, &beside, &lines)
    };
    let (one, two) = (child("c1"), child("c2"));
    assert_eq!(one.sums()[0] + two.sums()[0], 1_000);
    assert_ne!(inputs(&one)[0].0, inputs(&two)[0].0);
}

#[test]
fn a_child_whose_parent_is_gone_begins_with_its_last_response() {
    let lines = [
        meta("c", json!({"forked_from_id": "p"})),
        count(9_000, 200),
        count(9_500, 500),
    ];
    assert_eq!(codex(&lines).sums()[0], 700);
}

#[test]
fn case_u13_unknown_kinds_of_usage_are_counted_as_skipped() {
    let lines = [
        meta("s", json!({})),
        line("token_spend_record", json!({"usage": {"input_tokens": 5}})),
    ];
    let outcome = codex(&lines);
    assert!(outcome.rows.is_empty());
    assert_eq!(outcome.skipped["unknown"], 1);
}

#[test]
fn usage_011_a_turn_is_settled_by_its_end_or_by_a_response_without_calls() {
    let call = line("response_item", json!({"type": "function_call"}));
    let end = |kind: &str| line("event_msg", json!({"type": kind, "turn_id": "t"}));
    let started = line("event_msg", json!({"type": "task_started", "turn_id": "t"}));
    for (lines, settled) in [
        (vec![], false),
        (vec![record("r", "t", 1)], true),
        (vec![call.clone(), record("r", "t", 1)], false),
        (vec![call, record("r", "t", 1), end("task_complete")], true),
        (vec![count(1, 1)], false),
        (vec![count(1, 1), end("turn_aborted")], true),
    ] {
        let mut turn = vec![meta("s", json!({})), started.clone()];
        turn.extend(lines);
        let outcome = codex(&turn);
        assert_eq!(outcome.state.is_settled(Some("t")), settled, "{turn:?}");
    }
}

proptest! {
    #[test]
    fn case_u12_repeats_and_resets_never_change_the_sum(steps in prop::collection::vec((1_u64..500, 1_usize..4, any::<bool>()), 1..20)) {
        let mut lines = vec![meta("s", json!({})), turn("t")];
        let (mut total, mut sum) = (0, 0);
        for (tokens, repeats, reset) in steps {
            if reset && tokens < total {
                total = 0;
            }
            total += tokens;
            sum += tokens;
            lines.extend((0..repeats).map(|_| count(total, tokens)));
        }
        prop_assert_eq!(codex(&lines).sums()[0], sum);
    }
}
