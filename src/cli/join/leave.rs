//! `relayroom leave`: takes out of a worktree exactly what `join` put in (cli.md 4). Session and agent go on; mail stays with the name.

use std::path::Path;
use std::path::PathBuf;

use http::Method;
use serde_json::json;

use super::agent::Agent;
use super::changes::Change;
use super::changes::Done;
use super::checks::Door;
use super::entry;
use super::entry::Around;
use super::git;
use super::git::Place;
use super::pane;
use super::record;
use super::register::Register;
use super::register::Worktree;
use super::steps::word;
use super::tokens;
use super::tokens::Live;
use crate::cli::client;
use crate::cli::client::Client;
use crate::cli::client::encode;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::tmux::Tmux;
use crate::config;
use crate::config::File;
use crate::hook::playbook;
use crate::store::quote;

/// Arguments of `leave`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The part; without it, the one of this worktree
    part: Option<String>,
    /// Delete the part, too: its name stays taken
    #[arg(long)]
    forget: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// A worktree to be left.
struct Leaving {
    root: PathBuf,
    part: String,
    known: Option<Worktree>,
    record: Option<File>,
}

/// Leaves.
///
/// # Errors
/// Exit 5 where nothing is joined; exit 3 for a file that cannot be edited without loss, with nothing changed; exit 4 without a relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let register = Register::read(&context.env)?;
    let leaving = find(context, arguments.part.as_deref(), &register)?;
    let changes = plan(context, &leaving, &register)?;
    let server = server(&leaving).unwrap_or_else(|| context.server());
    let client = match client::is_loopback(&server)? {
        true => {
            let token = config::admin_token_file(&context.db());
            Some(Client::at(&server, token, context.timeout())?)
        }
        false => None,
    };
    let live = match &client {
        Some(client) => Some(Live::ask(client).await?),
        None => None,
    };
    if arguments.forget {
        context.screen.confirm(
            &format!(
                "Delete part {}? Its agent is turned away; its mail stays.",
                leaving.part
            ),
            arguments.yes,
        )?;
    }
    out(&leaving, &changes)?;
    let mut notes = Vec::new();
    match (&client, &live) {
        (Some(client), Some(live)) => {
            revoke(context, &leaving, &register, client, live).await;
            if arguments.forget {
                delete(client, &leaving).await?;
            }
        }
        _ => notes.push(format!(
            "revoke its tokens on the relay's machine: relayroom token list ({server})"
        )),
    }
    let root = leaving.root.clone();
    Register::change(&context.env, |register| {
        register.worktree.retain(|known| known.root != root);
    })?;
    for note in notes {
        context.screen.note(note);
    }
    if context.screen.json {
        return context.screen.object(json!({
            "part": leaving.part,
            "worktree": leaving.root.to_string_lossy(),
        }));
    }
    context.screen.line(format!(
        "{}\tleft\t{}",
        leaving.part,
        leaving.root.display()
    ))
}

/// Which worktree is meant.
fn find(context: &Context, part: Option<&str>, register: &Register) -> Result<Leaving, Failure> {
    let here = Place::of(&context.env.cwd)?.root;
    let leaving = |root: &Path, part: String, record: Option<File>| Leaving {
        root: root.to_owned(),
        part,
        known: register.of(root).cloned(),
        record,
    };
    let record = record::read(&here).unwrap_or_default();
    let own = record.as_ref().and_then(|record| record.part.clone());
    if let Some(own) = own.filter(|own| part.is_none_or(|part| part == own)) {
        return Ok(leaving(&here, own, record));
    }
    let Some(part) = part else {
        return Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("no part is joined in {}", here.display()),
        )
        .fix("relayroom leave PART"));
    };
    let project = context.globals.project.as_deref();
    let found: Vec<&Worktree> = register
        .worktree
        .iter()
        .filter(|known| known.part == part && project.is_none_or(|name| known.project == name))
        .collect();
    match found.as_slice() {
        [one] => {
            let record = record::read(&one.root).unwrap_or_default();
            let record = record.filter(|record| record.part.as_deref() == Some(part));
            Ok(leaving(&one.root, part.to_owned(), record))
        }
        [] => Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("part {} is joined nowhere on this machine", quote(part)),
        )
        .fix("relayroom part list")),
        several => {
            let names: Vec<String> = several
                .iter()
                .map(|known| format!("{} of {}", known.root.display(), known.project))
                .collect();
            Err(Failure::new(
                Exit::Missing,
                "ambiguous",
                format!("part {part} is joined in {}", names.join(" and ")),
            )
            .fix(format!("relayroom leave {part} --project NAME")))
        }
    }
}

fn server(leaving: &Leaving) -> Option<String> {
    let record = leaving
        .record
        .as_ref()
        .and_then(|record| record.server.clone());
    record.or_else(|| Some(leaving.known.as_ref()?.server.clone()))
}

/// Whether no other worktree of this machine has an agent of that CLI.
pub(super) fn is_last(register: &Register, root: &Path, agent: Agent) -> bool {
    !register
        .worktree
        .iter()
        .any(|known| known.root != root && known.agent == agent.name())
}

/// What is to be done to files; none in a worktree that was deleted.
fn plan(context: &Context, leaving: &Leaving, register: &Register) -> Result<Vec<Change>, Failure> {
    let root = &leaving.root;
    let recorded = leaving.record.as_ref().and_then(record::agent);
    let known = leaving.known.as_ref();
    let agent = recorded.or_else(|| Agent::parse(&known?.agent));
    if !root.exists() {
        return Ok(Vec::new());
    }
    let place = Place::of(root)?;
    let around = Around {
        place: &place,
        env: &context.env,
    };
    let mut changes = Vec::new();
    if let Some(agent) = agent {
        let plan = entry::take(agent, around, is_last(register, root, agent))?;
        changes.extend(plan.worktree);
        changes.extend(plan.home);
    }
    if playbook::read(root).is_some() && !place.tracks(&root.join(playbook::FILE)) {
        changes.push(Change::of(&root.join(playbook::FILE), false, |_| Ok(None))?);
    }
    let others = register
        .worktree
        .iter()
        .any(|known| known.root != *root && known.common == place.common);
    if let Some(exclude) = place.exclude_file().filter(|_| !others) {
        changes.push(Change::of(&exclude, false, |text| {
            Ok(text.map(git::excluding_nothing))
        })?);
    }
    Ok(changes)
}

/// Takes the mark off the pane and everything of ours out of the worktree.
fn out(leaving: &Leaving, changes: &[Change]) -> Result<(), Failure> {
    if let Some(record) = &leaving.record
        && let Some(socket) = &record.socket
    {
        let (code, part) = (word(&record.code), word(&record.part));
        pane::unmark(&Tmux::at(socket), code, part, None);
    }
    let mut done = Done::default();
    let made = changes
        .iter()
        .try_for_each(|change| done.make(change).map(drop));
    if let Err(failure) = made {
        done.undo();
        return Err(failure);
    }
    let ours = leaving.root.join(record::FOLDER);
    for name in ["config.toml", "mcp.json", "claude.json"] {
        // What is not there is gone.
        let _ = std::fs::remove_file(ours.join(name));
    }
    let folders = [".claude", ".codex", ".gemini"].map(|name| leaving.root.join(name));
    for folder in folders.iter().chain([&ours]) {
        // Only an empty one goes: it had nothing but our file.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// Revokes the agent's token, and with the last worktree the machine's.
async fn revoke(
    context: &Context,
    leaving: &Leaving,
    register: &Register,
    client: &Client,
    live: &Live,
) {
    if let Some(record) = &leaving.record {
        let (project, part) = (word(&record.project), word(&record.part));
        if let Some(id) = live.agent(project, part, word(&record.agent_token)) {
            tokens::revoke(client, id).await;
        }
    }
    let others = register
        .worktree
        .iter()
        .any(|known| known.root != leaving.root);
    let file = context.env.machine_token_file();
    if !others && let Ok(token) = config::read_secret(&file) {
        if let Some(id) = live.machine(&token) {
            tokens::revoke(client, id).await;
        }
        // A pager on the relay's machine does without.
        let _ = std::fs::remove_file(file);
    }
}

async fn delete(client: &Client, leaving: &Leaving) -> Result<(), Failure> {
    let project = leaving
        .record
        .as_ref()
        .and_then(|record| record.project.clone())
        .or_else(|| Some(leaving.known.as_ref()?.project.clone()));
    let query: Vec<(&'static str, String)> =
        project.into_iter().map(|name| ("project", name)).collect();
    let path = format!("parts/{}", encode(&leaving.part));
    client
        .call(
            Method::PATCH,
            &path,
            &query,
            Some(&json!({"deleted": true})),
        )
        .await
        .map(drop)
}

/// Takes a part out of the worktree it was in before `--take` moved it. What cannot be cleaned up there is said; the old token is
/// revoked whatever stands there.
pub(super) async fn hand_over(
    context: &Context,
    other: &Path,
    door: &Door,
    kept: &str,
) -> Option<String> {
    let register = Register::read(&context.env).ok()?;
    let known = register.of(other).cloned()?;
    let record = record::read(other).unwrap_or_default();
    let record = record.filter(|record| record.part.as_deref() == Some(&known.part));
    let leaving = Leaving {
        root: other.to_owned(),
        part: known.part.clone(),
        known: Some(known.clone()),
        record,
    };
    if let Door::Admin { client, .. } = door
        && let Ok(live) = Live::ask(client).await
    {
        for id in live.others(&known.project, &known.part, kept) {
            tokens::revoke(client, id).await;
        }
    }
    let cleaned = plan(context, &leaving, &register).and_then(|changes| out(&leaving, &changes));
    cleaned.err().map(|failure| {
        format!(
            "{} was not cleaned up: {}",
            other.display(),
            failure.message
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_worktree_of_a_cli_takes_the_home_entries_along() {
        let worktree = |root: &str, agent: &str| Worktree {
            root: root.into(),
            common: None,
            server: String::new(),
            project: "shop".into(),
            part: "web".into(),
            agent: agent.into(),
            command: Vec::new(),
        };
        let register = Register {
            worktree: vec![worktree("/a", "codex"), worktree("/b", "claude")],
            ..Register::default()
        };
        assert!(is_last(&register, Path::new("/a"), Agent::Codex));
        assert!(!is_last(&register, Path::new("/b"), Agent::Codex));
    }
}
