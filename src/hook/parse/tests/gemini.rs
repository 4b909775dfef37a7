use serde_json::Value;
use serde_json::json;

use super::*;

fn message(id: &str, tokens: Value) -> Value {
    json!({"id": id, "timestamp": "2026-11-30T19:00:00.000Z", "type": "gemini", "model": "gemini-pro", "content": "x", "tokens": tokens})
}

fn gemini(lines: &[Value]) -> Outcome {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    read(Provider::Gemini, &lines)
}

fn tokens(tool: u64, total: u64) -> Value {
    json!({"input": 1_000, "cached": 600, "output": 50, "thoughts": 20, "tool": tool, "total": total})
}

#[test]
fn usage_009_cached_is_inside_input_thoughts_are_apart_and_tools_as_the_total_says() {
    let outcome = gemini(&[message("a", tokens(0, 1_070))]);
    assert_eq!(outcome.sums(), [400, 600, 0, 0, 70, 20]);
    let outcome = gemini(&[message("a", tokens(30, 1_100))]);
    assert_eq!(outcome.sums()[0], 430);
    let outcome = gemini(&[message("a", tokens(30, 1_070))]);
    assert_eq!(outcome.sums()[0], 400, "inside input already");
}

#[test]
fn usage_010_a_message_written_again_is_one_row_and_a_rewind_takes_nothing_back() {
    let outcome = gemini(&[
        json!({"sessionId": "s", "kind": "main"}),
        message("a", Value::Null),
        message("a", tokens(0, 1_070)),
        json!({"$rewindTo": "before"}),
        json!({"$set": {"messages": [{"id": "u", "type": "user", "content": []}]}}),
    ]);
    assert_eq!(outcome.rows.len(), 1);
    assert_eq!(outcome.sums()[4], 70);
    assert!(outcome.skipped.is_empty());
}

#[test]
fn messages_of_a_change_and_of_an_older_document_count_once() {
    let all =
        json!([{"type": "user"}, message("a", tokens(0, 1_070)), message("b", tokens(0, 1_070))]);
    let outcome = gemini(&[
        message("a", tokens(0, 1_070)),
        json!({"$set": {"messages": all, "lastUpdated": "x"}}),
    ]);
    assert_eq!(outcome.rows.len(), 2);
    let document = serde_json::to_string_pretty(&json!({"sessionId": "s", "messages": all}));
    let outcome = streamed(Provider::Gemini, &[document.unwrap()]);
    assert_eq!(outcome.rows.len(), 2);
}

#[test]
fn case_u13_tokens_of_an_unknown_kind_are_counted_as_skipped() {
    let mut other = message("a", tokens(0, 1_070));
    other["type"] = json!("embedding");
    let outcome = gemini(&[other]);
    assert!(outcome.rows.is_empty());
    assert_eq!(outcome.skipped["unknown"], 1);
}

#[test]
fn usage_011_a_turn_is_settled_by_a_reply_with_tokens_or_a_cancellation() {
    let user = json!({"id": "u", "type": "user", "content": []});
    let info = json!({"id": "i", "type": "info", "content": "Request cancelled."});
    for (last, settled) in [
        (user.clone(), false),
        (message("a", Value::Null), false),
        (message("a", tokens(0, 1_070)), true),
        (info, true),
    ] {
        let outcome = gemini(&[user.clone(), last.clone()]);
        assert_eq!(outcome.state.is_settled(None), settled, "{last}");
    }
}
