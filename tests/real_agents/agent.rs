//! The CLIs: what to install, how each is told of its model and of the relay, and which keys it knows.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;

use serde_json::json;

/// A CLI at a pinned version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code 2.1.332: alternate screen, deferred tools, MCP 2026-07-28.
    Claude332,
    /// Claude Code 2.1.197, the newest that Node 20 gets.
    Claude197,
    Codex,
    Gemini,
}

/// Where a CLI runs, and what it talks to.
pub struct Place<'a> {
    pub home: &'a Path,
    /// The folder it works in.
    pub folder: &'a Path,
    /// Its endpoint at the relay and its token; `None` where `relayroom join` is to tell it of them.
    pub relay: Option<(&'a str, &'a str)>,
    pub model: SocketAddr,
    /// Whether the person has already said that they trust the folder.
    pub trusted: bool,
    pub programs: &'a Path,
}

/// How to start it.
pub struct Launch {
    pub argv: Vec<String>,
    pub env: Vec<(&'static str, String)>,
}

impl Agent {
    /// Its name in tests and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    pub fn version(self) -> &'static str {
        match self {
            Self::Claude332 => "2.1.332",
            Self::Claude197 => "2.1.197",
            Self::Codex => "0.171.0",
            Self::Gemini => "0.61.0",
        }
    }

    pub fn program(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The folder of this pin in the cache.
    pub fn pin(self) -> String {
        format!("{}-{}", self.program(), self.version())
    }

    /// npm packages. Claude Code is a program of its own and Codex starts one; Gemini runs in Node, not in any.
    pub fn packages(self) -> Vec<String> {
        let version = self.version();
        match self {
            Self::Claude332 | Self::Claude197 => {
                vec![format!("@anthropic-ai/claude-code@{version}")]
            }
            Self::Codex => vec![format!("@openai/codex@{version}")],
            Self::Gemini => vec![
                format!("@google/gemini-cli@{version}"),
                "node@22.23.3".to_owned(),
            ],
        }
    }

    /// How often it is woken when idle: with the other tests, twenty wakes of the newest Claude Code and of Codex.
    pub fn idle_wakes(self) -> usize {
        match self {
            Self::Claude332 | Self::Codex => 10,
            Self::Claude197 | Self::Gemini => 5,
        }
    }

    /// The glyph that stands before what a person writes.
    pub fn glyph(self) -> char {
        match self {
            Self::Claude332 | Self::Claude197 => '❯',
            Self::Codex => '›',
            Self::Gemini => '>',
        }
    }

    /// What its empty composer shows behind the glyph.
    pub fn placeholder(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "",
            Self::Codex => "Ask Codex to do anything",
            Self::Gemini => "Type your message or @path/to/file",
        }
    }

    /// A row of its question whether a command may run.
    pub fn permission_question(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "Do you want to proceed?",
            Self::Codex => "Would you like to run the following command?",
            Self::Gemini => "Allow execution of",
        }
    }

    /// A row of its question whether the folder is trusted.
    pub fn trust_question(self) -> &'static str {
        match self {
            Self::Claude332 | Self::Claude197 => "I trust this folder",
            Self::Codex => "rust this folder",
            Self::Gemini => "Do you trust the files in this folder?",
        }
    }

    /// The keys that say yes to it.
    pub fn trust_keys(self) -> &'static [&'static str] {
        match self {
            Self::Claude332 => &["Down", "Enter"],
            Self::Claude197 | Self::Codex | Self::Gemini => &["Enter"],
        }
    }

    /// Writes its settings and says how it is started.
    pub fn prepare(self, place: &Place<'_>) -> Launch {
        let mut launch = match self {
            Self::Claude332 | Self::Claude197 => claude(place),
            Self::Codex => codex(place),
            Self::Gemini => gemini(place),
        };
        let text = |path: &Path| path.display().to_string();
        let here = "127.0.0.1,localhost".to_owned();
        launch.env.extend([
            ("HOME", text(place.home)),
            (
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", text(place.programs)),
            ),
            ("TERM", "tmux-256color".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            // Whatever a CLI wants of the world outside ends at the model server, which refuses it.
            ("HTTPS_PROXY", format!("http://{}", place.model)),
            ("NO_PROXY", here.clone()),
            ("no_proxy", here),
        ]);
        launch
    }
}

fn write(path: PathBuf, text: &str) {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(path, text).unwrap();
}

fn claude(place: &Place<'_>) -> Launch {
    let mut account = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": {"approved": ["fake-local"], "rejected": []},
    });
    if let Some((url, token)) = place.relay {
        account["mcpServers"] = json!({"relay": {"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}}});
    }
    if place.trusted {
        let project =
            json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        account["projects"] = json!({place.folder.display().to_string(): project});
    }
    write(place.home.join(".claude.json"), &account.to_string());
    let settings = json!({"permissions": {"allow": ["mcp__relay", "mcp__relayroom"], "defaultMode": "default", "disableAutoMode": "disable"}});
    write(
        place.home.join(".claude/settings.json"),
        &settings.to_string(),
    );
    Launch {
        argv: vec!["claude".to_owned()],
        env: vec![
            ("ANTHROPIC_BASE_URL", format!("http://{}", place.model)),
            ("ANTHROPIC_API_KEY", "fake-local".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
        ],
    }
}

fn codex(place: &Place<'_>) -> Launch {
    let trust = if place.trusted {
        format!(
            "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            place.folder.display()
        )
    } else {
        String::new()
    };
    let mut env = vec![("MODEL_KEY", "fake-local".to_owned())];
    let mut relay = String::new();
    if let Some((url, token)) = place.relay {
        relay = format!(
            "[mcp_servers.relay]\nurl = \"{url}\"\nbearer_token_env_var = \"RELAY_TOKEN\"\n"
        );
        env.push(("RELAY_TOKEN", token.to_owned()));
    }
    let settings = format!(
        r#"model = "gpt-5"
model_provider = "here"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.here]
name = "here"
base_url = "http://{}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
{relay}{trust}"#,
        place.model
    );
    write(place.home.join(".codex/config.toml"), &settings);
    Launch {
        argv: vec!["codex".to_owned()],
        env,
    }
}

fn gemini(place: &Place<'_>) -> Launch {
    let mut settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": true}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
    });
    if let Some((url, token)) = place.relay {
        settings["mcpServers"] = json!({"relay": {"httpUrl": url, "headers": {"Authorization": format!("Bearer {token}")}, "trust": true}});
    }
    write(
        place.home.join(".gemini/settings.json"),
        &settings.to_string(),
    );
    if place.trusted {
        let trusted = json!({place.folder.display().to_string(): "TRUST_FOLDER"});
        write(
            place.home.join(".gemini/trustedFolders.json"),
            &trusted.to_string(),
        );
    }
    Launch {
        argv: ["gemini", "-m", "gemini-2.5-pro"]
            .map(str::to_owned)
            .to_vec(),
        env: vec![
            ("GEMINI_API_KEY", "fake-local".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", format!("http://{}", place.model)),
        ],
    }
}
