//! Replies, from the transcript to the relay (usage.md 3, 4).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use relayroom::api::hook::ActivityKind;
use serde_json::Value;
use serde_json::json;

use super::hook_stage::Stage;
use super::hook_stage::silent;
use super::hook_stage::start;
use super::hook_transcript::append;
use super::hook_transcript::append_text;
use super::hook_transcript::at;
use super::hook_transcript::codex_count;
use super::hook_transcript::codex_end;
use super::hook_transcript::codex_meta;
use super::hook_transcript::gemini_reply;
use super::hook_transcript::prompt;
use super::hook_transcript::recorded;
use super::hook_transcript::reply;
use super::hook_transcript::reply_at;
use crate::support::scripted_hook_relay::Script;
use crate::support::scripted_relay::Instead;
use crate::support::wait::SLACK;

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

impl Stage {
    /// Claude's transcript of the stage's session.
    fn transcript(&self) -> PathBuf {
        self.path(&format!("home/.claude/projects/-shop/{SESSION}.jsonl"))
    }

    /// Claude's turn ends.
    fn stop(&self) {
        let event = self.claude("Stop", &json!({"transcript_path": self.transcript()}));
        self.tell("claude", &event);
    }
}

fn outputs(script: &Script) -> u64 {
    script.rows.values().map(|row| row.output_tokens).sum()
}

fn skipped(script: &Script, why: &str) -> u64 {
    let posts = script.posts.iter();
    posts.filter_map(|post| post.call.skipped.get(why)).sum()
}

#[test]
fn usage_049_every_recorded_session_is_posted_to_the_token() {
    for scenario in recorded() {
        let stage = Stage::new();
        let end = match scenario.cli {
            "gemini" => "AfterAgent",
            _ => "Stop",
        };
        let event = stage.event(
            "shop",
            end,
            "",
            &json!({"transcript_path": scenario.transcript()}),
        );
        stage.tell(scenario.cli, &event);
        stage.tell(scenario.cli, &event);
        assert_eq!(stage.relay.sums()[..5], scenario.sums, "{}", scenario.name);
        assert_eq!(stage.relay.script().same, 0, "read once");
        assert_eq!(skipped(&stage.relay.script(), "unknown"), 0);
    }
}

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
fn usage_011_case_u04_late_replies_go_with_this_post_or_the_next() {
    for delay in [0, 200, 2_000] {
        let stage = Stage::new();
        let transcript = stage.transcript();
        append(&transcript, &[prompt("turn-1")]);
        let event = stage.claude("Stop", &json!({"transcript_path": transcript}));
        let child = start(stage.command("claude"), event.to_string().as_bytes());
        if delay < 2_000 {
            std::thread::sleep(Duration::from_millis(delay));
            append(&transcript, &[reply("m1", 120)]);
        }
        silent(child);
        if delay == 2_000 {
            append(&transcript, &[reply("m1", 120)]);
        }
        append(&transcript, &[prompt("turn-2"), reply("m2", 7)]);
        stage.tell(
            "claude",
            &stage.claude(
                "Stop",
                &json!({"transcript_path": transcript, "prompt_id": "turn-2"}),
            ),
        );
        let script = stage.relay.script();
        assert_eq!(outputs(&script), 127, "{delay} ms");
        assert_eq!(script.rows["m1"].turn.as_deref(), Some("turn-1"));
        assert_eq!(script.rows["m2"].turn.as_deref(), Some("turn-2"));
    }
}

#[test]
fn case_u04_half_a_line_is_left_for_the_next_run() {
    let stage = Stage::new();
    let line = format!("{}\n", reply("m1", 120));
    let (half, rest) = line.split_at(line.len() / 2);
    append_text(&stage.transcript(), &format!("{}\n{half}", reply("m0", 1)));
    stage.stop();
    assert_eq!(outputs(&stage.relay.script()), 1);
    append_text(&stage.transcript(), rest);
    stage.stop();
    assert_eq!(outputs(&stage.relay.script()), 121);
    assert_eq!(skipped(&stage.relay.script(), "broken"), 0);
}

#[test]
fn usage_012_case_u09_copies_truncation_and_a_new_file_change_no_count() {
    let stage = Stage::new();
    let transcript = stage.transcript();
    let rows: Vec<Value> = (0..100).map(|n| reply(&format!("m{n}"), 10)).collect();
    append(&transcript, &rows);
    stage.stop();
    let copy = transcript.with_file_name("5e551011-0000-4000-8000-000000000002.jsonl");
    append(&copy, &rows);
    append(&copy, &[reply("new", 10)]);
    let event =
        json!({"transcript_path": copy, "session_id": "5e551011-0000-4000-8000-000000000002"});
    stage.tell("claude", &stage.claude("Stop", &event));
    assert_eq!(stage.relay.script().rows.len(), 101);

    fs::write(&transcript, "").unwrap();
    append(&transcript, &rows[..3]);
    stage.stop();
    let other = transcript.with_extension("other");
    append(&other, &rows);
    fs::rename(&other, &transcript).unwrap();
    stage.stop();
    let script = stage.relay.script();
    assert_eq!(script.rows.len(), 101);
    assert_eq!(script.same, 203, "read again from the start each time");
}

#[test]
fn usage_013_a_long_line_and_a_broken_one_cost_no_good_one() {
    let stage = Stage::new();
    let mut long = reply("long", 3);
    long["message"]["content"] = json!("\u{2028}".repeat(300_000));
    let broken = reply("broken", 1_000).to_string();
    append(&stage.transcript(), &[reply("m1", 1), long]);
    append_text(
        &stage.transcript(),
        &format!("{}\n", &broken[..broken.len() - 9]),
    );
    append(&stage.transcript(), &[reply("m2", 2)]);
    stage.stop();
    assert_eq!(outputs(&stage.relay.script()), 6);
    assert_eq!(skipped(&stage.relay.script(), "broken"), 1);
}

#[test]
fn usage_014_case_u08_a_large_file_is_read_in_several_runs_even_by_another_session() {
    let stage = Stage::new();
    let transcript = stage.transcript();
    let filler = json!({"type": "system", "text": "x".repeat(20_000)}).to_string();
    let mut text = String::new();
    for n in 0..2_000 {
        text.push_str(&format!("{filler}\n{}\n", reply(&format!("m{n}"), 1)));
    }
    append_text(&transcript, &text);
    let limit = Duration::from_secs(2) * SLACK;
    let end = stage.claude("SessionEnd", &json!({"transcript_path": transcript}));
    assert!(stage.fire("claude", &end) < limit);
    let other = transcript.with_file_name("5e551011-0000-4000-8000-000000000002.jsonl");
    append(&other, &[reply("other", 1)]);
    let event =
        json!({"transcript_path": other, "session_id": "5e551011-0000-4000-8000-000000000002"});
    let event = stage.claude("Stop", &event);
    for _ in 0..60 {
        if outputs(&stage.relay.script()) == 2_001 {
            break;
        }
        assert!(stage.fire("claude", &event) < limit);
        stage.send_spool();
    }
    let script = stage.relay.script();
    assert_eq!(outputs(&script), 2_001);
    for post in &script.posts {
        assert!(post.call.rows.len() <= 500);
        let others = post.call.rows.iter().any(|row| row.key == "other");
        assert_eq!(post.call.session == SESSION, !others);
    }
}

#[test]
fn usage_015_only_replies_after_joining_count() {
    let stage = Stage::new();
    stage.join("shop", "web", &format!("joined_at = {:?}\n", at(30)));
    append(
        &stage.transcript(),
        &[reply_at("old", 1_000, &at(29)), reply_at("new", 1, &at(30))],
    );
    stage.stop();
    let script = stage.relay.script();
    assert_eq!(outputs(&script), 1);
    assert_eq!(skipped(&script, "before_join"), 1);
}

#[test]
fn usage_016_case_u05_a_transcript_that_is_not_there_costs_one_line_of_log() {
    let stage = Stage::new();
    let empty = stage.path("empty.jsonl");
    fs::write(&empty, "").unwrap();
    let places = [
        json!({}),
        json!({"transcript_path": null}),
        json!({"transcript_path": "/nowhere/at/all.jsonl"}),
        json!({"transcript_path": stage.shop()}),
        json!({"transcript_path": empty}),
    ];
    for (number, place) in places.iter().enumerate() {
        stage.tell("claude", &stage.claude("SessionEnd", place));
        assert_eq!(stage.log().len(), number + 1, "{:?}", stage.log());
    }
    append(&stage.transcript(), &[reply("m", 9)]);
    for place in &places {
        stage.tell("claude", &stage.claude("SessionEnd", place));
    }
    assert_eq!(stage.log().len(), places.len(), "found by its id");
    assert_eq!(outputs(&stage.relay.script()), 9);
}

#[test]
fn usage_017_case_u10_two_hooks_at_once_count_every_reply_once() {
    let stage = Stage::new();
    for round in 0..50 {
        let turn = format!("t{round}");
        append(
            &stage.transcript(),
            &[prompt(&turn), reply(&format!("m{round}"), 1)],
        );
        let event = json!({"transcript_path": stage.transcript(), "prompt_id": turn});
        let event = stage.claude("Stop", &event).to_string();
        let both = [(); 2].map(|()| start(stage.command("claude"), event.as_bytes()));
        for child in both {
            silent(child);
        }
    }
    stage.stop();
    let script = stage.relay.script();
    assert_eq!(script.rows.len(), 50);
    assert_eq!(outputs(&script), 50);
    for row in script.rows.values() {
        assert_eq!(row.turn.as_deref(), Some(&*row.key.replace('m', "t")));
    }
}

#[test]
fn case_u11_a_turn_without_an_end_is_posted_with_the_next() {
    let stage = Stage::new();
    append(&stage.transcript(), &[prompt("turn-0"), reply("m0", 5)]);
    append(&stage.transcript(), &[prompt("turn-1"), reply("m1", 7)]);
    stage.stop();
    let script = stage.relay.script();
    assert_eq!(script.rows["m0"].turn.as_deref(), Some("turn-0"));
    assert_eq!(script.rows["m1"].turn.as_deref(), Some("turn-1"));
}

#[test]
fn case_u14_no_word_of_a_prompt_or_an_answer_is_kept() {
    let stage = Stage::new();
    let file = stage.path("home/.gemini/tmp/shop/chats/session-2026-11-30T19-00-5e551011.jsonl");
    append(&file, &[gemini_reply("g", 71)]);
    stage.relay.script().instead = Some(Instead::Status(503, None));
    for name in ["BeforeAgent", "AfterAgent", "SessionEnd"] {
        let further =
            json!({"transcript_path": file, "prompt": "xyzzy", "prompt_response": "An answer."});
        stage.fire("gemini", &stage.event("shop", name, "", &further));
    }
    assert!(!stage.spooled().is_empty());
    for entry in fs::read_dir(stage.state().unwrap()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(
            !text.contains("xyzzy") && !text.contains("An answer"),
            "{text}"
        );
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
