//! One pane of a tmux server of its own: what it shows, and the keys of its person.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use crate::agent::Launch;
use crate::wait::PATIENCE;
use crate::wait::until;

/// How long a person takes between a line and the Enter after it.
const PAUSE: Duration = Duration::from_millis(400);

/// The server with its one session `web`; killed when dropped.
pub struct Pane {
    /// Holds the socket; short, because a socket's path is.
    folder: TempDir,
    name: String,
}

impl Pane {
    /// Starts a CLI in a pane of 80 by 24 cells.
    pub fn start(launch: &Launch, folder: &Path) -> Self {
        let pane = Self {
            folder: tempfile::Builder::new().prefix("rr").tempdir().unwrap(),
            name: format!("rr-{}", std::process::id()),
        };
        // What tmux tells of itself stays: a CLI draws differently without it.
        let mut line = r#"exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE""#.to_owned();
        for (name, value) in &launch.env {
            line += &format!(" {name}={}", quote(value));
        }
        for word in &launch.argv {
            line += &format!(" {}", quote(word));
        }
        let place = folder.display().to_string();
        pane.tmux(&[
            "new-session",
            "-d",
            "-s",
            "web",
            "-x",
            "80",
            "-y",
            "24",
            "-c",
            &place,
            &line,
            ";",
            "set-option",
            "-g",
            "status",
            "off",
        ]);
        pane
    }

    /// Path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        let user = rustix::process::getuid().as_raw();
        self.folder
            .path()
            .join(format!("tmux-{user}"))
            .join(&self.name)
    }

    /// Runs a tmux command that must succeed; what it printed.
    pub fn tmux(&self, arguments: &[&str]) -> String {
        self.run(arguments).unwrap_or_else(|why| panic!("{why}"))
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("tmux")
            .args(["-L", &self.name, "-u", "-f", "/dev/null"])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh")
            .env("TMUX_TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("tmux: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let why = String::from_utf8_lossy(&output.stderr);
        Err(format!("tmux {arguments:?}: {}", why.trim()))
    }

    /// What the screen shows, or why there is none.
    pub fn screen(&self) -> Result<String, String> {
        self.run(&["capture-pane", "-p", "-t", "web"])
    }

    /// The rows on the screen, without the blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        let text = self.screen().unwrap_or_else(|why| panic!("{why}"));
        text.lines()
            .map(|row| row.trim_end().replace('\u{a0}', " "))
            .collect()
    }

    pub fn shows(&self, text: &str) -> bool {
        self.rows().iter().any(|row| row.contains(text))
    }

    pub fn wait_for(&self, text: &str) {
        until(&format!("the screen shows {text:?}"), PATIENCE, || {
            self.shows(text).then_some(())
        });
    }

    /// Presses keys, by tmux's names.
    pub fn press(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", "-t", "web", key]);
            std::thread::sleep(PAUSE);
        }
    }

    /// Erases so many letters.
    pub fn erase(&self, letters: usize) {
        let times = letters.to_string();
        self.tmux(&["send-keys", "-t", "web", "-N", &times, "BSpace"]);
    }

    /// Writes text, as a person does.
    pub fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-t", "web", "-l", "--", text]);
    }

    /// The version of tmux.
    pub fn version(&self) -> String {
        self.tmux(&["display-message", "-p", "#{version}"])
            .trim()
            .to_owned()
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = self.run(&["kill-server"]);
    }
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
