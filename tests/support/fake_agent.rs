//! The fake agent of `examples/fake_agent` in a pane, its log, and its knobs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::tmux::Tmux;
use super::wait::until;

/// One agent.
pub struct Agent {
    folder: TempDir,
    name: &'static str,
    /// Its pane.
    pub pane: String,
}

/// Where cargo put the example: beside the folder of the test binary.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = profile.join("examples/fake_agent");
    assert!(
        program.exists(),
        "{} is not built: cargo build --example fake_agent",
        program.display()
    );
    program
}

impl Agent {
    /// An agent that looks like Claude Code in a session of its own, ready for keys.
    pub fn start(tmux: &Tmux, session: &str, knobs: &str) -> Self {
        Self::named("claude", tmux, session, knobs, "")
    }

    /// The same under a shell that goes on with `after` when the agent leaves.
    pub fn under_shell(tmux: &Tmux, session: &str, knobs: &str, after: &str) -> Self {
        Self::named("claude", tmux, session, knobs, after)
    }

    /// An agent called and looking like `name`.
    pub fn named(name: &'static str, tmux: &Tmux, session: &str, knobs: &str, after: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("agent").tempdir().unwrap();
        symlink(program(), folder.path().join(name)).unwrap();
        rustix::fs::mkfifoat(
            rustix::fs::CWD,
            folder.path().join("ctl"),
            rustix::fs::Mode::from_raw_mode(0o600),
        )
        .unwrap();
        let mut agent = Self {
            folder,
            name,
            pane: String::new(),
        };
        let command = agent.command(knobs, after);
        agent.pane = tmux.session(session, &command);
        agent.is_up(tmux);
        agent
    }

    /// The shell command that starts this agent with these knobs.
    pub fn command(&self, knobs: &str, after: &str) -> String {
        let path = self.folder.path().display();
        let style = self.name;
        let run =
            format!("{path}/{style} --style {style} --log {path}/log --ctl {path}/ctl {knobs}");
        if after.is_empty() {
            format!("cd {path}; exec {run}")
        } else {
            format!("cd {path}; {run}; {after}")
        }
    }

    /// Waits until it has drawn itself.
    pub fn is_up(&self, tmux: &Tmux) {
        until(Duration::from_secs(20), "the agent draws", || {
            tmux.screen(&self.pane).contains("ready to help")
        });
    }

    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        // The last line may be half written.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Every byte it ever got.
    pub fn bytes(&self) -> Vec<u8> {
        self.log()
            .iter()
            .filter_map(|line| u8::try_from(line["byte"].as_u64()?).ok())
            .collect()
    }

    /// Every prompt that was submitted.
    pub fn submits(&self) -> Vec<String> {
        self.log()
            .iter()
            .filter(|line| line["event"] == "submit")
            .map(|line| line["text"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Keys a dialog got.
    pub fn dialog_keys(&self) -> usize {
        self.notes("dialog")
    }

    /// How often the agent noted such an event.
    pub fn notes(&self, event: &str) -> usize {
        self.log()
            .iter()
            .filter(|line| line["event"] == event)
            .count()
    }

    /// How often a paste frame began.
    pub fn pastes(&self) -> usize {
        let bytes = self.bytes();
        bytes.windows(6).filter(|six| six == b"\x1b[200~").count()
    }

    /// How often the key Enter came.
    pub fn enters(&self) -> usize {
        self.bytes().iter().filter(|byte| **byte == b'\r').count()
    }

    /// Turns a knob.
    pub fn knob(&self, line: &str) {
        let fifo = self.folder.path().join("ctl");
        let mut line = line.to_owned();
        line.push('\n');
        until(Duration::from_secs(20), "the agent reads its FIFO", || {
            fs::OpenOptions::new()
                .write(true)
                .custom_flags(i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap())
                .open(&fifo)
                .and_then(|mut file| file.write_all(line.as_bytes()))
                .is_ok()
        });
    }

    /// Process id of the agent itself.
    pub fn pid(&self) -> rustix::process::Pid {
        let link = self.folder.path().join(self.name);
        let link = link.to_str().unwrap();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let pid = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok());
            if words.starts_with(link.as_bytes())
                && let Some(pid) = pid.and_then(rustix::process::Pid::from_raw)
            {
                return pid;
            }
        }
        panic!("no process {link}");
    }
}
