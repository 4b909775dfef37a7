//! Events, from the CLI to the relay (usage.md 1, 2, 6).

use std::fs;

use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::Origin;
use relayroom::api::hook::Reason;
use relayroom::api::line;
use serde_json::json;

use super::hook_stage::CODE;
use super::hook_stage::Stage;
use super::hook_stage::TOKEN;
use super::hook_stage::run;
use crate::support::scripted_hook_relay::Playbook;

#[test]
fn usage_027_a_wakes_line_is_reported_with_its_tag_and_its_pane() {
    let mut stage = Stage::new();
    stage.environment = vec![
        ("TMUX".to_owned(), "/tmp/tmux-1/default,12,0".to_owned()),
        ("TMUX_PANE".to_owned(), "%3".to_owned()),
    ];
    let prompt = format!("{} and also X", line::of("kqzbtw"));
    stage.tell(
        "claude",
        &stage.claude("UserPromptSubmit", &json!({ "prompt": prompt })),
    );
    let heard = stage.relay.last();
    assert_eq!((heard.code.as_str(), heard.part.as_str()), (CODE, "web"));
    assert_eq!(heard.kind, ActivityKind::TurnStart);
    assert_eq!(heard.turn.as_deref(), Some("turn-1"));
    assert_eq!(heard.tag.as_deref(), Some("kqzbtw"));
    assert_eq!(heard.origin, Some(Origin::Human));
    assert_eq!(heard.tmux.as_deref(), Some("/tmp/tmux-1/default"));
    assert_eq!(heard.pane.as_deref(), Some("%3"));
    assert!(heard.sent_at.is_some());
    let bearer = stage.relay.script().activities[0].bearer.clone();
    assert_eq!(bearer.as_deref(), Some(TOKEN));

    let event = stage.event(
        "shop",
        "UserPromptSubmit",
        "turn_id",
        &json!({"prompt": "x"}),
    );
    stage.tell("codex", &event);
    let heard = stage.relay.last();
    assert_eq!((heard.tmux, heard.pane, heard.tag), (None, None, None));
}

#[test]
fn usage_017_gemini_turns_get_one_id_from_start_to_end() {
    let stage = Stage::new();
    let say = |name, further| stage.event("shop", name, "", &further);
    for event in [
        say("BeforeAgent", json!({"prompt": "go"})),
        say("BeforeAgent", json!({"prompt": "go"})),
        say(
            "Notification",
            json!({"notification_type": "ToolPermission"}),
        ),
        say("AfterAgent", json!({"prompt": "go"})),
        say("AfterAgent", json!({"prompt": "go"})),
        say("BeforeAgent", json!({"prompt": "go"})),
    ] {
        stage.tell("gemini", &event);
    }
    let script = stage.relay.script();
    let turns: Vec<_> = script
        .activities
        .iter()
        .map(|heard| heard.call.turn.clone().unwrap())
        .collect();
    assert!(turns[..5].iter().all(|turn| *turn == turns[0]), "{turns:?}");
    assert_ne!(turns[5], turns[0]);
}

#[test]
fn usage_032_codex_without_hooks_tells_a_turn_at_its_end() {
    let stage = Stage::new();
    let event = json!({
        "type": "agent-turn-complete", "thread-id": "t", "turn-id": "u", "cwd": stage.shop(),
        "input-messages": [line::of("kqzbtw")], "last-assistant-message": "done",
    });
    let mut command = stage.command("codex");
    command.arg(event.to_string());
    run(command, b"");
    let heard = stage.relay.last();
    assert_eq!(heard.kind, ActivityKind::TurnEnd);
    assert_eq!(heard.reason, Some(Reason::Stop));
    assert_eq!(heard.tag.as_deref(), Some("kqzbtw"));
}

#[test]
fn a_sessions_start_brings_the_playbook_up_to_date() {
    let stage = Stage::new();
    let file = stage.shop().join("RELAYROOM.md");
    let start = stage.claude("SessionStart", &json!({"source": "startup"}));
    let serve = |text: &str, etag: &str| {
        stage.relay.script().playbook = Some(Playbook {
            text: text.to_owned(),
            hash: "aa".to_owned(),
            etag: etag.to_owned(),
        });
    };
    serve("# One\n", "e1");
    stage.tell("claude", &start);
    assert!(!file.exists(), "only join makes it");
    assert_eq!(stage.relay.script().playbook_calls, 0);

    let served = relayroom::hook::playbook::Served {
        text: "# Old\n".to_owned(),
        hash: "aa".to_owned(),
        etag: "e0".to_owned(),
    };
    relayroom::hook::playbook::write(&stage.shop(), &served).unwrap();
    stage.tell("claude", &start);
    assert!(fs::read_to_string(&file).unwrap().ends_with("# One\n"));
    fs::write(&file, "mine").unwrap();
    serve("# Two\n", "e2");
    stage.tell("claude", &start);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}
