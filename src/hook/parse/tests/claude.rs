use serde_json::Value;
use serde_json::json;

use super::*;

fn reply(id: &str, further: Value) -> Value {
    let mut line = json!({
        "type": "assistant", "uuid": format!("u-{id}"), "timestamp": "2026-11-30T19:00:00.000Z",
        "message": {"id": id, "model": "claude-large", "stop_reason": "end_turn", "usage": {"input_tokens": 4, "output_tokens": 10}},
    });
    merge(&mut line, further);
    line
}

/// Puts the fields of one object into another, however deep.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

fn usage(id: &str, usage: Value) -> String {
    reply(id, json!({"message": {"usage": usage}})).to_string()
}

fn claude(lines: &[String]) -> Outcome {
    read(Provider::Claude, lines)
}

#[test]
fn usage_001_case_u01_several_lines_of_one_reply_are_one_row_of_the_largest_numbers() {
    let line = |output| {
        usage(
            "m1",
            json!({"output_tokens": output, "cache_read_input_tokens": 51_000}),
        )
    };
    let outcome = claude(&[line(10), line(10), line(120)]);
    assert_eq!(outcome.rows.len(), 1);
    assert_eq!(outcome.sums()[1..5], [51_000, 0, 0, 120]);
    let falling = claude(&[line(120), line(10)]);
    assert_eq!(falling.rows["m1"].output_tokens, 120);
}

#[test]
fn usage_002_case_u02_the_key_is_the_messages_id_else_the_lines_own() {
    let mut lines = vec![usage("m1", json!({}))];
    let other =
        json!({"type": "user", "promptId": "p", "message": {"role": "user", "content": "x"}});
    lines.extend((0..200).map(|_| other.to_string()));
    lines.push(reply("m1", json!({"requestId": "r1"})).to_string());
    assert_eq!(claude(&lines).rows.len(), 1);

    let no_id = |uuid| reply("", json!({"uuid": uuid, "message": {"id": null}})).to_string();
    let outcome = claude(&[no_id("u1"), no_id("u2"), no_id("u2")]);
    assert_eq!(outcome.rows.keys().collect::<Vec<_>>(), ["u1", "u2"]);
}

#[test]
fn usage_003_sidechains_count_and_say_so() {
    let inline = reply("s", json!({"isSidechain": true})).to_string();
    let outcome = claude(&[usage("m", json!({})), inline.clone()]);
    assert!(!outcome.rows["m"].sidechain && outcome.rows["s"].sidechain);
    let own_file = Context {
        sidechain: true,
        ..context()
    };
    let outcome = read_in(Provider::Claude, &own_file, &[usage("a", json!({}))]);
    assert!(outcome.rows["a"].sidechain);
}

#[test]
fn usage_004_cache_writes_by_their_sum_or_by_their_kinds_and_each_reply_its_model() {
    let kinds = json!({"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 300});
    let lines = [
        usage(
            "m1",
            json!({"cache_creation_input_tokens": 800, "cache_creation": kinds}),
        ),
        usage("m2", json!({"cache_creation": kinds})),
        reply("m3", json!({"message": {"model": "claude-small"}})).to_string(),
    ];
    let outcome = claude(&lines);
    for key in ["m1", "m2"] {
        let row = &outcome.rows[key];
        assert_eq!(
            (row.cache_write_tokens, row.cache_write_1h_tokens),
            (800, 300)
        );
    }
    assert_eq!(outcome.rows["m1"].model, "claude-large");
    assert_eq!(outcome.rows["m3"].model, "claude-small");
}

#[test]
fn case_u13_missing_null_and_unknown_fields_are_no_tokens() {
    let lines = [
        usage(
            "m1",
            json!({"input_tokens": null, "output_tokens": "many", "server_tool_use": {"x": [1]}}),
        ),
        reply("m2", json!({"type": "reasoning_summary"})).to_string(),
        reply("m3", json!({"message": {"model": "<synthetic>"}})).to_string(),
    ];
    let outcome = claude(&lines);
    assert_eq!(outcome.sums(), [0; 6]);
    assert_eq!(outcome.rows.len(), 1);
    assert_eq!(outcome.skipped["unknown"], 1);
}

#[test]
fn usage_013_good_lines_around_a_broken_one_count() {
    let good = |id| usage(id, json!({}));
    let broken = good("m2");
    let lines = [
        good("m1"),
        broken[..broken.len() - 30].to_owned(),
        format!("{}{}", good("m3"), good("m4")),
        good("m5").replace("\"uuid\"", "\"text\":\"a \\ud83d b\",\"uuid\""),
        format!("\0\0\0{}", good("m6")),
        format!("{}{}", &good("m7")[..40], good("m8")),
    ];
    let outcome = claude(&lines);
    let keys: Vec<_> = outcome.rows.keys().collect();
    assert_eq!(keys, ["m1", "m3", "m4", "m5", "m6", "m8"]);
    assert_eq!(outcome.skipped["broken"], 2);
}

#[test]
fn a_row_names_the_prompt_before_it() {
    let prompt =
        |id| json!({"type": "user", "promptId": id, "message": {"content": "x"}}).to_string();
    let outcome = claude(&[
        usage("m0", json!({})),
        prompt("p1"),
        usage("m1", json!({})),
        prompt("p2"),
        usage("m2", json!({})),
    ]);
    assert_eq!(outcome.rows["m0"].turn, None);
    assert_eq!(outcome.rows["m1"].turn.as_deref(), Some("p1"));
    assert_eq!(outcome.rows["m2"].turn.as_deref(), Some("p2"));
}

#[test]
fn usage_011_a_turn_is_settled_by_its_own_last_reply() {
    let prompt =
        |id| json!({"type": "user", "promptId": id, "message": {"content": "x"}}).to_string();
    let stopped =
        |reason: Value| reply("m", json!({"message": {"stop_reason": reason}})).to_string();
    let interrupted =
        json!({"type": "user", "interruptedMessageId": "m", "message": {}}).to_string();
    for (lines, settled) in [
        (vec![], false),
        (vec![stopped(json!("end_turn"))], true),
        (vec![stopped(json!("tool_use"))], false),
        (vec![stopped(Value::Null)], false),
        (vec![stopped(Value::Null), interrupted], true),
    ] {
        let mut turn = vec![prompt("p1")];
        turn.extend(lines);
        let outcome = claude(&turn);
        assert_eq!(outcome.state.is_settled(Some("p1")), settled, "{turn:?}");
        assert!(
            !outcome.state.is_settled(Some("p2")),
            "another turn's reply"
        );
    }
}

#[test]
fn usage_015_replies_before_the_part_joined_are_only_counted_as_skipped() {
    let mut rows = Rows::since(crate::store::Time::parse("2026-11-30T19:00:00.000Z"));
    let mut state = State::new(Provider::Claude);
    let old = reply("old", json!({"timestamp": "2026-11-30T18:59:59.999Z"}));
    for line in [old, reply("new", json!({}))] {
        state.line(line.to_string().as_bytes(), &context(), &mut rows);
    }
    let (rows, skipped) = rows.take();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].key, "new");
    assert_eq!(skipped["before_join"], 1);
}
