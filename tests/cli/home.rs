//! A person's home: a folder with its own settings and places, and a relay that serves it.

use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;
use std::time::Instant;

use relayroom::config;
use relayroom::store::Store;
use serde_json::Value;

use crate::support::http::PATIENCE;
use crate::support::seat::Seat;

/// A home with a relay in it, killed when dropped.
pub struct Home {
    folder: tempfile::TempDir,
    relay: Option<Child>,
    /// Where the relay answers.
    pub address: String,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    /// Exit code.
    pub code: i32,
    /// Its result.
    pub out: String,
    /// Everything else it said.
    pub err: String,
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Its result as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Home {
    /// A home without anything.
    pub fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            relay: None,
            address: String::new(),
        }
    }

    /// A home whose relay answers.
    pub fn new() -> Self {
        let mut home = Self::empty();
        home.serve();
        home
    }

    /// A home with the project `shop` and its parts api and web.
    pub fn furnished() -> Self {
        let home = Self::new();
        home.furnish();
        home
    }

    /// Makes the project `shop` and its parts api and web.
    pub fn furnish(&self) {
        self.done(&["project", "new", "shop"]);
        self.done(&["part", "add", "web"]);
        self.done(&["part", "add", "api"]);
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn db(&self) -> PathBuf {
        self.path().join(".local/share/relayroom/relayroom.db")
    }

    pub fn state(&self) -> PathBuf {
        self.path().join(".local/state/relayroom")
    }

    /// The program with these arguments, in this home.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relayroom"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("USER", "kim")
            .env("RELAYROOM_SERVER", &self.address)
            .stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap())
    }

    /// Runs a command that is to succeed; its result.
    pub fn done(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.out
    }

    /// Runs a command with `--json` that is to succeed.
    pub fn json(&self, args: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(args);
        let ran = self.run(&all);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran.json()
    }

    /// Starts the relay and waits until it lets people in.
    pub fn serve(&mut self) {
        let child = self
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .env("RELAYROOM_LOG", "warn")
            .spawn()
            .unwrap();
        let pid = child.id();
        self.relay = Some(child);
        let begun = Instant::now();
        loop {
            let holder = Store::holder(&self.db()).filter(|holder| holder.pid == pid);
            if let Some(holder) = holder
                && config::admin_token_file(&self.db()).exists()
            {
                self.address = holder.address;
                if self.run(&["status"]).code == 0 {
                    return;
                }
            }
            assert!(begun.elapsed() < PATIENCE, "the relay does not answer");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut relay) = self.relay.take() {
            relay.kill().unwrap();
            relay.wait().unwrap();
        }
    }

    /// The place of a part of `shop`, with the token its `part add` wrote.
    pub fn seat(&self, part: &str) -> Seat {
        let file = self.state().join(format!("tokens/shop-{part}.token"));
        Seat {
            address: self.address.trim_start_matches("http://").parse().unwrap(),
            code: self.done(&["project", "code"]).trim().to_owned(),
            part: part.to_owned(),
            token: config::read_secret(&file).unwrap(),
        }
    }

    /// Calls a tool as a part.
    pub fn tool(&self, part: &str, tool: &str, arguments: &Value) -> Value {
        self.seat(part).tool(tool, arguments)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.kill();
    }
}
