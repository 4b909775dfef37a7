//! How a new token reaches the program it is for: through a file of mode 0600, and the words that tell an agent's program to read it.
//! Only `--show` prints a token.

use std::path::PathBuf;

use serde_json::Value;

use super::context::Context;
use super::detach;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use crate::config;

/// Where a new token goes.
#[derive(Debug, Clone, clap::Args)]
#[group(multiple = false)]
pub struct Place {
    /// The file the token is written to, in place of the usual one
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the token, for the only time, and write no file
    #[arg(long)]
    show: bool,
}

impl Place {
    /// Refuses a file the person named that is there already: it may hold another token, and nothing brings that back. Asked before
    /// the token is issued.
    ///
    /// # Errors
    /// Exit 3.
    pub fn check(&self) -> Result<(), Failure> {
        match &self.out {
            Some(path) if path.symlink_metadata().is_ok() => Err(Failure::new(
                Exit::Refused,
                "conflict",
                format!(
                    "{} exists: name another file, or move it away",
                    path.display()
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Writes the token, or keeps it for printing; returns what is to stand in commands in its place.
    ///
    /// # Errors
    /// The file system's.
    pub fn keep(&self, usual: PathBuf, secret: &str) -> Result<Kept, Failure> {
        if self.show {
            return Ok(Kept::Shown(secret.to_owned()));
        }
        let path = self.out.clone().unwrap_or(usual);
        let path = std::path::absolute(&path)?;
        if let Some(folder) = path.parent() {
            detach::private_folder(folder)?;
        }
        config::write_secret(&path, secret)
            .map_err(|error| Failure::fault(format!("{}: {error}", path.display())))?;
        Ok(Kept::File(path))
    }
}

/// Where a token went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Into this file.
    File(PathBuf),
    /// Nowhere: the person wants to see it.
    Shown(String),
}

impl Kept {
    /// What tells the person.
    #[must_use]
    pub fn field(&self) -> (&'static str, String) {
        match self {
            Self::File(path) => ("file", path.display().to_string()),
            Self::Shown(secret) => ("token", secret.clone()),
        }
    }

    /// As a field of the JSON answer.
    pub fn add_to(&self, answer: &mut Value) {
        if let Value::Object(answer) = answer {
            answer.remove("token");
            match self {
                Self::File(path) => answer.insert("file".into(), path.to_string_lossy().into()),
                Self::Shown(secret) => answer.insert("token".into(), secret.clone().into()),
            };
        }
    }

    /// What a shell puts in the token's place.
    fn in_a_shell(&self) -> String {
        match self {
            Self::File(path) => format!("$(cat {})", quoted(&path.to_string_lossy())),
            Self::Shown(secret) => secret.clone(),
        }
    }
}

/// The usual file of an agent's token.
#[must_use]
pub fn agent_file(context: &Context, project: &str, part: &str) -> PathBuf {
    let name = format!("{project}-{part}.token");
    context.env.state_dir().join("tokens").join(name)
}

/// The words that connect an agent and let the pager find its pane.
#[must_use]
pub fn how_to_connect(server: &str, answer: &Value, kept: &Kept) -> Vec<(&'static str, String)> {
    let code = field::word(answer, "code");
    let part = field::word(answer, "part");
    let url = format!("{server}/mcp/{code}?part={part}");
    let claude = format!(
        "claude mcp add --transport http relayroom {} --header \"Authorization: Bearer {}\"",
        quoted(&url),
        kept.in_a_shell()
    );
    let pane = format!(
        "tmux set-option -p -F -t \"$TMUX_PANE\" @relayroom {}",
        quoted(&format!("{code}/{part}/#{{pane_pid}}"))
    );
    vec![("url", url), ("claude", claude), ("pane", pane)]
}

/// A word a shell takes as it stands.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_command_we_print_holds_the_token() {
        let answer = json!({"code": "c0de", "part": "web", "token": "rrt_secret"});
        let kept = Kept::File("/tmp/it's.token".into());
        let lines = how_to_connect("http://127.0.0.1:1", &answer, &kept);
        assert_eq!(
            lines[1].1,
            "claude mcp add --transport http relayroom 'http://127.0.0.1:1/mcp/c0de?part=web' \
             --header \"Authorization: Bearer $(cat '/tmp/it'\\''s.token')\""
        );
        let mut answer = answer;
        kept.add_to(&mut answer);
        assert!(!answer.to_string().contains("rrt_secret"));
        assert!(lines.iter().all(|(_, line)| !line.contains("rrt_secret")));
    }
}
