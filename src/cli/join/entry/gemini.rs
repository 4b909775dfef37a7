//! Gemini CLI: `.gemini/settings.json` of the worktree, and the hook in the home folder for all of them.
//!
//! Where git tracks that file, the entry stands in the home folder too, in variables that only `relayroom exec` sets, and is left out of
//! every other session. (The machine's file of defaults, which a variable could replace by ours, is read from 0.61 on only if it and all
//! folders above belong to root.)

use std::path::PathBuf;

use serde_json::json;

use super::Around;
use super::Entry;
use super::NAME;
use super::Plan;
use super::Start;
use super::json;
use super::json_without;
use super::told::Files;
use crate::cli::failure::Failure;
use crate::cli::join::agent::Agent;
use crate::cli::join::changes;
use crate::cli::join::edit::Broken;
use crate::cli::join::edit::json::Json;
use crate::cli::join::hooks;

const SETTINGS: &str = ".gemini/settings.json";

/// What the entry in the home folder is made of.
const URL: &str = "RELAYROOM_MCP";
const TOKEN: &str = "RELAYROOM_TOKEN";

/// Names the server that is left out: ours, unless a start says otherwise.
const LEFT_OUT: &str = "RELAYROOM_LEFT_OUT";

const SERVERS: [&str; 2] = ["mcpServers", NAME];

pub(super) fn files(around: Around<'_>) -> Files {
    let path = around.file(SETTINGS);
    Files {
        entry: Some(path).filter(|path| !around.place.tracks(path)),
        hooks: home_settings(around),
    }
}

pub(super) fn put(around: Around<'_>, entry: &Entry) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let server = json!({
        "httpUrl": entry.url,
        "headers": {"Authorization": entry.bearer()},
    });
    let path = around.file(SETTINGS);
    let tracked = around.place.tracks(&path);
    if !tracked {
        let by_hand = format!(
            "{} in {SETTINGS}",
            json!({"mcpServers": {NAME: {"httpUrl": entry.url}}})
        );
        plan.worktree.push(json(&path, true, &by_hand, |file| {
            file.set(&SERVERS, &server)
        })?);
    }
    plan.home.push(json(
        &home_settings(around),
        false,
        "the hooks of relayroom hook gemini",
        |file| {
            if tracked {
                in_variables(file)?;
            }
            hooks::put(file, Agent::Gemini, entry.version, &entry.hook)
        },
    )?);
    plan.notes.push(super::ALLOW.to_owned());
    plan.notes.push(format!(
        "Gemini CLI reads {SETTINGS} only where it trusts the folder: say yes when it asks"
    ));
    Ok(plan)
}

pub(super) fn take(around: Around<'_>, last: bool) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let path = around.file(SETTINGS);
    if !around.place.tracks(&path) {
        plan.worktree
            .extend(json_without(&path, |file| file.remove(&SERVERS))?);
    }
    if last {
        plan.home
            .extend(json_without(&home_settings(around), |file| {
                out_of_variables(file)?;
                hooks::take(file, Agent::Gemini)
            })?);
    }
    Ok(plan)
}

/// The variables of the entry in the home folder; without need of it, only that a server of that name is not left out.
pub(super) fn start(around: Around<'_>, token: &str, url: &str) -> Result<Start, Failure> {
    let text = changes::read(&around.file(SETTINGS))?.unwrap_or_default();
    let value = Json::parse(&text).and_then(|file| file.value());
    let there = value.is_ok_and(|value| value["mcpServers"][NAME]["httpUrl"] == url);
    let mut variables = vec![(LEFT_OUT, "none".to_owned())];
    if !there {
        variables.extend([(URL, url.to_owned()), (TOKEN, token.to_owned())]);
    }
    Ok(Start {
        words: Vec::new(),
        variables,
    })
}

/// Our entry for whoever is started with the variables; without them it is one of the servers left out.
fn in_variables(file: &mut Json) -> Result<(), Broken> {
    file.set(
        &SERVERS,
        &json!({
            "httpUrl": format!("${{{URL}:-http://127.0.0.1}}"),
            "headers": {"Authorization": format!("Bearer ${{{TOKEN}:-}}")},
        }),
    )?;
    match left_out(file)? {
        Some(_) => Ok(()),
        None => file.push(&EXCLUDED, &excluded().into()),
    }
}

fn out_of_variables(file: &mut Json) -> Result<(), Broken> {
    file.remove(&SERVERS)?;
    match left_out(file)? {
        Some(at) => file.remove_at(&EXCLUDED, at),
        None => Ok(()),
    }
}

const EXCLUDED: [&str; 2] = ["mcp", "excluded"];

fn excluded() -> String {
    format!("${{{LEFT_OUT}:-{NAME}}}")
}

fn left_out(file: &Json) -> Result<Option<usize>, Broken> {
    let value = file.value()?;
    let list = value["mcp"]["excluded"].as_array();
    Ok(list.and_then(|list| list.iter().position(|name| *name == excluded())))
}

fn home_settings(around: Around<'_>) -> PathBuf {
    let home = around.env.path("GEMINI_CLI_HOME");
    let home = home.or_else(|| around.env.path("HOME"));
    home.unwrap_or_default().join(SETTINGS)
}
