//! A real relay, a real pager and a real agent CLI, with a model that the test scripts.

use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use relayroom::config;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::system_clock;
use serde_json::json;
use tempfile::TempDir;

use crate::agent::Agent;
use crate::install::install;
use crate::ledger;
use crate::ledger::Wake;
use crate::pane::Pane;
use crate::raise;
use crate::raise::Surroundings;
use crate::support::http::Call;
use crate::support::model_server::ModelServer;
use crate::support::process::Served;
use crate::support::process::ask;
use crate::support::process::free_address;
use crate::table::Seen;
use crate::wait::PATIENCE;
use crate::wait::until;

/// Everything one test needs. What it started ends with it.
pub struct Stage {
    pub agent: Agent,
    pub pane: Pane,
    pub model: ModelServer,
    relay: Served,
    pager: Option<Child>,
    code: String,
    pager_token: PathBuf,
    /// Prompts the test wrote itself.
    written: Vec<String>,
    /// What was seen of each wake so far.
    seen: Vec<Seen>,
    folder: TempDir,
}

impl Stage {
    /// Sets everything up: the agent idle and known to the relay, the pager running. `None` where the CLI cannot be had.
    pub fn ready(agent: Agent) -> Option<Self> {
        let mut stage = Self::raised(agent, true)?;
        stage.wait_for_agent();
        stage.start_pager();
        Some(stage)
    }

    /// Sets everything up but the pager, with a CLI that has just been started.
    pub fn raised(agent: Agent, trusted: bool) -> Option<Self> {
        let installed = install(agent)?;
        let folder = tempfile::Builder::new()
            .prefix("rr-real")
            .tempdir()
            .unwrap();
        let model = ModelServer::start();
        let db = folder.path().join("relay.db");
        let (now, _) = system_clock();
        let store = Store::open(&db, "", now).unwrap();
        let made = store
            .write_blocking(move |tx| raise::furnish(tx, now))
            .unwrap();
        drop(store);
        let address = free_address();
        let relay = Served::start(&db, address);
        let pager_token = folder.path().join("pager.token");
        fs::write(&pager_token, &made.pager).unwrap();
        fs::set_permissions(&pager_token, Permissions::from_mode(0o600)).unwrap();
        let pane = raise::start(
            agent,
            &installed.programs,
            &Surroundings {
                folder: folder.path(),
                mcp: &format!("http://{address}/mcp/{}?part=web", made.code),
                token: &made.agent,
                model: model.address,
                trusted,
            },
        );
        Some(Self {
            agent,
            pane,
            model,
            relay,
            pager: None,
            code: made.code,
            pager_token,
            written: Vec::new(),
            seen: Vec::new(),
            folder,
        })
    }

    /// Waits until the composer is empty and the relay has heard from the agent.
    pub fn wait_for_agent(&self) {
        until("the CLI starts", PATIENCE, || {
            (self.pane.composer() == Some(String::new())).then_some(())
        });
        until("the CLI calls the relay", PATIENCE, || {
            let part = &self.admin("GET", "parts", None)["parts"][0];
            part["lastSeen"].is_string().then_some(())
        });
        self.pane.rest();
    }

    pub fn db(&self) -> PathBuf {
        self.folder.path().join("relay.db")
    }

    /// A file that only a command nobody allowed would make.
    pub fn forbidden(&self) -> PathBuf {
        self.folder.path().join("forbidden")
    }

    pub fn start_pager(&mut self) {
        let home = self.folder.path().join("pager");
        fs::create_dir_all(&home).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_relayroom-pager"))
            .args(["--code", &self.code, "--part", "web", "--target", "web"])
            .args(["--server", &format!("http://{}", self.relay.address)])
            .arg("--socket")
            .arg(self.pane.socket())
            .arg("--token-file")
            .arg(&self.pager_token)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.pager = Some(child);
    }

    /// SIGKILL: no chance to tidy up.
    pub fn kill_pager(&mut self) {
        if let Some(mut child) = self.pager.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn kill_relay(&mut self) {
        self.relay.kill();
    }

    /// Serves the same file at the same address again.
    pub fn start_relay(&mut self) {
        self.relay = Served::start(&self.db(), self.relay.address);
    }

    /// A call as the person; its answer.
    fn admin(
        &self,
        method: &str,
        path: &str,
        body: Option<serde_json::Value>,
    ) -> serde_json::Value {
        let secret = config::read_secret(&config::admin_token_file(&self.db())).unwrap();
        let mut call =
            Call::new(self.relay.address, method, &format!("/api/admin/{path}")).bearer(&secret);
        if let Some(body) = body {
            call = call.json(&body);
        }
        let reply = ask(&call).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()
    }

    /// The person sends the agent a message.
    pub fn send(&self, subject: &str) {
        let message = json!({"to": ["web"], "subject": subject, "body": "Which one do we need?"});
        self.admin("POST", "messages", Some(message));
    }

    /// Writes a prompt to the agent, sends it, and waits until its model has it.
    pub fn prompt(&mut self, text: &str) {
        self.written.push(text.to_owned());
        self.pane.submit(text);
        until("the prompt reaches the model", PATIENCE, || {
            let prompts = self.model.prompts();
            prompts.iter().any(|prompt| prompt == text).then_some(())
        });
    }

    pub fn wakes(&self) -> Vec<Wake> {
        ledger::wakes(&self.db())
    }

    /// The wake not yet accounted for, once the relay has issued it.
    pub fn open_wake(&self) -> Option<Wake> {
        self.wakes().into_iter().nth(self.seen.len())
    }

    /// Waits until that wake is held for `reason`; as `reason/detail`.
    pub fn held(&self, reason: &str) -> String {
        let what = format!("the wake is held by {reason}");
        until(&what, PATIENCE, || {
            self.open_wake()?
                .hold
                .filter(|hold| hold.starts_with(reason))
        })
    }

    /// Waits until that wake's line is submitted.
    pub fn presented(&self) -> Wake {
        until("the wake is presented", PATIENCE, || {
            self.open_wake().filter(|wake| wake.presented.is_some())
        })
    }

    /// Waits until that wake is consumed and its turn is over, and accounts for it. `freed`: when what held it was gone.
    pub fn woken(&mut self, freed: Option<Time>) -> Seen {
        self.presented();
        let wake = until("the wake is consumed", PATIENCE, || {
            self.open_wake().filter(|wake| wake.outcome.is_some())
        });
        assert_eq!(wake.outcome.as_deref(), Some("consumed"));
        until("the turn ends", PATIENCE, || {
            let heard = self.model.heard();
            let last = heard.iter().rfind(|heard| !heard.side)?;
            (last.ends_turn() && last.done.is_some()).then_some(())
        });
        let heard = self.model.heard();
        let submitted = heard.iter().find(|heard| {
            heard
                .prompts
                .iter()
                .any(|prompt| prompt.contains(&wake.tag))
        });
        let seen = Seen {
            submitted: submitted.unwrap().at.0,
            wake,
            freed: freed.map(|time| time.0),
        };
        self.seen.push(seen.clone());
        seen
    }

    /// Looks for whatever should not be there, enters what was seen into the table, and fails if anything is wrong.
    pub fn finish(self, scenario: &str) {
        self.pane.rest();
        let wakes = self.wakes();
        let mut stray = Vec::new();
        let mut due: Vec<String> = self.written.clone();
        for wake in &wakes {
            due.extend(vec![line(&wake.tag); wake.nudges as usize]);
        }
        for prompt in self.model.prompts() {
            match due.iter().position(|text| *text == prompt.trim()) {
                Some(at) => drop(due.remove(at)),
                None => stray.push(format!("prompt {prompt:?}")),
            }
        }
        if self.forbidden().exists() {
            stray.push("a command ran".to_owned());
        }
        match self.pane.composer() {
            Some(text) if text.is_empty() => {}
            text => stray.push(format!("composer {text:?}")),
        }
        crate::table::enter(
            self.agent,
            scenario,
            &self.pane.version(),
            &self.seen,
            stray.len(),
        );
        assert_eq!(stray, Vec::<String>::new());
        assert_eq!(due, Vec::<String>::new(), "never reached the model");
        assert_eq!(wakes.len(), self.seen.len(), "{wakes:#?}");
        for wake in &wakes {
            assert_eq!(wake.nudges, 1, "{wake:?}");
        }
    }

    /// What a person would want to see of a test that failed.
    fn evidence(&self) {
        let log = self
            .folder
            .path()
            .join("pager/.local/state/relayroom/pager.log");
        let log = fs::read_to_string(log).unwrap_or_default();
        let tail: Vec<&str> = log.lines().rev().take(40).collect();
        println!(
            "--- screen\n{}",
            self.pane.screen().unwrap_or_else(|why| why)
        );
        println!("--- pager's log, newest first\n{}", tail.join("\n"));
        println!("--- wakes\n{:#?}", self.wakes());
        println!("--- model\n{:#?}", self.model.heard());
        println!("--- refused outside\n{:?}", self.model.outside());
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.evidence();
        }
        if let Some(mut child) = self.pager.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        raise::end_all_of(&self.folder.path().join("home"));
    }
}

/// The line the relay has typed for a wake.
fn line(tag: &str) -> String {
    format!("relayroom: you have mail, call the inbox tool (tag {tag})")
}
