//! Codex: `.codex/config.toml` of the worktree, read in folders it trusts, and the hook in the home folder for all of them.

use std::path::Path;
use std::path::PathBuf;

use toml_edit::Array;
use toml_edit::InlineTable;
use toml_edit::Table;
use toml_edit::value;

use super::Around;
use super::Entry;
use super::NAME;
use super::Plan;
use super::Start;
use super::json;
use super::json_without;
use super::refused;
use super::told::Files;
use crate::cli::failure::Failure;
use crate::cli::join::agent::Agent;
use crate::cli::join::changes;
use crate::cli::join::changes::Change;
use crate::cli::join::edit::Broken;
use crate::cli::join::edit::toml::Toml;
use crate::cli::join::hooks;

const CONFIG: &str = ".codex/config.toml";
const SERVERS: &str = "mcp_servers";

/// The variable the token is in where a word of the command would show it.
const TOKEN: &str = "RELAYROOM_TOKEN";

/// What old versions run at a turn's end in place of hooks.
const NOTIFY: &str = "notify";

pub(super) fn files(around: Around<'_>) -> Files {
    let path = around.file(CONFIG);
    Files {
        entry: Some(path).filter(|path| !around.place.tracks(path)),
        hooks: hooks_file(around),
    }
}

pub(super) fn put(around: Around<'_>, entry: &Entry) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let path = around.file(CONFIG);
    if !around.place.tracks(&path) {
        let mut server = Table::new();
        server["url"] = value(&entry.url);
        let mut headers = InlineTable::new();
        headers.insert("Authorization", entry.bearer().into());
        server["http_headers"] = value(headers);
        let by_hand = format!(
            "[mcp_servers.relayroom] with url = \"{}\" in .codex/config.toml",
            entry.url
        );
        plan.worktree.push(toml(&path, true, &by_hand, |file| {
            file.set_table(SERVERS, NAME, server)
        })?);
    }
    let hooks_file = hooks_file(around);
    if hooks::codex_has_hooks(entry.version) {
        let change = json(
            &hooks_file,
            false,
            "the hooks of relayroom hook codex",
            |file| hooks::put(file, Agent::Codex, entry.version, &entry.hook),
        )?;
        if change.before != change.after {
            plan.notes.push(
                "Codex asks at its next start whether it may run the new hooks: trust them"
                    .to_owned(),
            );
        }
        plan.home.push(change);
    } else {
        notify(around, entry, &mut plan)?;
    }
    plan.notes.push(format!(
        "Codex reads {CONFIG} only where it trusts the folder: say yes when it asks"
    ));
    Ok(plan)
}

pub(super) fn take(around: Around<'_>, last: bool) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    let path = around.file(CONFIG);
    if path.exists() && !around.place.tracks(&path) {
        plan.worktree.push(toml(&path, false, "", |file| {
            file.remove_table(SERVERS, NAME);
            Ok(())
        })?);
    }
    if last {
        plan.home.extend(json_without(&hooks_file(around), |file| {
            hooks::take(file, Agent::Codex)
        })?);
        let home = home_config(around);
        if home.exists() {
            plan.home.push(toml(&home, false, "", |file| {
                if is_our_notify(file) {
                    file.remove(NOTIFY);
                }
                Ok(())
            })?);
        }
    }
    Ok(plan)
}

/// Where git tracks the file, the entry stands in the command, and the token in a variable.
pub(super) fn start(around: Around<'_>, token: &str, url: &str) -> Result<Start, Failure> {
    let text = changes::read(&around.file(CONFIG))?.unwrap_or_default();
    let there =
        Toml::parse(&text).is_ok_and(|file| file.word(&[SERVERS, NAME, "url"]) == Some(url));
    if there {
        return Ok(Start::default());
    }
    let words = [
        "-c".to_owned(),
        format!("{SERVERS}.{NAME}.url={}", toml_edit::Value::from(url)),
        "-c".to_owned(),
        format!("{SERVERS}.{NAME}.bearer_token_env_var=\"{TOKEN}\""),
    ];
    Ok(Start {
        words: words.to_vec(),
        variables: vec![(TOKEN, token.to_owned())],
    })
}

/// Puts our command where old versions look, unless the person has one there.
fn notify(around: Around<'_>, entry: &Entry, plan: &mut Plan) -> Result<(), Failure> {
    let path = home_config(around);
    let taken = changes::read(&path)?
        .and_then(|text| Toml::parse(&text).ok())
        .is_some_and(|file| file.value(NOTIFY).is_some() && !is_our_notify(&file));
    if taken {
        plan.notes.push(format!(
            "{} has a notify of its own: turns of this Codex are not counted",
            path.display()
        ));
        return Ok(());
    }
    let program = entry.hook.strip_suffix(" hook codex").unwrap_or_default();
    let program = program.trim_matches('\'');
    let words = Array::from_iter([program, "hook", "codex"]);
    plan.home.push(toml(&path, false, "notify", |file| {
        file.set(NOTIFY, words.into());
        Ok(())
    })?);
    Ok(())
}

fn is_our_notify(file: &Toml) -> bool {
    let words: Option<Vec<&str>> = file
        .value(NOTIFY)
        .and_then(toml_edit::Value::as_array)
        .map(|words| words.iter().filter_map(toml_edit::Value::as_str).collect());
    matches!(words.as_deref(), Some([program, "hook", "codex"]) if program.ends_with("/relayroom"))
}

fn hooks_file(around: Around<'_>) -> PathBuf {
    home(around).join("hooks.json")
}

pub(in crate::cli) fn home_config(around: Around<'_>) -> PathBuf {
    home(around).join("config.toml")
}

fn home(around: Around<'_>) -> PathBuf {
    let usual = || around.env.path("HOME").unwrap_or_default().join(".codex");
    around.env.path("CODEX_HOME").unwrap_or_else(usual)
}

fn toml(
    path: &Path,
    secret: bool,
    by_hand: &str,
    edit: impl FnOnce(&mut Toml) -> Result<(), Broken>,
) -> Result<Change, Failure> {
    Change::of(path, secret, |text| {
        let refuse = |broken: Broken| refused(path, &broken, by_hand);
        let mut file = Toml::parse(text.unwrap_or_default()).map_err(refuse)?;
        let before = file.text();
        edit(&mut file).map_err(refuse)?;
        let after = file.text();
        if before == after {
            return Ok(text.map(str::to_owned));
        }
        Ok(Some(after).filter(|_| !file.is_empty()))
    })
}
