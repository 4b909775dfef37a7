//! What could not be sent is sent later, and what cannot be kept is told (usage.md 5).

use std::fs;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use relayroom::api::hook::ActivityKind;
use serde_json::Value;
use serde_json::json;

use super::hook_stage::Stage;
use super::hook_stage::TOKEN;
use super::hook_stage::write_private;
use crate::support::scripted_relay::Instead;
use crate::support::wait::SLACK;
use crate::support::wait::until;

#[test]
fn usage_019_what_was_kept_goes_with_the_next_run_with_its_own_times() {
    let mut stage = Stage::new();
    stage.relay.go_down();
    stage.fire(
        "claude",
        &stage.claude("UserPromptSubmit", &json!({"prompt": "x"})),
    );
    stage.fire("claude", &stage.ended(&["m1"]));
    let at = |line: &Value| {
        line["report"]["activity"]["at"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let kept = stage.spooled();
    stage.relay.come_back();
    stage.tell("claude", &stage.claude("SessionEnd", &json!({})));
    assert!(stage.spooled().is_empty());
    {
        let script = stage.relay.script();
        let heard: Vec<_> = script.activities.iter().map(|heard| &heard.call).collect();
        assert_eq!(heard.len(), 3);
        for (kind, line) in [
            (ActivityKind::TurnStart, &kept[0]),
            (ActivityKind::TurnEnd, &kept[1]),
        ] {
            let told = heard.iter().find(|call| call.kind == kind).unwrap();
            assert_eq!(told.at, at(line));
            assert!(*told.sent_at.as_ref().unwrap() > told.at);
        }
    }
    assert_eq!(stage.keys(), ["m1"]);
    let file = stage.state().unwrap().join("spool.jsonl");
    let lines: String = kept.iter().map(|line| format!("{line}\n")).collect();
    fs::write(file, lines).unwrap();
    stage.send_spool();
    assert_eq!(stage.keys(), ["m1"]);
    assert_eq!(stage.relay.script().same, 1, "sent twice changes nothing");
}

#[test]
fn usage_019_the_pager_sends_what_no_hook_is_left_to_send() {
    let mut stage = Stage::new();
    stage.relay.go_down();
    stage.fire("claude", &stage.ended(&["m1"]));
    assert_eq!(stage.spooled().len(), 2);
    stage.relay.come_back();
    let mut pager = Command::new(env!("CARGO_BIN_EXE_relayroom-pager"))
        .args(["--server", &stage.relay.url(), "--socket"])
        .arg(stage.path("tmux.socket"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", stage.path("home"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(Duration::from_secs(30) * SLACK, "the spool is sent", || {
        stage.spooled().is_empty()
    });
    pager.kill().unwrap();
    pager.wait().unwrap();
    assert_eq!(stage.keys(), ["m1"]);
    let bearer = stage.relay.script().activities[0].bearer.clone();
    assert_eq!(bearer.as_deref(), Some(TOKEN));
}

#[test]
fn usage_020_a_full_spool_keeps_rows_in_their_transcript_and_counts_what_it_drops() {
    let stage = Stage::new();
    stage.relay.script().instead = Some(Instead::Status(503, None));
    stage.fire(
        "claude",
        &stage.claude("UserPromptSubmit", &json!({"prompt": "x"})),
    );
    let spool = stage.state().unwrap().join("spool.jsonl");
    let line = fs::read_to_string(&spool).unwrap();
    let most = 2 << 20;
    fs::write(&spool, line.repeat(most / line.len())).unwrap();
    for _ in 0..3 {
        stage.fire("claude", &stage.claude("PermissionRequest", &json!({})));
    }
    stage.fire("claude", &stage.ended(&["m1"]));
    assert!(fs::metadata(&spool).unwrap().len() <= most as u64);
    fs::write(&spool, "").unwrap();
    stage.relay.script().instead = None;
    stage.tell("claude", &stage.ended(&["m2"]));
    assert_eq!(stage.keys(), ["m1", "m2"]);
    let dropped: Vec<_> = {
        let script = stage.relay.script();
        script
            .activities
            .iter()
            .map(|heard| heard.call.dropped)
            .collect()
    };
    // Three dialogs, and the end of the turn, for which no dialog was there to make room.
    assert_eq!(dropped, [4]);
}

#[test]
fn usage_021_a_wrong_token_keeps_reports_and_a_deleted_part_ends_them() {
    let stage = Stage::new();
    stage.relay.script().instead = Some(Instead::Status(401, None));
    for _ in 0..3 {
        stage.fire("claude", &stage.claude("PermissionRequest", &json!({})));
    }
    stage.fire("claude", &stage.ended(&["m1"]));
    assert_eq!(stage.spooled().len(), 5);
    stage.relay.script().instead = None;
    let config = stage.shop().join(".relayroom/config.toml");
    let text = fs::read_to_string(&config)
        .unwrap()
        .replace("rrp_a", "rrp_b");
    write_private(&config, &text);
    stage.fire("claude", &stage.claude("SessionEnd", &json!({})));
    stage.send_spool();
    assert!(stage.spooled().is_empty());
    assert_eq!(stage.keys(), ["m1"]);
    let bearer = stage.relay.script().activities[0].bearer.clone();
    assert!(bearer.unwrap().starts_with("rrp_b"));

    stage.relay.script().instead = Some(Instead::Status(404, None));
    stage.tell("claude", &stage.ended(&["m2"]));
    assert!(stage.spooled().is_empty());
    assert!(stage.log().iter().any(|line| line.contains("HTTP 404")));
}

#[test]
fn usage_022_a_run_cut_off_before_it_noted_its_offsets_repeats_rows() {
    let stage = Stage::new();
    stage.tell("claude", &stage.ended(&["m1"]));
    let files = stage.state().unwrap().join("files.json");
    let before = fs::read(&files).unwrap();
    stage.tell("claude", &stage.ended(&["m2", "m3"]));
    fs::write(&files, before).unwrap();
    stage.tell("claude", &stage.ended(&[]));
    assert_eq!(stage.keys(), ["m1", "m2", "m3"]);
    assert_eq!(stage.relay.script().same, 2);
    fs::write(&files, "{\"half").unwrap();
    stage.tell("claude", &stage.ended(&[]));
    assert_eq!(stage.relay.script().same, 5, "unreadable: from the start");
}
