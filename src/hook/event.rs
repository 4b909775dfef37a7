//! What happened, from what each CLI says of it (usage.md 2). Pure.

use std::path::PathBuf;

use serde_json::Map;
use serde_json::Value;

use crate::api::hook::ActivityKind;
use crate::api::hook::Origin;
use crate::api::hook::Reason;
use crate::api::line;
use crate::store::Time;

/// The agent CLIs whose hooks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Provider {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Provider {
    /// `provider` on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }
}

/// One event of an agent CLI that matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its kind on the wire.
    pub kind: ActivityKind,
    /// The CLI's session id.
    pub session: String,
    /// The turn's id, where the CLI has one.
    pub turn: Option<String>,
    /// Why it is blocked, how the turn ended, how the session began.
    pub reason: Option<Reason>,
    /// When the provider's limit ends, RFC 3339.
    pub reset_at: Option<String>,
    /// When it happened, where the CLI says it.
    pub at: Option<Time>,
    /// What was submitted.
    pub prompt: Option<String>,
    /// What the agent said last; not Gemini's, whose hook repeats words of it.
    pub answer: Option<String>,
    /// The session's transcript, as the CLI names it.
    pub transcript: Option<PathBuf>,
    /// The folder the agent works in.
    pub cwd: Option<PathBuf>,
}

impl Event {
    /// The tag of the wake whose line the prompt begins with.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        line::tag_of(self.prompt.as_deref()?)
    }

    /// Who prompted, where a prompt is known.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        let prompt = self.prompt.as_deref()?.trim();
        let itself = prompt.starts_with(NOTIFICATION)
            && prompt.ends_with("</task-notification>")
            && prompt.matches(NOTIFICATION).count() == 1;
        Some(if itself {
            Origin::Itself
        } else {
            Origin::Human
        })
    }
}

/// How Claude tells itself that a background agent ended.
const NOTIFICATION: &str = "<task-notification>";

/// What the fields a CLI handed over mean; `None` for an event that is none of ours: of another kind, of a child that begins or ends
/// nothing, or without a session.
#[must_use]
pub fn read(provider: Provider, fields: &Map<String, Value>) -> Option<Event> {
    let text = |name: &str| match fields.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let (kind, reason) = match provider {
        Provider::Claude => claude(fields),
        Provider::Codex => codex(fields),
        Provider::Gemini => gemini(fields),
    }?;
    if text("agent_id").is_some() && kind != ActivityKind::Blocked {
        return None;
    }
    let notified = provider == Provider::Codex && is_notify(fields);
    let (session, turn, answer) = if notified {
        ("thread-id", "turn-id", "last-assistant-message")
    } else {
        ("session_id", turn_name(provider), "last_assistant_message")
    };
    Some(Event {
        kind,
        session: text(session)?,
        turn: text(turn),
        reason,
        reset_at: (reason == Some(Reason::Limited))
            .then(|| reset_at(fields))
            .flatten(),
        at: text("timestamp").and_then(|at| Time::parse(&at)),
        prompt: if notified {
            first_message(fields)
        } else {
            text("prompt")
        },
        answer: text(answer),
        transcript: text("transcript_path").map(PathBuf::from),
        cwd: text("cwd").map(PathBuf::from),
    })
}

fn turn_name(provider: Provider) -> &'static str {
    match provider {
        Provider::Claude => "prompt_id",
        Provider::Codex | Provider::Gemini => "turn_id",
    }
}

type Meaning = Option<(ActivityKind, Option<Reason>)>;

fn named<'f>(fields: &'f Map<String, Value>, name: &str) -> &'f str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn claude(fields: &Map<String, Value>) -> Meaning {
    Some(match named(fields, "hook_event_name") {
        "SessionStart" => (ActivityKind::SessionStart, compaction(fields)),
        "UserPromptSubmit" => (ActivityKind::TurnStart, None),
        "Stop" => (ActivityKind::TurnEnd, Some(Reason::Stop)),
        "StopFailure" => (ActivityKind::TurnEnd, Some(failure(fields))),
        "PermissionRequest" => (ActivityKind::Blocked, Some(Reason::Permission)),
        "Notification" => match named(fields, "notification_type") {
            "permission_prompt" => (ActivityKind::Blocked, Some(Reason::Permission)),
            "elicitation_dialog" => (ActivityKind::Blocked, Some(Reason::Question)),
            _ => return None,
        },
        "SessionEnd" => (ActivityKind::SessionEnd, None),
        _ => return None,
    })
}

fn codex(fields: &Map<String, Value>) -> Meaning {
    if is_notify(fields) {
        return Some((ActivityKind::TurnEnd, Some(Reason::Stop)));
    }
    Some(match named(fields, "hook_event_name") {
        "SessionStart" => (ActivityKind::SessionStart, compaction(fields)),
        "UserPromptSubmit" => (ActivityKind::TurnStart, None),
        "Stop" => (ActivityKind::TurnEnd, Some(Reason::Stop)),
        "Interrupt" => (ActivityKind::TurnEnd, Some(Reason::Interrupted)),
        "PermissionRequest" => (ActivityKind::Blocked, Some(Reason::Permission)),
        "SessionEnd" => (ActivityKind::SessionEnd, None),
        _ => return None,
    })
}

fn gemini(fields: &Map<String, Value>) -> Meaning {
    Some(match named(fields, "hook_event_name") {
        "SessionStart" => (ActivityKind::SessionStart, None),
        "BeforeAgent" => (ActivityKind::TurnStart, None),
        "AfterAgent" => (ActivityKind::TurnEnd, Some(Reason::Stop)),
        "Notification" => {
            let permission = named(fields, "notification_type") == "ToolPermission";
            let reason = if permission {
                Reason::Permission
            } else {
                Reason::Question
            };
            (ActivityKind::Blocked, Some(reason))
        }
        "SessionEnd" => (ActivityKind::SessionEnd, None),
        _ => return None,
    })
}

fn compaction(fields: &Map<String, Value>) -> Option<Reason> {
    (named(fields, "source") == "compact").then_some(Reason::Compaction)
}

/// Codex without hooks runs `notify` when a turn has ended.
fn is_notify(fields: &Map<String, Value>) -> bool {
    named(fields, "type") == "agent-turn-complete"
}

fn first_message(fields: &Map<String, Value>) -> Option<String> {
    let first = fields.get("input-messages")?.as_array()?.first()?;
    first.as_str().map(str::to_owned)
}

/// The fields in which Claude says why a turn failed.
const FAILURE_FIELDS: [&str; 3] = ["error", "error_details", "last_assistant_message"];

fn failure(fields: &Map<String, Value>) -> Reason {
    let limited = named(fields, "error") == "rate_limit"
        || FAILURE_FIELDS
            .iter()
            .any(|name| named(fields, name).contains("usage limit reached"));
    if limited {
        Reason::Limited
    } else {
        Reason::Error
    }
}

/// A time behind `|` in the words of a limit, in seconds since 1970 or RFC 3339: the form Claude writes it in where it does.
fn reset_at(fields: &Map<String, Value>) -> Option<String> {
    FAILURE_FIELDS.iter().find_map(|name| {
        let word = named(fields, name).split_once('|')?.1;
        let word = word.split_whitespace().next()?;
        let time = match word.parse::<i64>() {
            Ok(seconds) => Some(Time(seconds.checked_mul(1000)?)),
            Err(_) => Time::parse(word),
        };
        time.map(Time::rfc3339)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::input;

    fn fixture(provider: Provider, name: &str) -> Option<Event> {
        let path = format!(
            "{}/tests/fixtures/transcripts/{}/hooks/{name}.json",
            env!("CARGO_MANIFEST_DIR"),
            provider.word()
        );
        read(provider, &input::fields(&std::fs::read(path).unwrap()))
    }

    fn of(provider: Provider, json: &str) -> Option<Event> {
        read(provider, &input::fields(json.as_bytes()))
    }

    #[test]
    fn every_recorded_event_has_its_meaning() {
        use ActivityKind::Blocked;
        use ActivityKind::SessionEnd;
        use ActivityKind::SessionStart;
        use ActivityKind::TurnEnd;
        use ActivityKind::TurnStart;
        use Provider::Claude;
        use Provider::Codex;
        use Provider::Gemini;
        let stop = Some(Reason::Stop);
        let permission = Some(Reason::Permission);
        for (provider, name, expected) in [
            (Claude, "SessionStart", Some((SessionStart, None))),
            (Claude, "SessionStart-resume", Some((SessionStart, None))),
            (Claude, "SessionStart-2.1.197", Some((SessionStart, None))),
            (Claude, "UserPromptSubmit", Some((TurnStart, None))),
            (Claude, "UserPromptSubmit-2.1.197", Some((TurnStart, None))),
            (Claude, "Stop", Some((TurnEnd, stop))),
            (Claude, "Stop-2.1.197", Some((TurnEnd, stop))),
            (Claude, "PermissionRequest", Some((Blocked, permission))),
            (Claude, "Notification", Some((Blocked, permission))),
            (Claude, "Notification-2.1.197", Some((Blocked, permission))),
            (Claude, "SessionEnd", Some((SessionEnd, None))),
            (Claude, "SubagentStart", None),
            (Claude, "SubagentStop", None),
            (Claude, "PreToolUse", None),
            (Claude, "PostToolUse", None),
            (Codex, "SessionStart", Some((SessionStart, None))),
            (Codex, "SessionStart-resume", Some((SessionStart, None))),
            (Codex, "UserPromptSubmit", Some((TurnStart, None))),
            (Codex, "Stop", Some((TurnEnd, stop))),
            (
                Codex,
                "Interrupt",
                Some((TurnEnd, Some(Reason::Interrupted))),
            ),
            (Codex, "PermissionRequest", Some((Blocked, permission))),
            (Codex, "SessionEnd", Some((SessionEnd, None))),
            (Codex, "PreToolUse", None),
            (Gemini, "SessionStart", Some((SessionStart, None))),
            (Gemini, "BeforeAgent", Some((TurnStart, None))),
            (Gemini, "AfterAgent", Some((TurnEnd, stop))),
            (Gemini, "Notification", Some((Blocked, permission))),
            (Gemini, "SessionEnd", Some((SessionEnd, None))),
            (Gemini, "BeforeTool", None),
            (Gemini, "AfterTool", None),
        ] {
            let event = fixture(provider, name);
            assert_eq!(
                event.as_ref().map(|event| (event.kind, event.reason)),
                expected,
                "{} {name}",
                provider.word()
            );
            if let Some(event) = event {
                assert!(event.transcript.is_some() && event.cwd.is_some(), "{name}");
                let in_turn = matches!(event.kind, TurnStart | TurnEnd | Blocked);
                assert_eq!(
                    event.turn.is_some(),
                    provider != Gemini
                        && (in_turn || provider == Claude && event.kind == SessionEnd),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn usage_029_a_notification_of_a_background_agent_is_the_clis_own_prompt() {
        let event = fixture(Provider::Claude, "UserPromptSubmit-task-notification").unwrap();
        assert_eq!(event.origin(), Some(Origin::Itself));
        let typed = fixture(Provider::Claude, "UserPromptSubmit").unwrap();
        assert_eq!(typed.origin(), Some(Origin::Human));
        assert_eq!(typed.tag(), None);
    }

    #[test]
    fn a_prompt_with_the_line_of_a_wake_has_its_tag() {
        let json = r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"relayroom: you have mail, call the inbox tool (tag kqzbtw) and X"}"#;
        assert_eq!(of(Provider::Claude, json).unwrap().tag(), Some("kqzbtw"));
    }

    #[test]
    fn usage_032_codex_without_hooks_says_how_a_turn_ended() {
        let json = r#"{"type":"agent-turn-complete","thread-id":"t","turn-id":"u","cwd":"/x","input-messages":["do it","more"],"last-assistant-message":"done"}"#;
        let event = of(Provider::Codex, json).unwrap();
        assert_eq!(
            (event.session.as_str(), event.turn.as_deref()),
            ("t", Some("u"))
        );
        assert_eq!(event.kind, ActivityKind::TurnEnd);
        assert_eq!(event.prompt.as_deref(), Some("do it"));
        assert_eq!(event.answer.as_deref(), Some("done"));
    }

    #[test]
    fn a_child_begins_and_ends_nothing_but_may_block() {
        let child = |name: &str| {
            of(
                Provider::Claude,
                &format!(r#"{{"session_id":"s","agent_id":"a","hook_event_name":"{name}"}}"#),
            )
        };
        assert_eq!(child("Stop"), None);
        assert_eq!(child("UserPromptSubmit"), None);
        assert!(child("PermissionRequest").is_some());
    }

    #[test]
    fn a_failed_turn_says_whether_a_limit_ended_it_and_when_it_is_over() {
        let failed = |rest: &str| {
            let json = format!(r#"{{"session_id":"s","hook_event_name":"StopFailure",{rest}}}"#);
            let event = of(Provider::Claude, &json).unwrap();
            (event.reason.unwrap(), event.reset_at)
        };
        assert_eq!(failed(r#""error":"server_error""#), (Reason::Error, None));
        assert_eq!(failed(r#""error":"rate_limit""#), (Reason::Limited, None));
        assert_eq!(
            failed(
                r#""error":"unknown","error_details":"Claude AI usage limit reached|1796064600""#
            ),
            (Reason::Limited, Some("2026-11-30T18:50:00.000Z".to_owned()))
        );
    }

    #[test]
    fn nothing_comes_of_a_broken_event() {
        for bad in [
            "",
            "[]",
            "null",
            r#"{"hook_event_name":"Stop"}"#,
            r#"{"hook_event_name":"Stop","session_id":7}"#,
            r#"{"session_id":"s"}"#,
            r#"{"session_id":"s","hook_event_name":"Notification","notification_type":"idle_prompt"}"#,
        ] {
            assert_eq!(of(Provider::Claude, bad), None, "{bad}");
        }
    }
}
