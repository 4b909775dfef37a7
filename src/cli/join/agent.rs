//! The three agent CLIs: how each is found, asked for its version, told apart and taken up again (cli.md 4).

use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use clap::ValueEnum;

use crate::config::Env;
use crate::pager::rules::Version;

/// How long a CLI may take to say its version; one that runs in Node takes seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// An agent CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

impl Agent {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// The word of settings and commands, which is also the program's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Reads that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == word)
    }

    /// The CLI a command starts, by its program's name.
    #[must_use]
    pub fn of_command(command: &[String]) -> Option<Self> {
        let program = Path::new(command.first()?).file_name()?;
        Self::parse(program.to_str()?)
    }

    /// Where it is installed.
    #[must_use]
    pub fn program(self, env: &Env) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        std::env::split_paths(env.get("PATH")?)
            .map(|folder| folder.join(self.name()))
            .find(|path| {
                path.metadata()
                    .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
            })
    }

    /// The file beside which the playbook is named to it.
    #[must_use]
    pub fn instructions(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE.local.md",
            Self::Codex => "AGENTS.md",
            Self::Gemini => "GEMINI.md",
        }
    }

    /// The words that take a conversation up again: that one, or the newest of the folder.
    #[must_use]
    pub fn resume(self, session: Option<&str>) -> Vec<String> {
        let words: &[&str] = match (self, session) {
            (Self::Claude, Some(id)) => &["--resume", id],
            (Self::Claude, None) => &["--continue"],
            (Self::Codex, Some(id)) => &["resume", id],
            (Self::Codex, None) => &["resume", "--last"],
            (Self::Gemini, Some(id)) => &["--resume", id],
            (Self::Gemini, None) => &["--resume", "latest"],
        };
        words.iter().map(|word| (*word).to_owned()).collect()
    }
}

/// What a program says of its version; `None` if it says nothing in time.
pub async fn version(program: &Path) -> Option<Version> {
    let mut command = tokio::process::Command::new(program);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    read_version(&String::from_utf8_lossy(&output.ok()?.ok()?.stdout))
}

/// The first number with a point in it: `2.1.332 (Claude Code)`, `codex-cli 0.171.0`, `0.61.0`.
fn read_version(printed: &str) -> Option<Version> {
    printed
        .split_whitespace()
        .filter(|word| word.contains('.'))
        .find_map(Version::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_each_cli_prints_them() {
        for (printed, version) in [
            ("2.1.332 (Claude Code)\n", "2.1.332"),
            ("codex-cli 0.171.0\n", "0.171.0"),
            ("0.61.0\n", "0.61.0"),
            ("warning: old.\ncodex-cli 0.171.0-alpha\n", "0.171.0"),
        ] {
            assert_eq!(read_version(printed), Version::parse(version), "{printed}");
        }
        assert_eq!(read_version("no version"), None);
    }

    #[test]
    fn a_command_is_known_by_its_program() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        assert_eq!(
            Agent::of_command(&words("/opt/bin/codex -m gpt-5")),
            Some(Agent::Codex)
        );
        assert_eq!(Agent::of_command(&words("bash -c claude")), None);
        assert_eq!(Agent::of_command(&[]), None);
    }
}
