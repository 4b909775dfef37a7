//! The person's tmux, as commands use it: sessions are made and found here. Keys are the pager's alone (pager.md 1).

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use super::context::Context;
use super::failure::Failure;
use crate::pager::tmux::Version;

/// A tmux server, perhaps not running yet.
#[derive(Debug, Clone)]
pub struct Tmux {
    socket: PathBuf,
    /// The whole environment of a server that is to have nothing of the person's: no settings of theirs either.
    alone: Option<Vec<(&'static str, PathBuf)>>,
}

impl Tmux {
    /// The person's server on a socket.
    #[must_use]
    pub fn at(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
            alone: None,
        }
    }

    /// A server with this environment and without settings.
    #[must_use]
    pub fn alone(socket: PathBuf, environment: Vec<(&'static str, PathBuf)>) -> Self {
        Self {
            socket,
            alone: Some(environment),
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Runs one command in a folder; what it printed.
    ///
    /// # Errors
    /// tmux's complaint.
    pub fn run_in(&self, folder: &Path, words: &[&str]) -> Result<String, Failure> {
        let mut command = self.command();
        command.current_dir(folder);
        finish(command, words)
    }

    /// Runs one command; what it printed.
    ///
    /// # Errors
    /// tmux's complaint.
    pub fn run(&self, words: &[&str]) -> Result<String, Failure> {
        finish(self.command(), words)
    }

    /// Whether new sessions and windows take variables (`-e`): from 3.2 on.
    #[must_use]
    pub fn takes_variables(&self) -> bool {
        version().is_some_and(Version::takes_variables)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).arg("-u");
        if let Some(environment) = &self.alone {
            command.args(["-f", "/dev/null"]).env_clear();
            command.envs(environment.iter().cloned());
        }
        // A server started from inside a pane of another one is not that one's child.
        command.env_remove("TMUX").env_remove("TMUX_PANE");
        command.stdin(Stdio::null());
        command
    }
}

fn finish(mut command: Command, words: &[&str]) -> Result<String, Failure> {
    let output = command.args(words).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let name = words.first().copied().unwrap_or_default();
        return Err(Failure::fault(format!("tmux {name}: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Refuses where there is no tmux that has pane options; `what` needs it.
///
/// # Errors
/// Exit 1 with the command that installs it.
pub fn need(context: &Context, what: &str) -> Result<(), Failure> {
    let Some(printed) = printed_version() else {
        return Err(
            Failure::fault(format!("{what} needs tmux, and there is none")).fix(install(context)),
        );
    };
    match Version::parse(&printed) {
        Some(version) if !version.has_pane_options() => Err(Failure::fault(format!(
            "{what} needs tmux 3.0 or newer, this is {}",
            printed.trim()
        ))
        .fix(install(context))),
        _ => Ok(()),
    }
}

fn version() -> Option<Version> {
    Version::parse(&printed_version()?)
}

fn printed_version() -> Option<String> {
    let output = Command::new("tmux").arg("-V").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command that installs tmux here.
pub fn install(context: &Context) -> String {
    let known = [
        ("apt-get", "sudo apt-get install tmux"),
        ("dnf", "sudo dnf install tmux"),
        ("pacman", "sudo pacman -S tmux"),
        ("zypper", "sudo zypper install tmux"),
        ("apk", "sudo apk add tmux"),
        ("brew", "brew install tmux"),
    ];
    let path = context.env.get("PATH").unwrap_or_default();
    let has =
        |program: &str| std::env::split_paths(path).any(|folder| folder.join(program).is_file());
    known
        .into_iter()
        .find(|(program, _)| has(program))
        .map_or("install tmux 3.0 or newer", |(_, command)| command)
        .to_owned()
}
