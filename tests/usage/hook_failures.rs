//! Whatever fails, the agent notices nothing (usage.md 1), and what can be sent later is (usage.md 5).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::Reason;
use serde_json::Value;
use serde_json::json;

use super::hook_stage::CODE;
use super::hook_stage::Stage;
use super::hook_stage::TOKEN;
use super::hook_stage::run;
use super::hook_stage::silent;
use super::hook_stage::start;
use super::hook_stage::write_private;
use super::hook_transcript::append;
use super::hook_transcript::reply;
use crate::support::scripted_relay::Instead;
use crate::support::wait::SLACK;

/// When a run is over, whatever holds it up.
const OVER: Duration = Duration::from_secs(2);

impl Stage {
    /// A turn's end with a transcript of that many replies.
    pub fn ended(&self, replies: &[&str]) -> Value {
        let transcript = self.path("home/session.jsonl");
        let lines: Vec<Value> = replies.iter().map(|id| reply(id, 10)).collect();
        append(&transcript, &lines);
        self.claude("Stop", &json!({"transcript_path": transcript}))
    }

    /// The keys of the rows the relay has.
    pub fn keys(&self) -> Vec<String> {
        self.relay.script().rows.keys().cloned().collect()
    }
}

#[test]
fn usage_018_a_relay_that_does_not_answer_delays_nobody() {
    for instead in [
        None,
        Some(Instead::Silence),
        Some(Instead::Status(500, None)),
        Some(Instead::Status(401, None)),
    ] {
        let mut stage = Stage::new();
        match instead.clone() {
            None => stage.relay.go_down(),
            instead => stage.relay.script().instead = instead,
        }
        let event = stage.ended(&["m1"]);
        assert!(stage.fire("claude", &event) < OVER * SLACK, "{instead:?}");
        let kept = stage.spooled();
        assert_eq!(kept.len(), 2, "{instead:?}: {kept:?}");
        assert_eq!(kept[0]["report"]["activity"]["kind"], "turn_end");
        assert_eq!(kept[1]["report"]["usage"]["rows"][0]["key"], "m1");
        let text = serde_json::to_string(&kept).unwrap();
        assert!(!text.contains(TOKEN), "no token is kept");
    }
}

#[test]
fn case_u06_the_watchdog_ends_what_hangs() {
    let stage = Stage::new();
    let pipe = stage.path("home/.config/relayroom/config.toml");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let event = stage.ended(&["m1"]);
    assert!(stage.fire("claude", &event) < OVER * SLACK);
}

#[test]
fn usage_023_odd_input_is_met_with_silence_and_counted_once() {
    let stage = Stage::new();
    for input in [
        "",
        "{",
        "null",
        "[]",
        "\u{0}",
        "{\"hook_event_name\":\"Stop\"}",
    ] {
        run(stage.command("claude"), input.as_bytes());
    }
    for arguments in [
        &["claude", "--nonsense"][..],
        &["emacs"],
        &[],
        &["claude", "a", "b"],
    ] {
        let mut command = stage.command("claude");
        command = {
            let mut bare = Command::new(command.get_program());
            bare.arg("hook").args(arguments);
            bare.env_clear()
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            bare
        };
        run(command, b"{}");
    }
    let mut closed = stage.command("claude");
    closed.stdin(Stdio::null());
    silent(closed.spawn().unwrap());
    assert!(stage.relay.kinds().is_empty());

    for active in [false, true] {
        let mut event = stage.ended(&["m1"]);
        event["stop_hook_active"] = json!(active);
        event["last_assistant_message"] = json!("x".repeat(5 << 20));
        stage.tell("claude", &event);
    }
    let mut homeless = stage.command("claude");
    homeless.env_remove("HOME");
    run(homeless, stage.ended(&[]).to_string().as_bytes());
    assert_eq!(stage.keys(), ["m1"]);
    assert_eq!(stage.relay.kinds().len(), 3);
}

#[test]
fn case_u07_no_answer_of_ours_steers_an_agent() {
    let stage = Stage::new();
    for (name, reason) in [("Stop", Reason::Stop), ("StopFailure", Reason::Error)] {
        stage.tell(
            "claude",
            &stage.claude(name, &json!({"stop_hook_active": true})),
        );
        assert_eq!(stage.relay.last().reason, Some(reason));
    }
}

#[test]
fn usage_024_no_secret_stands_in_an_argument() {
    let stage = Stage::new();
    stage.relay.script().instead = Some(Instead::Silence);
    let prompt = "a prompt nobody else is to read";
    let event = stage
        .claude("UserPromptSubmit", &json!({"prompt": prompt}))
        .to_string();
    for _ in 0..10 {
        let child = start(stage.command("claude"), event.as_bytes());
        let line = fs::read(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let words: Vec<&str> = line.trim_end_matches('\0').split('\0').collect();
        if words != [""] {
            assert_eq!(words[1..], ["hook", "claude"]);
        }
        silent(child);
    }
}

#[test]
fn usage_024_flags_are_enough_without_a_file() {
    let stage = Stage::new();
    fs::remove_dir_all(stage.shop().join(".relayroom")).unwrap();
    let mut command = stage.command("claude");
    command.args([
        "--code",
        CODE,
        "--part",
        "web",
        "--server",
        &stage.relay.url(),
    ]);
    run(command, stage.ended(&["m1"]).to_string().as_bytes());
    stage.send_spool();
    let heard = stage.relay.last();
    assert_eq!((heard.code.as_str(), heard.part.as_str()), (CODE, "web"));
    assert_eq!(stage.keys(), ["m1"]);
}

#[test]
fn usage_025_a_file_or_a_relay_that_is_not_ours_hears_nothing() {
    let stage = Stage::new();
    let config = stage.shop().join(".relayroom/config.toml");
    fs::set_permissions(&config, fs::Permissions::from_mode(0o660)).unwrap();
    stage.fire("claude", &stage.ended(&["m1"]));
    assert!(stage.relay.kinds().is_empty());
    assert_eq!(stage.log().len(), 1);
    assert!(stage.log()[0].contains("others can write it"));

    // The machine's own name is not loopback by its spelling, though its address may be.
    let evil = stage.relay.url().replace("127.0.0.1", "evil.example");
    let text = fs::read_to_string(&config).unwrap();
    write_private(&config, &text.replace(&stage.relay.url(), &evil));
    stage.fire("claude", &stage.ended(&["m2"]));
    assert!(stage.log()[1].contains("not listed under relays"));
    assert!(stage.spooled().is_empty());
    let person = stage.path("home/.config/relayroom/config.toml");
    fs::write(person, format!("relays = [{evil:?}]\n")).unwrap();
    stage.fire("claude", &stage.ended(&["m3"]));
    assert!(!stage.spooled().is_empty(), "tried, and kept for later");
}

#[test]
fn usage_026_outside_a_joined_folder_no_file_is_made() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("elsewhere/a/b")).unwrap();
    fs::create_dir_all(stage.shop().join("a/b/c/d")).unwrap();
    let before = tree(stage.folder.path().to_owned());
    let event = stage.event("elsewhere/a/b", "Stop", "prompt_id", &json!({}));
    stage.fire("claude", &event);
    assert_eq!(tree(stage.folder.path().to_owned()), before);
    stage.tell(
        "claude",
        &stage.event("shop/a/b/c/d", "Stop", "prompt_id", &json!({})),
    );
    assert_eq!(stage.relay.kinds(), [ActivityKind::TurnEnd]);
}

fn tree(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = vec![folder.clone()];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn usage_045_a_worktree_does_not_switch_excerpts_on() {
    let stage = Stage::new();
    stage.join("shop", "web", "[hook]\nexcerpts = true\n");
    stage.tell(
        "claude",
        &stage.claude("UserPromptSubmit", &json!({"prompt": "a word"})),
    );
    stage.tell(
        "claude",
        &stage.claude("Stop", &json!({"last_assistant_message": "said"})),
    );
    let heard = stage.relay.last();
    assert_eq!((heard.title, heard.summary), (None, None));
}
