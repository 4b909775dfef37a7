//! `relayroom join`, `leave` and `exec`: an agent of a worktree becomes a part of the project, and ceases to be one (cli.md 4).
//!
//! What this folder promises:
//!
//! - **All checks first, then the steps; a failed step undoes the earlier ones** ([`checks`], [`steps`], [`changes`]). Project and part
//!   stay once made: they are names without an agent.
//! - **Run again, it repairs and changes nothing that is right**: equal content is not written, good tokens are kept, a living agent is
//!   left alone.
//! - **A secret goes only where git neither tracks nor would add it** ([`git`]): asked of git after writing. A tracked file is never
//!   touched; then the agent is told at its start ([`entry`], [`exec`]).
//! - **What is foreign in a file stays** to the byte ([`edit`]).
//! - **Nothing is ever typed** into a pane ([`pane`]): an agent is started in the place of a shell, or of `join` itself.

pub mod agent;
pub mod bring;
mod changes;
mod checks;
mod edit;
pub mod entry;
pub mod exec;
pub mod git;
mod hooks;
pub mod leave;
mod pane;
pub mod playbook;
mod project;
pub mod record;
pub mod register;
mod resume;
mod say;
pub mod seat;
mod steps;
mod tokens;

use std::path::PathBuf;

use self::agent::Agent;
use self::steps::Joined;
use super::context::Context;
use super::failure::Failure;

/// Arguments of `join`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The part: 1-32 of a-z, 0-9, - and _
    part: String,
    /// The agent CLI
    #[arg(long, value_enum)]
    agent: Option<Agent>,
    /// Make it the project's main part
    #[arg(long)]
    main: bool,
    /// Move the part here from the worktree it is joined in
    #[arg(long)]
    take: bool,
    /// Name of its tmux session
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// Start no agent
    #[arg(long)]
    no_start: bool,
    /// Attach to the session afterwards
    #[arg(long)]
    attach: bool,
    /// For a relay on another machine: two lines, the agent's token and this machine's
    #[arg(long, value_name = "FILE", requires = "code")]
    token_file: Option<PathBuf>,
    /// For a relay on another machine: the project's connect code
    #[arg(long, value_name = "CODE", requires = "token_file")]
    code: Option<String>,
    /// The command that starts the agent, where it is not the agent alone
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Joins the part of this worktree.
///
/// # Errors
/// Exit 3 for what a rule forbids, with nothing changed; exit 4 without a relay; exit 1 for a step that failed, with the earlier ones
/// undone.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let checked = checks::run(context, arguments).await?;
    let joined = steps::run(context, arguments, &checked).await?;
    say::joined(context, arguments, &joined)?;
    finish(context, arguments, &joined)
}

/// What does not come back: this process becomes the agent, or the client that shows it.
fn finish(context: &Context, arguments: &Arguments, joined: &Joined) -> Result<(), Failure> {
    use std::os::unix::process::CommandExt;
    let mut command = match &joined.become_agent {
        Some(words) => {
            let (program, rest) = words
                .split_first()
                .ok_or_else(|| Failure::fault("there is nothing to start"))?;
            let mut command = std::process::Command::new(program);
            command.args(rest);
            command
        }
        None if arguments.attach => seat::attach(context, &joined.seat),
        None => return Ok(()),
    };
    Err(command.exec().into())
}
