//! `relayroom exec`: becomes the agent of a worktree (cli.md 4, step 8). Whoever starts an agent starts this, so that neither a word of
//! the command nor a line of tmux holds a secret.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::agent::Agent;
use super::entry;
use super::entry::Around;
use super::git::Place;
use super::record;
use super::resume;
use crate::cli::failure::Failure;
use crate::config::Env;
use crate::config::File;

/// Where the hook finds the part however far its agent changes folders.
const CONFIG: &str = "RELAYROOM_CONFIG";

/// Arguments of `exec`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The worktree's .relayroom/config.toml
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Take up the conversation of this id, or the newest
    #[arg(long, value_name = "ID", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    resume: Option<String>,
    /// The command, where it is not the agent alone
    #[arg(last = true)]
    command: Vec<String>,
}

/// The words that start the agent of a worktree.
///
/// # Errors
/// The system's, if this very program cannot be named.
pub fn words(
    root: &Path,
    resume: Option<&str>,
    command: &[String],
) -> Result<Vec<String>, Failure> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut words = vec![
        text(&std::env::current_exe()?),
        "exec".to_owned(),
        "--config".to_owned(),
        text(&record::file(root)),
    ];
    match resume {
        Some("") => words.push("--resume".to_owned()),
        Some(id) => words.push(format!("--resume={id}")),
        None => {}
    }
    if !command.is_empty() {
        words.push("--".to_owned());
        words.extend(command.iter().cloned());
    }
    Ok(words)
}

/// Becomes the agent; returns only if that fails.
///
/// # Errors
/// A worktree nothing is joined in, or a program that cannot be run.
pub fn run(env: &Env, arguments: &Arguments) -> Result<(), Failure> {
    let root = arguments.config.parent().and_then(Path::parent);
    let root = root.ok_or_else(|| Failure::usage("--config names no worktree's file"))?;
    let Some(record) = record::read(root)? else {
        return Err(
            Failure::fault(format!("{}: no part is joined there", root.display()))
                .fix("relayroom join PART"),
        );
    };
    let mut command = command(env, root, &record, arguments)?;
    let error = command.exec();
    let program = command.get_program().to_string_lossy().into_owned();
    Err(Failure::fault(format!("{program}: {error}")))
}

fn command(
    env: &Env,
    root: &Path,
    record: &File,
    arguments: &Arguments,
) -> Result<Command, Failure> {
    let agent = record::agent(record).unwrap_or(Agent::Claude);
    let usual = [agent.name().to_owned()];
    let words = match arguments.command.as_slice() {
        [] => &usual[..],
        words => words,
    };
    let (program, own) = words.split_first().unwrap_or((&usual[0], &[]));
    let mut command = Command::new(program);
    command.current_dir(root);
    // Words of ours mean nothing to a wrapper that starts the agent by itself.
    let is_agent = Agent::of_command(words) == Some(agent);
    let place = Place::of(root)?;
    let around = Around { place: &place, env };
    let word = |field: &Option<String>| field.clone().unwrap_or_default();
    let url = record::url(
        &word(&record.server),
        &word(&record.code),
        &word(&record.part),
    );
    let start = entry::start(agent, around, &word(&record.agent_token), &url)?;
    command.envs(start.variables);
    // One server of Codex runs the hooks of all its sessions, with the variables of the first.
    if agent != Agent::Codex {
        command.env(CONFIG, &arguments.config);
    }
    if is_agent {
        command.args(start.words);
    }
    command.args(own);
    if is_agent && let Some(id) = &arguments.resume {
        let id = Some(id.as_str()).filter(|id| !id.is_empty());
        command.args(resume::words(agent, env, root, id));
    }
    Ok(command)
}
