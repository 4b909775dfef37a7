//! Replies, from the transcript to the relay (usage.md 3, 4).

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use super::hook_stage::SESSION;
use super::hook_stage::Stage;
use super::hook_stage::silent;
use super::hook_stage::start;
use super::hook_transcript::append;
use super::hook_transcript::append_text;
use super::hook_transcript::at;
use super::hook_transcript::gemini_reply;
use super::hook_transcript::prompt;
use super::hook_transcript::recorded;
use super::hook_transcript::reply;
use super::hook_transcript::reply_at;
use crate::support::scripted_hook_relay::Script;
use crate::support::scripted_relay::Instead;
use crate::support::wait::SLACK;

impl Stage {
    /// Claude's transcript of the stage's session.
    pub fn transcript(&self) -> PathBuf {
        self.path(&format!("home/.claude/projects/-shop/{SESSION}.jsonl"))
    }

    /// Claude's turn ends.
    pub fn stop(&self) {
        let event = self.claude("Stop", &json!({"transcript_path": self.transcript()}));
        self.tell("claude", &event);
    }
}

/// All tokens written, of the rows the relay has.
pub fn outputs(script: &Script) -> u64 {
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
