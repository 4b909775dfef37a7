//! A tmux server of a test's own: own socket, own folder, no configuration, ended with the test. The person's tmux is never touched.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tempfile::TempDir;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// One server, perhaps not running yet.
pub struct Tmux {
    folder: TempDir,
    name: String,
}

impl Tmux {
    /// A place for a server; none runs.
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            folder: tempfile::Builder::new().prefix("rr").tempdir().unwrap(),
            name: format!("rr-{}-{number}", std::process::id()),
        }
    }

    /// Its socket, whether there is one or not.
    pub fn socket(&self) -> PathBuf {
        let uid = rustix::process::getuid().as_raw();
        self.folder
            .path()
            .join(format!("tmux-{uid}"))
            .join(&self.name)
    }

    /// The folder tmux makes its sockets in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a tmux command that has to succeed; gives what it printed.
    pub fn run(&self, words: &[&str]) -> String {
        let output = self.attempt(words);
        assert!(
            output.status.success(),
            "tmux {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    /// Runs a tmux command that may fail.
    pub fn attempt(&self, words: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-L", &self.name, "-f", "/dev/null", "-u"])
            .args(words)
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .env("TMUX_TMPDIR", self.folder.path())
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("these tests need tmux")
    }

    /// A detached session of 100 by 30 that runs `command`; gives its pane's id.
    pub fn session(&self, name: &str, command: &str) -> String {
        self.run(&[
            "new-session",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-s",
            name,
            "-x",
            "100",
            "-y",
            "30",
            command,
        ])
    }

    /// A fact of a pane.
    pub fn ask(&self, pane: &str, format: &str) -> String {
        self.run(&["display-message", "-p", "-t", pane, format])
    }

    /// Joins the pane as `relayroom join` does.
    pub fn join(&self, pane: &str, code: &str, part: &str) {
        let pid = self.ask(pane, "#{pane_pid}");
        let value = format!("{code}/{part}/{pid}");
        self.run(&["set-option", "-p", "-t", pane, "@relayroom", &value]);
    }

    /// Ends the server and waits until it is gone.
    pub fn kill(&self) {
        self.run(&["kill-server"]);
        super::wait::until(Duration::from_secs(20), "the server is gone", || {
            !self.attempt(&["list-sessions"]).status.success()
                && std::os::unix::net::UnixStream::connect(self.socket()).is_err()
        });
    }

    /// What the pane shows.
    pub fn screen(&self, pane: &str) -> String {
        self.run(&["capture-pane", "-p", "-t", pane])
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        if self.socket().exists() {
            self.attempt(&["kill-server"]);
        }
    }
}
