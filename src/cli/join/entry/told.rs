//! What an agent CLI was told, read back: `doctor` compares it with what the worktree knows.

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;

use super::Around;
use super::NAME;
use super::claude;
use super::codex;
use super::gemini;
use crate::cli::join::agent::Agent;
use crate::cli::join::edit::json::Json;

/// Where an agent's files are in this worktree, tracked ones left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The file with its MCP entry; `None`: it is told at its start.
    pub entry: Option<PathBuf>,
    /// The file with its hooks.
    pub hooks: PathBuf,
}

/// The entry an agent's file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The MCP endpoint.
    pub url: Option<String>,
    /// The token behind `Bearer`.
    pub token: Option<String>,
}

/// Where the agent's files are.
#[must_use]
pub fn files(agent: Agent, around: Around<'_>) -> Files {
    match agent {
        Agent::Claude => claude::files(around),
        Agent::Codex => codex::files(around),
        Agent::Gemini => gemini::files(around),
    }
}

/// The entry in an agent's file; nothing where there is none, or the file cannot be read.
#[must_use]
pub fn read(agent: Agent, file: &Path) -> Told {
    let entry = match agent {
        Agent::Codex => toml_value(file)["mcp_servers"][NAME].clone(),
        _ => json_value(file)["mcpServers"][NAME].clone(),
    };
    let (url, headers) = match agent {
        Agent::Claude => ("url", "headers"),
        Agent::Codex => ("url", "http_headers"),
        Agent::Gemini => ("httpUrl", "headers"),
    };
    let bearer = entry[headers]["Authorization"].as_str();
    let token = bearer.and_then(|text| text.strip_prefix("Bearer "));
    Told {
        url: entry[url].as_str().map(str::to_owned),
        token: token.map(str::to_owned),
    }
}

/// Every command of ours among an agent's hooks, with its event, in the order of the file.
#[must_use]
pub fn hooks(agent: Agent, file: &Path) -> Vec<(String, String)> {
    let end = format!(" hook {}", agent.name());
    let value = json_value(file);
    let events = value["hooks"].as_object().into_iter().flatten();
    let mut found = Vec::new();
    for (event, groups) in events {
        let groups = groups.as_array().into_iter().flatten();
        let hooks = groups.flat_map(|group| group["hooks"].as_array().into_iter().flatten());
        let commands = hooks.filter_map(|hook| hook["command"].as_str());
        let ours = commands.filter(|command| {
            let program = command.strip_suffix(&end).unwrap_or_default();
            program.trim_end_matches('\'').ends_with("/relayroom")
        });
        found.extend(ours.map(|command| (event.clone(), command.to_owned())));
    }
    found
}

/// A JSON file as the CLIs read it, with comments and final commas; null where it cannot be read.
#[must_use]
pub fn json_value(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    Json::parse(&text)
        .and_then(|json| json.value())
        .unwrap_or_default()
}

/// A TOML file; null where it cannot be read.
#[must_use]
pub fn toml_value(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    toml::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_back_in_every_clis_form() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let told = Told {
            url: Some("http://r/mcp/c?part=web".into()),
            token: Some("rrt_x".into()),
        };
        for (agent, text) in [
            (
                Agent::Claude,
                r#"{"mcpServers": {"relayroom": {"url": "http://r/mcp/c?part=web", "headers": {"Authorization": "Bearer rrt_x"}}}} // mine"#,
            ),
            (
                Agent::Gemini,
                r#"{"mcpServers": {"relayroom": {"httpUrl": "http://r/mcp/c?part=web", "headers": {"Authorization": "Bearer rrt_x"}}}}"#,
            ),
            (
                Agent::Codex,
                "[mcp_servers.relayroom]\nurl = \"http://r/mcp/c?part=web\"\nhttp_headers = { Authorization = \"Bearer rrt_x\" }\n",
            ),
        ] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(read(agent, &file), told, "{text}");
            std::fs::write(&file, "{").unwrap();
            assert_eq!(read(agent, &file), Told::default());
        }
    }

    #[test]
    fn our_hooks_are_told_from_the_persons() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let text = r#"{"hooks": {"Stop": [
            {"hooks": [{"command": "/x/beep"}]},
            {"hooks": [{"command": "/opt/relayroom hook claude"}]}],
            "SessionEnd": [{"hooks": [{"command": "'/my programs/relayroom' hook claude"}]}]}}"#;
        std::fs::write(&file, text).unwrap();
        let events: Vec<String> = hooks(Agent::Claude, &file)
            .into_iter()
            .map(|(event, _)| event)
            .collect();
        assert_eq!(events, ["Stop", "SessionEnd"]);
        assert_eq!(hooks(Agent::Gemini, &file), []);
    }
}
