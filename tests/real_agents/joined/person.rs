//! What a person does with each CLI: answers its questions, leaves it, gives it hooks of their own.

use std::fs;
use std::path::Path;

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use crate::agent::Agent;

/// A row of a question, and the keys that say yes to it.
pub type Question = (&'static str, &'static [&'static str]);

impl Agent {
    /// What it asks when it is started where `join` was.
    pub fn first_questions(self) -> Vec<Question> {
        let mut all = vec![(self.trust_question(), self.trust_keys())];
        if self == Self::Codex {
            let trust_all: &[&str] = &["Down", "Enter"];
            all.push(("Hooks need review", trust_all));
        }
        all
    }

    /// What its screen shows only when its start is over: some draw an empty composer before they ask their questions, too.
    pub fn started(self) -> Option<&'static str> {
        match self {
            Self::Codex => Some("default · /"),
            Self::Gemini => Some("1 MCP server"),
            Self::Claude332 | Self::Claude197 => None,
        }
    }

    /// What it asks before it calls a tool of the relay; Claude Code has been told in its settings, and Codex does not ask.
    pub fn tool_question(self) -> Option<Question> {
        match self {
            Self::Gemini => Some(("Allow all server tools for this session", &["3"])),
            Self::Claude332 | Self::Claude197 | Self::Codex => None,
        }
    }

    /// Whether it writes down a reply that was broken off, with the usage of its start.
    pub fn writes_broken_off(self) -> bool {
        self == Self::Claude332
    }

    /// The command that leaves it.
    pub fn leave(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "/exit",
            Self::Codex | Self::Gemini => "/quit",
        }
    }

    /// Registers a command for every event in the person's own settings.
    pub fn register(self, home: &Path, command: &str) {
        let (file, events, timeout): (_, &[&str], _) = match self {
            Self::Claude332 | Self::Claude197 => (
                ".claude/settings.json",
                &[
                    "SessionStart",
                    "UserPromptSubmit",
                    "Stop",
                    "PermissionRequest",
                    "SessionEnd",
                ],
                5,
            ),
            Self::Codex => (
                ".codex/hooks.json",
                &[
                    "SessionStart",
                    "UserPromptSubmit",
                    "Stop",
                    "Interrupt",
                    "SessionEnd",
                ],
                3,
            ),
            Self::Gemini => (
                ".gemini/settings.json",
                &[
                    "SessionStart",
                    "BeforeAgent",
                    "AfterAgent",
                    "Notification",
                    "SessionEnd",
                ],
                5_000,
            ),
        };
        let path = home.join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        let hook = json!({"type": "command", "command": command, "timeout": timeout});
        let groups = events
            .iter()
            .map(|event| ((*event).to_owned(), json!([{"hooks": [hook]}])));
        settings["hooks"] = Value::Object(groups.collect::<Map<_, _>>());
        fs::write(path, settings.to_string()).unwrap();
    }
}
