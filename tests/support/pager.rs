//! The pager as a process of its own, with a home of its own.

use std::fs;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use relayroom::config::Env;
use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;
use tempfile::TempDir;

use super::scripted_relay::CODE;
use super::scripted_relay::Relay;
use super::tmux::Tmux;

/// A person's home folder: what outlives the pager's process.
pub struct Home {
    folder: TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self {
            folder: tempfile::Builder::new().prefix("home").tempdir().unwrap(),
        }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The pager's state folder.
    pub fn state(&self) -> PathBuf {
        self.path(".local/state/relayroom")
    }

    /// The pager's log.
    pub fn log(&self) -> String {
        fs::read_to_string(self.state().join("pager.log")).unwrap_or_default()
    }

    /// The pager's command with a cleared environment.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relayroom-pager"));
        command
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// The pager's command with a stand-in for tmux first in `PATH`: a shell script that finds the real one by itself.
    pub fn with_stand_in(&self, tmux: &Tmux, relay: &Relay, script: &str) -> Command {
        self.with_tmux(tmux, &relay.url(), script)
    }

    /// The same for the relay at `url`.
    pub fn with_tmux(&self, tmux: &Tmux, url: &str, script: &str) -> Command {
        let folder = self.path("bin");
        fs::create_dir_all(&folder).unwrap();
        let path = search_path();
        let program = folder.join("tmux");
        fs::write(
            &program,
            format!("#!/bin/sh\nPATH='{path}'\n{script}\nexec tmux \"$@\"\n"),
        )
        .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = self.command();
        command
            .env("PATH", format!("{}:{path}", folder.display()))
            .args(["--server", url, "--socket"])
            .arg(tmux.socket());
        command
    }

    /// Starts the pager on this server and relay, with `more` arguments.
    pub fn pager(&self, tmux: &Tmux, relay: &Relay, more: &[&str]) -> Pager {
        let mut command = self.command();
        command
            .arg("--server")
            .arg(relay.url())
            .arg("--socket")
            .arg(tmux.socket())
            .args(more);
        Pager::spawn(command, self)
    }

    /// Starts it for one part and target.
    pub fn pager_for(&self, tmux: &Tmux, relay: &Relay, part: &str, target: &str) -> Pager {
        self.pager(
            tmux,
            relay,
            &["--code", CODE, "--part", part, "--target", target],
        )
    }
}

/// Where programs are found.
fn search_path() -> String {
    Env::capture().get("PATH").unwrap().to_owned()
}

/// A pager's process; killed with the value.
pub struct Pager {
    child: Child,
    stderr: PathBuf,
}

impl Pager {
    /// Starts a prepared command.
    pub fn spawn(mut command: Command, home: &Home) -> Self {
        let stderr = home.path(&format!("stderr-{}", relayroom::store::new_id()));
        let child = command
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        Self { child, stderr }
    }

    /// Ends it as a person or a service manager does; gives how, and how long it took.
    pub fn stop(mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        self.signal(Signal::TERM);
        (self.child.wait().unwrap(), begun.elapsed())
    }

    /// Ends it without warning.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end; gives exit code, standard output and standard error.
    pub fn finish(mut self, limit: Duration) -> (i32, String, String) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                begun.elapsed() < limit,
                "the pager still runs after {limit:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        };
        let mut out = String::new();
        std::io::Read::read_to_string(self.child.stdout.as_mut().unwrap(), &mut out).unwrap();
        let err = fs::read_to_string(&self.stderr).unwrap();
        (status.code().unwrap(), out, err)
    }

    /// Whether it runs.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
