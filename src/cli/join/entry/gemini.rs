//! Gemini CLI: `.gemini/settings.json` of the worktree, and the hook in the home folder for all of them.

use std::path::PathBuf;

use serde_json::json;

use super::Around;
use super::Entry;
use super::NAME;
use super::Plan;
use super::Start;
use super::gone;
use super::json;
use super::json_without;
use super::refused;
use crate::cli::failure::Failure;
use crate::cli::join::agent::Agent;
use crate::cli::join::changes;
use crate::cli::join::changes::Change;
use crate::cli::join::edit::json::Json;
use crate::cli::join::hooks;

const SETTINGS: &str = ".gemini/settings.json";

/// In its place where git tracks it: read below every other file, so that enforced settings stay in force.
const OWN: &str = ".relayroom/gemini.json";

/// Names the file of defaults, the machine's or ours.
const DEFAULTS: &str = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH";

/// The machine's file of defaults unless the variable names another.
const MACHINE: &str = "/etc/gemini-cli/system-defaults.json";

const SERVERS: [&str; 2] = ["mcpServers", NAME];

pub(super) fn put(around: Around<'_>, entry: &Entry) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let server = json!({
        "httpUrl": entry.url,
        "headers": {"Authorization": entry.bearer()},
    });
    let path = around.file(SETTINGS);
    let own = around.file(OWN);
    if around.place.tracks(&path) {
        let machine = machine_defaults(around);
        let below = changes::read(&machine)?.unwrap_or_default();
        plan.worktree.push(Change::of(&own, true, |_| {
            let refuse = |broken| refused(&machine, &broken, "");
            let mut file = Json::parse(&below).map_err(refuse)?;
            file.set(&SERVERS, &server).map_err(refuse)?;
            Ok(Some(file.text()))
        })?);
    } else {
        let by_hand = format!(
            "{} in {SETTINGS}",
            json!({"mcpServers": {NAME: {"httpUrl": entry.url}}})
        );
        plan.worktree.push(json(&path, true, &by_hand, |file| {
            file.set(&SERVERS, &server)
        })?);
        plan.worktree.extend(gone(&own)?);
    }
    plan.home.push(json(
        &home_settings(around),
        false,
        "the hooks of relayroom hook gemini",
        |file| hooks::put(file, Agent::Gemini, entry.version, &entry.hook),
    )?);
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
                hooks::take(file, Agent::Gemini)
            })?);
    }
    Ok(plan)
}

pub(super) fn start(around: Around<'_>) -> Start {
    let own = around.file(OWN);
    let mut start = Start::default();
    if own.exists() {
        start
            .variables
            .push((DEFAULTS, own.to_string_lossy().into_owned()));
    }
    start
}

/// The machine's defaults. `join` may run in an agent that was started with ours.
fn machine_defaults(around: Around<'_>) -> PathBuf {
    around
        .env
        .path(DEFAULTS)
        .filter(|path| !path.ends_with(OWN))
        .unwrap_or_else(|| MACHINE.into())
}

fn home_settings(around: Around<'_>) -> PathBuf {
    let home = around.env.path("GEMINI_CLI_HOME");
    let home = home.or_else(|| around.env.path("HOME"));
    home.unwrap_or_default().join(SETTINGS)
}
