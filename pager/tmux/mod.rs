//! tmux: the only place that runs it (pager.md 1 and 5).
//!
//! Every call is one child with a cleared environment, an explicit socket and five seconds to live. Commands are built in [`command`],
//! what they print is read in [`listing`]; both are pure. Promised: no server is ever started, no key but a guarded `Enter` (in the
//! canary `BSpace`) is sent, no text but a guarded, framed paste, and never both in one child.

pub mod command;
pub mod listing;
mod version;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tmux_interface::Tmux as Builder;
use tmux_interface::TmuxCommands;

use self::listing::Listing;
pub use self::version::Version;
use super::facts::PaneFacts;
use crate::config::Env;

/// How long a child may take before it is killed.
const LIMIT: Duration = Duration::from_secs(5);

/// Why a call told nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// There is no such program.
    #[error("tmux cannot be run: {0}")]
    NotRun(String),
    /// Nobody answers on the socket.
    #[error("no server on {0}")]
    NoServer(String),
    /// It was killed after its time.
    #[error("tmux did not answer in time")]
    Hung,
    /// It failed and printed nothing of use; its complaint.
    #[error("tmux: {0}")]
    Failed(String),
}

/// What became of a text or an Enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// tmux wrote it to the pane.
    Sent,
    /// The guard said no: not one byte was written.
    Held,
    /// tmux refused because the client is read-only: not one byte was written.
    ReadOnly,
    /// The child failed: nobody knows.
    Unknown,
}

/// The key or text of one guarded send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys<'a> {
    /// The wake's line, as a framed paste.
    Paste(&'a str),
    /// The wake's line, letter by letter: only where a person's own rule table says so.
    Letters(&'a str),
    /// The key `Enter`.
    Enter,
    /// The key `BSpace`: the canary takes its own letters back.
    Erase,
}

/// One tmux socket.
#[derive(Debug, Clone)]
pub struct Tmux {
    socket: PathBuf,
    path: OsString,
    home: OsString,
    /// Of the program found in `PATH`.
    pub version: Version,
}

impl Tmux {
    /// Asks the program for its version; the server is not touched.
    ///
    /// # Errors
    /// [`Trouble`] if there is no program or it prints no version.
    pub async fn find(socket: &Path, env: &Env) -> Result<Self, Trouble> {
        let mut tmux = Self {
            socket: socket.to_owned(),
            path: env.path("PATH").unwrap_or_default().into_os_string(),
            home: env.path("HOME").unwrap_or_default().into_os_string(),
            version: Version::NEWEST_KNOWN,
        };
        let child = tmux.child(Builder::new().version().into_command());
        let printed = finish(child).await?;
        let text = String::from_utf8_lossy(&printed.stdout).into_owned();
        tmux.version = Version::parse(text.trim())
            .ok_or_else(|| Trouble::Failed(format!("no version in {:?}", text.trim())))?;
        Ok(tmux)
    }

    /// The socket's path, as it was resolved at start.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Lists panes and clients and captures `panes`, all in one child.
    ///
    /// # Errors
    /// [`Trouble`] if nothing was listed.
    pub async fn look(&self, panes: &[String], names: bool) -> Result<Listing, Trouble> {
        let nonce = command::nonce();
        let printed = self.run(command::look(&nonce, panes, names)).await?;
        self.read(&nonce, printed)
    }

    /// Sends `keys` to the pane that `seen` describes, if it still looks so, waits, and looks at it: one child where tmux can wait.
    /// The listing is what that look found, if it found anything.
    pub async fn send(
        &self,
        keys: Keys<'_>,
        seen: &PaneFacts,
        quiet: bool,
        wait: Duration,
    ) -> (Outcome, Option<Listing>) {
        let nonce = command::nonce();
        let pane = [seen.identity.pane.clone()];
        let mut commands = match keys {
            Keys::Paste(line) => command::paste(&nonce, line, seen, quiet),
            Keys::Letters(line) => command::letters(&nonce, line, seen, quiet),
            Keys::Enter => command::key(&nonce, "Enter", seen, quiet),
            Keys::Erase => command::key(&nonce, "BSpace", seen, quiet),
        };
        if self.version.waits_by_itself() {
            commands.push(command::wait(wait));
            commands.push_cmds(command::look(&nonce, &pane, false));
            let Ok(printed) = self.run(commands).await else {
                return (Outcome::Unknown, None);
            };
            let outcome = outcome(&nonce, &printed);
            return (outcome, self.read(&nonce, printed).ok());
        }
        let outcome = match self.run(commands).await {
            Ok(printed) => outcome(&nonce, &printed),
            Err(_) => Outcome::Unknown,
        };
        tokio::time::sleep(wait).await;
        (outcome, self.look(&pane, false).await.ok())
    }

    /// Sets or, with `None`, unsets the status string of sessions, in one child.
    ///
    /// # Errors
    /// [`Trouble`] if the child could not be run.
    pub async fn set_status(&self, sessions: &[(String, Option<String>)]) -> Result<(), Trouble> {
        self.run(command::status(sessions)).await.map(drop)
    }

    fn read(&self, nonce: &str, printed: Printed) -> Result<Listing, Trouble> {
        let listing = Listing::parse(&printed.stdout, nonce, &self.socket.to_string_lossy());
        if listing.rows.is_empty() && listing.bad.is_empty() && !printed.ok {
            return Err(printed.complaint(&self.socket));
        }
        Ok(listing)
    }

    async fn run(&self, commands: TmuxCommands<'_>) -> Result<Printed, Trouble> {
        let socket = self.socket.to_string_lossy();
        let mut command = Builder::new()
            .force_utf8()
            .socket_path(socket)
            .commands(commands)
            .build();
        if self.version.knows_no_start() {
            // tmux's options end where its first command begins, and the builder keeps options in the order pushed.
            command.push_flag("-N");
        }
        finish(self.child(command.to_command())).await
    }

    fn child(&self, command: std::process::Command) -> tokio::process::Command {
        let mut child = tokio::process::Command::from(command);
        child
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", &self.home)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        child
    }
}

struct Printed {
    ok: bool,
    stdout: Vec<u8>,
    stderr: String,
}

impl Printed {
    fn complaint(&self, socket: &Path) -> Trouble {
        let text = self.stderr.trim();
        if ["no server running", "error connecting", "lost server"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            return Trouble::NoServer(socket.display().to_string());
        }
        Trouble::Failed(text.lines().next().unwrap_or("no output").to_owned())
    }
}

async fn finish(mut child: tokio::process::Command) -> Result<Printed, Trouble> {
    let not_run = |error: io::Error| Trouble::NotRun(error.to_string());
    let running = child.spawn().map_err(not_run)?;
    match tokio::time::timeout(LIMIT, running.wait_with_output()).await {
        Ok(done) => {
            let done = done.map_err(not_run)?;
            Ok(Printed {
                ok: done.status.success(),
                stdout: done.stdout,
                stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
            })
        }
        Err(_) => Err(Trouble::Hung),
    }
}

fn outcome(nonce: &str, printed: &Printed) -> Outcome {
    match listing::mark(&printed.stdout, nonce) {
        Some(listing::Mark::Sent) => Outcome::Sent,
        Some(listing::Mark::Held) => Outcome::Held,
        None if printed.stderr.contains("read-only") => Outcome::ReadOnly,
        None => Outcome::Unknown,
    }
}
