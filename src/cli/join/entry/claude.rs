//! Claude Code: `.mcp.json`, and `.claude/settings.local.json` for the hook and the consent to the entry.

use serde_json::Value;
use serde_json::json;

use super::Around;
use super::Entry;
use super::NAME;
use super::Plan;
use super::Start;
use super::gone;
use super::json;
use super::json_without;
use super::told::Files;
use crate::cli::failure::Failure;
use crate::cli::join::agent::Agent;
use crate::cli::join::edit::Broken;
use crate::cli::join::edit::json::Json;
use crate::cli::join::hooks;

const MCP: &str = ".mcp.json";
const SETTINGS: &str = ".claude/settings.local.json";

/// In their place where git tracks them.
const OWN_MCP: &str = ".relayroom/mcp.json";
const OWN_SETTINGS: &str = ".relayroom/claude.json";

const SERVERS: [&str; 2] = ["mcpServers", NAME];
const CONSENT: &str = "enabledMcpjsonServers";

pub(super) fn files(around: Around<'_>) -> Files {
    let own = |file: &str, own: &str| {
        let path = around.file(file);
        match around.place.tracks(&path) {
            true => around.file(own),
            false => path,
        }
    };
    Files {
        entry: Some(own(MCP, OWN_MCP)),
        hooks: own(SETTINGS, OWN_SETTINGS),
    }
}

pub(super) fn put(around: Around<'_>, entry: &Entry) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let server = json!({
        "type": "http",
        "url": entry.url,
        "headers": {"Authorization": entry.bearer()},
    });
    let tracked = around.place.tracks(&around.file(MCP));
    let (mcp, other) = match tracked {
        true => (OWN_MCP, None),
        false => (MCP, Some(OWN_MCP)),
    };
    plan.worktree
        .push(json(&around.file(mcp), true, &by_hand(entry), |file| {
            file.set(&SERVERS, &server)
        })?);
    let (settings, other_settings) = match around.place.tracks(&around.file(SETTINGS)) {
        true => (OWN_SETTINGS, None),
        false => (SETTINGS, Some(OWN_SETTINGS)),
    };
    plan.worktree.push(json(
        &around.file(settings),
        false,
        "the hooks of relayroom hook claude",
        |file| {
            if tracked {
                withdraw_consent(file)?;
            } else {
                give_consent(file)?;
            }
            hooks::put(file, Agent::Claude, entry.version, &entry.hook)
        },
    )?);
    plan.notes.push(super::ALLOW.to_owned());
    for stale in [other, other_settings].into_iter().flatten() {
        plan.worktree.extend(gone(&around.file(stale))?);
    }
    Ok(plan)
}

pub(super) fn take(around: Around<'_>) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let (mcp, settings) = (around.file(MCP), around.file(SETTINGS));
    if !around.place.tracks(&mcp) {
        plan.worktree
            .extend(json_without(&mcp, |file| file.remove(&SERVERS))?);
    }
    if !around.place.tracks(&settings) {
        plan.worktree.extend(json_without(&settings, |file| {
            withdraw_consent(file)?;
            hooks::take(file, Agent::Claude)
        })?);
    }
    Ok(plan)
}

pub(super) fn start(around: Around<'_>) -> Start {
    let mut start = Start::default();
    for (flag, file) in [("--mcp-config", OWN_MCP), ("--settings", OWN_SETTINGS)] {
        let path = around.file(file);
        if path.exists() {
            // In one word: the flag for MCP takes every word behind it.
            start.words.push(format!("{flag}={}", path.display()));
        }
    }
    start
}

/// Claude Code asks before it uses a server of `.mcp.json`, unless it is listed here.
fn give_consent(file: &mut Json) -> Result<(), Broken> {
    if consent(file)?.is_some() {
        return Ok(());
    }
    file.push(&[CONSENT], &NAME.into())
}

fn withdraw_consent(file: &mut Json) -> Result<(), Broken> {
    match consent(file)? {
        Some(at) => file.remove_at(&[CONSENT], at),
        None => Ok(()),
    }
}

/// Where we stand in the list of servers the person agreed to.
fn consent(file: &Json) -> Result<Option<usize>, Broken> {
    let value = file.value()?;
    let list = value[CONSENT].as_array();
    let at = |list: &Vec<Value>| list.iter().position(|name| name == NAME);
    Ok(list.and_then(at))
}

/// The entry without its secret.
fn by_hand(entry: &Entry) -> String {
    let mut text = json!({"mcpServers": {NAME: {
        "type": "http",
        "url": entry.url,
        "headers": {"Authorization": "Bearer <agent_token of .relayroom/config.toml>"},
    }}})
    .to_string();
    text.push_str(" in .mcp.json");
    text
}
