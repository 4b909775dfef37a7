//! A joined folder with a home of its own, and the real hook run in it as a CLI runs it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use relayroom::hook::find::Joined;
use relayroom::hook::place::Place;
use relayroom::hook::post::Door;
use relayroom::hook::spool::Spool;
use serde_json::Value;
use serde_json::json;

use crate::support::scripted_hook_relay::HookRelay;

/// The connect code of all stages.
pub const CODE: &str = "CODEabcdefgh1234";

/// The token of all stages.
pub const TOKEN: &str = "rrp_abcdefghijklmnopqrstuvwxyz0123456789abcdefg";

/// The session of all events that name no other.
pub const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

/// A home, a joined worktree, and a scripted relay.
pub struct Stage {
    pub relay: HookRelay,
    pub folder: tempfile::TempDir,
    pub environment: Vec<(String, String)>,
}

impl Stage {
    /// A worktree joined as `web`.
    pub fn new() -> Self {
        let relay = HookRelay::start();
        let folder = tempfile::tempdir().unwrap();
        let stage = Self {
            relay,
            folder,
            environment: Vec::new(),
        };
        stage.join("shop", "web", "");
        stage
    }

    /// Joins a folder as a part, with further lines in its file.
    pub fn join(&self, folder: &str, part: &str, further: &str) {
        let config = self.path(folder).join(".relayroom/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::create_dir_all(self.path("home/.config/relayroom")).unwrap();
        let text = format!(
            "server = {:?}\ncode = {CODE:?}\npart = {part:?}\ntoken = {TOKEN:?}\n{further}",
            self.relay.url()
        );
        write_private(&config, &text);
    }

    /// A path in the stage.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The worktree.
    pub fn shop(&self) -> PathBuf {
        self.path("shop")
    }

    /// The one state folder, if there is one.
    pub fn state(&self) -> Option<PathBuf> {
        let all = fs::read_dir(self.path("home/.local/state/relayroom/hook")).ok()?;
        let mut folders = all.map(|entry| entry.unwrap().path());
        let first = folders.next();
        assert!(folders.next().is_none(), "more than one state folder");
        first
    }

    /// The log's lines.
    pub fn log(&self) -> Vec<String> {
        let path = self.state().map(|state| state.join("hook.log"));
        let text = path.and_then(|path| fs::read_to_string(path).ok());
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Lines waiting in the spool.
    pub fn spooled(&self) -> Vec<Value> {
        let path = self.state().map(|state| state.join("spool.jsonl"));
        let text = path.and_then(|path| fs::read_to_string(path).ok());
        text.unwrap_or_default()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The hook's command line as `join` installs it.
    pub fn command(&self, cli: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relayroom"));
        command
            .args(["hook", cli])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the hook on an event: it must end with 0, in time, without a word. Returns how long it took.
    pub fn fire(&self, cli: &str, event: &Value) -> Duration {
        run(self.command(cli), event.to_string().as_bytes())
    }

    /// Runs the hook on an event, and sends what a busy machine left in the spool.
    pub fn tell(&self, cli: &str, event: &Value) {
        self.fire(cli, event);
        self.send_spool();
    }

    /// Sends the spool, as the pager does.
    pub fn send_spool(&self) {
        let Some(state) = self.state() else {
            return;
        };
        let joined = Joined {
            server: self.relay.url(),
            code: CODE.to_owned(),
            part: "web".to_owned(),
            token: Some(TOKEN.to_owned()),
            joined_at: None,
            config: None,
            excerpts: false,
        };
        let door = Door::new(&joined).unwrap();
        let spool = Spool::of(&Place::at(&state));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(spool.send(&door, Duration::from_secs(20)));
    }

    /// An event of Claude in the worktree.
    pub fn claude(&self, name: &str, further: &Value) -> Value {
        self.event("shop", name, "prompt_id", further)
    }

    /// An event of a CLI in a folder; `turn` names the turn's field.
    pub fn event(&self, folder: &str, name: &str, turn: &str, further: &Value) -> Value {
        let mut event = json!({
            "session_id": SESSION,
            "cwd": self.path(folder),
            "hook_event_name": name,
        });
        if !turn.is_empty() {
            event[turn] = json!("turn-1");
        }
        for (name, value) in further.as_object().unwrap() {
            event[name] = value.clone();
        }
        event
    }
}

/// Writes a file that is its owner's alone.
pub fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// Starts the hook and hands it its event.
pub fn start(mut command: Command, event: &[u8]) -> Child {
    let mut child = command.spawn().unwrap();
    // A hook that has read enough may be gone before all is written.
    let _ = child.stdin.take().unwrap().write_all(event);
    child
}

/// Waits for the hook: 0, and not a word.
#[track_caller]
pub fn silent(child: Child) {
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// Runs the hook on an event.
#[track_caller]
pub fn run(command: Command, event: &[u8]) -> Duration {
    let begun = Instant::now();
    silent(start(command, event));
    begun.elapsed()
}
