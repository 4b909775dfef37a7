//! Whose replies and events they are: of children, of sessions that moved, of two folders under one server (usage.md 2, 4).

use std::fs;

use relayroom::api::hook::ActivityKind;
use serde_json::Value;
use serde_json::json;

use super::hook_reading::outputs;
use super::hook_stage::SESSION;
use super::hook_stage::Stage;
use super::hook_transcript::append;
use super::hook_transcript::codex_count;
use super::hook_transcript::codex_end;
use super::hook_transcript::codex_meta;
use super::hook_transcript::gemini_reply;
use super::hook_transcript::prompt;
use super::hook_transcript::reply;

#[test]
fn usage_003_case_u03_children_count_in_their_parents_session() {
    let stage = Stage::new();
    let main = stage.transcript();
    append(&main, &[prompt("turn-1"), reply("m", 100)]);
    let children = main.with_extension("").join("subagents");
    append(
        &children.join("agent-a.jsonl"),
        &[prompt("turn-1"), reply("a", 40)],
    );
    append(&children.join("agent-b.jsonl"), &[reply("b", 60)]);
    append(&children.join("deeper/agent-c.jsonl"), &[reply("c", 5)]);
    append(&children.join("agent-a.meta.json"), &[reply("x", 1_000)]);
    stage.stop();
    let script = stage.relay.script();
    assert_eq!(outputs(&script), 205);
    for post in &script.posts {
        assert_eq!(post.call.session, SESSION);
        assert_eq!(post.call.turn.as_deref(), Some("turn-1"));
        for row in &post.call.rows {
            assert_eq!(row.sidechain, row.key != "m");
        }
    }
}

#[test]
fn usage_053_a_reply_read_at_the_dialog_outlives_its_file() {
    let stage = Stage::new();
    let file = stage.path("home/.gemini/tmp/shop/chats/session-2026-11-30T19-00-5e551011.jsonl");
    append(&file, &[gemini_reply("g", 71)]);
    let say = |name: &str| {
        let further =
            json!({"transcript_path": file, "notification_type": "ToolPermission", "prompt": "go"});
        stage.tell("gemini", &stage.event("shop", name, "", &further));
    };
    say("BeforeAgent");
    assert_eq!(outputs(&stage.relay.script()), 0);
    say("Notification");
    assert_eq!(outputs(&stage.relay.script()), 71);
    fs::remove_file(&file).unwrap();
    for _ in 0..3 {
        say("SessionEnd");
    }
    assert_eq!(outputs(&stage.relay.script()), 71);
    let turn = stage.relay.script().activities[0].call.turn.clone();
    assert!(turn.is_some());
    assert_eq!(stage.relay.script().posts[0].call.turn, turn);
}

#[test]
fn a_resumed_gemini_session_is_found_by_its_id_and_its_children_count() {
    let stage = Stage::new();
    let chats = stage.path("home/.gemini/tmp/shop/chats");
    append(
        &chats.join("session-2026-11-30T18-56-5e551011.jsonl"),
        &[gemini_reply("g", 1)],
    );
    append(
        &chats.join(SESSION).join("child.jsonl"),
        &[gemini_reply("c", 10)],
    );
    let older = json!({"sessionId": "x", "messages": [gemini_reply("d", 100)]});
    fs::write(
        chats.join(SESSION).join("older.json"),
        serde_json::to_string_pretty(&older).unwrap(),
    )
    .unwrap();
    let named = chats.join("session-2026-11-30T18-57-5e551011.jsonl");
    let event = stage.event("shop", "AfterAgent", "", &json!({"transcript_path": named}));
    stage.tell("gemini", &event);
    assert_eq!(outputs(&stage.relay.script()), 111);
    assert!(stage.log().is_empty(), "{:?}", stage.log());
}

#[test]
fn usage_008_children_of_a_codex_session_are_found_by_their_first_line() {
    let stage = Stage::new();
    let day = stage.path("home/.codex/sessions/2026/11/30");
    let file = |id: &str| day.join(format!("rollout-2026-11-30T19-00-00-{id}.jsonl"));
    let parent: Vec<Value> = (1..=34).map(|n| codex_count(n * 300)).collect();
    let mut lines = vec![codex_meta(SESSION, None)];
    lines.extend(parent.clone());
    lines.push(codex_end("turn-1"));
    append(&file(SESSION), &lines);
    let child = |id: &str, of: &str, total: u64| {
        let mut lines = vec![codex_meta(id, Some(of))];
        lines.extend(parent.clone());
        lines.push(codex_count(total));
        append(&file(id), &lines);
    };
    child("c1c1c1c1-0000", SESSION, 34 * 300 + 500);
    child("c2c2c2c2-0000", SESSION, 34 * 300 + 500);
    child("c3c3c3c3-0000", "another-session", 99_999);
    let stop = |turn: &str| {
        let further = json!({"transcript_path": file(SESSION), "turn_id": turn});
        stage.tell("codex", &stage.event("shop", "Stop", "", &further));
    };
    let input = || stage.relay.sums()[0];
    stop("turn-1");
    assert_eq!(input(), 34 * 300 + 1_000);
    append(&file("c1c1c1c1-0000"), &[codex_count(34 * 300 + 9_035)]);
    stop("turn-1");
    assert_eq!(input(), 34 * 300 + 9_035 + 500);
    let posts = &stage.relay.script().posts;
    assert!(posts.iter().all(|post| post.call.session == SESSION));
}

#[test]
fn a_childs_event_neither_begins_nor_ends_a_turn() {
    let stage = Stage::new();
    let file = stage.path("home/.codex/sessions/2026/11/30/rollout-x-c1c1c1c1-0000.jsonl");
    append(&file, &[codex_meta("c1c1c1c1-0000", Some(SESSION))]);
    for name in ["UserPromptSubmit", "Stop"] {
        let further =
            json!({"transcript_path": file, "session_id": "c1c1c1c1-0000", "prompt": "x"});
        stage.tell("codex", &stage.event("shop", name, "turn_id", &further));
    }
    assert!(stage.relay.kinds().is_empty());
}

#[test]
fn usage_050_two_codex_under_one_server_report_each_for_its_folder() {
    let mut stage = Stage::new();
    stage.join("api", "api", "");
    // Whoever started the server: its environment is not the session's.
    let config = stage.shop().join(".relayroom/config.toml");
    stage.environment = vec![("RELAYROOM_CONFIG".to_owned(), config.display().to_string())];
    for (folder, session) in [("shop", "5e551011-aaaa"), ("api", "5e551011-bbbb")] {
        let file = stage.path(&format!(
            "home/.codex/sessions/2026/11/30/rollout-x-{session}.jsonl"
        ));
        append(
            &file,
            &[
                codex_meta(session, None),
                codex_count(100),
                codex_end("turn-1"),
            ],
        );
        let further = json!({"transcript_path": file, "session_id": session});
        stage.fire("codex", &stage.event(folder, "Stop", "turn_id", &further));
    }
    let script = stage.relay.script();
    let parts: Vec<_> = script
        .activities
        .iter()
        .map(|heard| heard.call.part.as_str())
        .collect();
    assert_eq!(parts, ["web", "api"]);
    let rows: Vec<_> = script
        .posts
        .iter()
        .map(|post| (post.call.part.as_str(), post.call.rows[0].key.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            ("web", "5e551011-aaaa:0:100"),
            ("api", "5e551011-bbbb:0:100")
        ]
    );
}

#[test]
fn usage_051_what_a_cli_says_late_or_often_is_passed_on_as_it_is() {
    let stage = Stage::new();
    for name in ["UserPromptSubmit", "SessionStart", "SessionEnd"] {
        let turn = if name == "UserPromptSubmit" {
            "turn_id"
        } else {
            ""
        };
        stage.tell(
            "codex",
            &stage.event("shop", name, turn, &json!({"prompt": "x"})),
        );
    }
    assert_eq!(
        stage.relay.kinds(),
        [
            ActivityKind::TurnStart,
            ActivityKind::SessionStart,
            ActivityKind::SessionEnd
        ]
    );
}
