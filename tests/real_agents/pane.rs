//! One pane: what it shows, and the keys of its person.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use tempfile::TempDir;

use crate::agent::Agent;
use crate::agent::Launch;
use crate::wait::PATIENCE;
use crate::wait::until;

/// How long a person takes between a line and the Enter after it.
const PAUSE: Duration = Duration::from_millis(400);

/// A screen that stood still so long is a screen at rest.
const REST: Duration = Duration::from_millis(1_500);

/// A pane; its server is killed when it is dropped.
pub struct Pane {
    agent: Agent,
    socket: PathBuf,
    /// The name of its session, which has no other.
    session: String,
    /// Holds the socket of a server that was made for it; short, because a socket's path is.
    _folder: Option<TempDir>,
}

impl Pane {
    /// Starts a CLI in a pane of 80 by 24 cells.
    pub fn start(agent: Agent, launch: &Launch, folder: &Path) -> Self {
        let own = tempfile::Builder::new().prefix("rr").tempdir().unwrap();
        let pane = Self {
            agent,
            socket: own.path().join("tmux"),
            session: "web".to_owned(),
            _folder: Some(own),
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

    /// The pane of a session that is there already.
    pub fn at(agent: Agent, socket: PathBuf, session: &str) -> Self {
        Self {
            agent,
            socket,
            session: session.to_owned(),
            _folder: None,
        }
    }

    /// Path of the server's socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Runs a tmux command that must succeed; what it printed.
    pub fn tmux(&self, arguments: &[&str]) -> String {
        self.run(arguments).unwrap_or_else(|why| panic!("{why}"))
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .args(["-u", "-f", "/dev/null"])
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8")
            .env("SHELL", "/bin/sh")
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
        self.run(&["capture-pane", "-p", "-t", &self.session])
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
            self.tmux(&["send-keys", "-t", &self.session, key]);
            std::thread::sleep(PAUSE);
        }
    }

    /// Erases whatever stands in the composer.
    pub fn clear(&self) {
        let letters = self.composer().map_or(0, |text| text.chars().count());
        if letters > 0 {
            self.erase(2 * letters);
            self.rest();
        }
    }

    /// Erases so many letters.
    pub fn erase(&self, letters: usize) {
        let times = letters.to_string();
        self.tmux(&["send-keys", "-t", &self.session, "-N", &times, "BSpace"]);
    }

    /// Writes text into the composer, as a person does, and leaves it there.
    pub fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-t", &self.session, "-l", "--", text]);
        let solid = |text: &str| text.split_whitespace().collect::<String>();
        until(&format!("{text:?} is in the composer"), PATIENCE, || {
            // Its first row, where it takes several.
            let row = self.composer().filter(|row| !row.is_empty())?;
            solid(text).starts_with(&solid(&row)).then_some(())
        });
    }

    /// Writes text and sends it.
    pub fn submit(&self, text: &str) {
        self.write(text);
        self.rest();
        self.press(&["Enter"]);
    }

    /// Waits until the screen stands still.
    pub fn rest(&self) {
        let mut last = (self.rows(), Instant::now());
        until("the screen is still", PATIENCE, || {
            let rows = self.rows();
            if rows != last.0 {
                last = (rows, Instant::now());
            }
            (last.1.elapsed() >= REST).then_some(())
        });
    }

    /// What stands in the composer; `None` if there is no composer.
    pub fn composer(&self) -> Option<String> {
        let rows = self.rows();
        let row = rows
            .iter()
            .rposition(|row| row.trim_start().starts_with(self.agent.glyph()))?;
        let text = rows[row]
            .trim_start()
            .trim_start_matches(self.agent.glyph())
            .trim();
        Some(if text == self.agent.placeholder() {
            String::new()
        } else {
            text.to_owned()
        })
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
