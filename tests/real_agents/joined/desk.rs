//! A person's desk: a home, a repository, a relay, a model, and parts that `relayroom join` seats there.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;

use crate::agent::Agent;
use crate::agent::Place;
use crate::install::install;
use crate::ledger;
use crate::ledger::Wake;
use crate::pane::Pane;
use crate::raise;
use crate::support::model_server::Block;
use crate::support::model_server::Heard;
use crate::support::model_server::ModelServer;
use crate::support::process::Served;
use crate::support::process::free_address;
use crate::wait::PATIENCE;
use crate::wait::until;

/// A desk; what was started on it ends with it.
pub struct Desk {
    pub agent: Agent,
    pub model: ModelServer,
    _relay: Served,
    /// What the person's shell holds.
    env: Vec<(&'static str, String)>,
    folder: TempDir,
}

/// A part in a worktree of its own.
pub struct Part {
    pub name: &'static str,
    pub pane: Pane,
}

impl Desk {
    /// `None` where the CLI cannot be had.
    pub fn new(agent: Agent) -> Option<Self> {
        let installed = install(agent)?;
        let folder = tempfile::Builder::new().prefix("rr").tempdir().unwrap();
        let model = ModelServer::start();
        let home = folder.path().join("home");
        fs::create_dir_all(folder.path().join("relay")).unwrap();
        let db = folder.path().join("relay/relayroom.db");
        let relay = Served::start(&db, free_address());
        let launch = agent.prepare(&Place {
            home: &home,
            folder: folder.path(),
            relay: None,
            model: model.address,
            trusted: false,
            programs: &installed.programs,
        });
        let mut env = launch.env;
        env.extend([
            ("RELAYROOM_SERVER", format!("http://{}", relay.address)),
            ("RELAYROOM_DB", db.display().to_string()),
            ("TMUX_TMPDIR", folder.path().display().to_string()),
            ("SHELL", "/bin/sh".to_owned()),
        ]);
        let desk = Self {
            agent,
            model,
            _relay: relay,
            env,
            folder,
        };
        desk.repository();
        Some(desk)
    }

    /// A repository `shop` with a commit.
    fn repository(&self) {
        let shop = self.path("shop");
        fs::create_dir_all(&shop).unwrap();
        self.git(&["init", "-q", "-b", "main"]);
        fs::write(shop.join("README.md"), "A shop.\n").unwrap();
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "A shop"]);
    }

    fn git(&self, words: &[&str]) {
        let mut command = self.command(&self.path("shop"), "git");
        command.args(["-c", "user.name=Kim", "-c", "user.email=kim@example.org"]);
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, folder: &Path, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// What a command of ours printed, typed in a folder.
    fn relayroom(&self, folder: &Path, words: &[&str]) -> Value {
        let mut command = self.command(folder, env!("CARGO_BIN_EXE_relayroom"));
        let output = command.args(words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{words:?}: {output:?}");
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{words:?}: {why}: {text}"))
    }

    /// What a command with `--json` printed, typed in the repository.
    pub fn json(&self, words: &[&str]) -> Value {
        self.relayroom(&self.path("shop"), words)
    }

    /// Joins a part in a worktree of its own, which starts its CLI.
    pub fn join(&self, name: &'static str) -> Part {
        self.seat(name, &[], "started")
    }

    /// Joins a part and leaves its CLI to `up`.
    pub fn join_without_start(&self, name: &'static str) -> Part {
        self.seat(name, &["--no-start"], "not started")
    }

    fn seat(&self, name: &'static str, flags: &[&str], state: &str) -> Part {
        let root = self.path(&format!("shop-{name}"));
        let path = root.display().to_string();
        self.git(&["worktree", "add", "-q", "-b", name, &path]);
        let words = ["join", name, "--agent", self.agent.program(), "--json"];
        let joined = self.relayroom(&root, &[&words, flags].concat());
        println!("joined: {joined}");
        assert_eq!(joined["state"], state, "{joined}");
        let user = rustix::process::getuid().as_raw();
        let socket = self.path(&format!("tmux-{user}/default"));
        let session = joined["session"].as_str().unwrap();
        Part {
            name,
            pane: Pane::at(self.agent, socket, session),
        }
    }

    /// Answers what the CLI asks at its start, as a person does, until its composer waits.
    pub fn begin(&self, part: &Part) {
        until("the CLI starts", PATIENCE, || {
            if self.answers(part) {
                return None;
            }
            let waits = part.pane.composer() == Some(String::new());
            let started = self.agent.started().is_none_or(|row| part.pane.shows(row));
            (waits && started).then_some(())
        });
        part.pane.rest();
    }

    /// Brings everything back.
    pub fn up(&self) {
        let up = self.json(&["up", "--json"]);
        println!("up: {up}");
    }

    /// Registers every hook a second time, in words of the person's own.
    pub fn register_a_second_hook(&self) {
        let program = env!("CARGO_BIN_EXE_relayroom");
        let command = format!(
            "echo >>{}; exec {program} hook {} 2>/dev/null",
            self.second_hook_ran().display(),
            self.agent.program()
        );
        self.agent.register(&self.path("home"), &command);
    }

    /// A file that the second hook makes.
    pub fn second_hook_ran(&self) -> PathBuf {
        self.path("second")
    }

    /// Writes a prompt and sends it; its model has it then.
    pub fn submit(&self, part: &Part, prompt: &str) {
        part.pane.submit(prompt);
        until("the prompt reaches the model", PATIENCE, || {
            let prompts = self.model.prompts();
            prompts.iter().any(|said| said == prompt).then_some(())
        });
    }

    /// Sends a prompt; what the model said in the end. Questions are answered yes.
    pub fn ask(&self, part: &Part, prompt: &str) -> String {
        self.submit(part, prompt);
        self.allowing(part, || self.ended(|heard| heard.turn == prompt))
    }

    pub fn until_answered(&self, prompt: &str) {
        until("the turn ends", PATIENCE, || {
            self.ended(|heard| heard.turn == prompt)
        });
    }

    fn allowing<T>(&self, part: &Part, mut done: impl FnMut() -> Option<T>) -> T {
        until("the turn ends", PATIENCE, || {
            let found = done();
            if found.is_none() {
                self.answers(part);
            }
            found
        })
    }

    /// Answers a question of the CLI's that is on the screen, as a person does; whether there was one.
    fn answers(&self, part: &Part) -> bool {
        let mut questions = self.agent.first_questions();
        questions.extend(self.agent.tool_question());
        let asked = questions.iter().find(|(row, _)| part.pane.shows(row));
        if let Some((_, keys)) = asked {
            part.pane.rest();
            part.pane.press(keys);
            part.pane.rest();
        }
        asked.is_some()
    }

    /// The last words of a turn that has ended.
    fn ended(&self, of: impl Fn(&Heard) -> bool) -> Option<String> {
        let heard = self.model.heard();
        let last = heard.iter().rfind(|heard| !heard.side && of(heard))?;
        last.done.filter(|_| last.ends_turn())?;
        last.answer.iter().find_map(|block| match block {
            Block::Text(text) => Some(text.clone()),
            Block::Call { .. } => None,
        })
    }

    /// Sends a part a message.
    pub fn send(&self, part: &str) {
        let words = ["send", part, "Which one?", "-m", "Which one do we need?"];
        self.json(&[&words[..], &["--json"]].concat());
    }

    /// Sends a part a message and waits until the wake for it is consumed and its turn is over; the wake's tag.
    pub fn wake(&self, part: &Part) -> String {
        let known = self.wakes().len();
        self.send(part.name);
        self.woken(part, known)
    }

    /// Waits until the wake after so many known ones is consumed and its turn is over; its tag.
    pub fn woken(&self, part: &Part, known: usize) -> String {
        let wake = self.allowing(part, || {
            let wake = self.wakes().into_iter().nth(known);
            wake.filter(|wake| wake.outcome.is_some())
        });
        assert_eq!(wake.outcome.as_deref(), Some("consumed"), "{wake:?}");
        assert_eq!(wake.nudges, 1, "{wake:?}");
        self.allowing(part, || self.ended(|heard| heard.turn.contains(&wake.tag)));
        wake.tag
    }

    /// All wakes, oldest first.
    pub fn wakes(&self) -> Vec<Wake> {
        ledger::wakes(&self.db())
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("relay/relayroom.db")
    }

    /// Waits until the roster says that of a part, by the word of its hook.
    pub fn until_state(&self, part: &str, state: &str) {
        let begun = Instant::now();
        until(&format!("{part} is {state}"), 2 * PATIENCE, || {
            let roster = self.json(&["roster", "--json"]);
            let parts = roster["parts"].as_array()?;
            let found = parts.iter().find(|known| known["part"] == part)?;
            (found["state"] == state && found["source"] == "hook").then_some(())
        });
        println!("{part} is {state} after {:?}", begun.elapsed());
    }

    /// Wakes beside turns of a part, all days together.
    pub fn turns(&self, part: &str) -> Value {
        let page = self.json(&["usage", "--json"]);
        let lines = page["reconcile"].as_array().unwrap();
        let lines: Vec<&Value> = lines.iter().filter(|line| line["part"] == part).collect();
        let sum = |name: &str| -> u64 {
            let numbers = lines.iter().filter_map(|line| line[name].as_u64());
            numbers.sum()
        };
        let names = [
            "issued",
            "presented",
            "woken",
            "duplicates",
            "human",
            "self",
            "foreignTags",
        ];
        let sums = names.map(|name| (name.to_owned(), json!(sum(name))));
        Value::Object(sums.into_iter().collect())
    }

    /// The tags of the wakes that caused turns with replies.
    pub fn causes(&self) -> Vec<String> {
        let page = self.json(&["usage", "--json", "--by", "wake"]);
        let rows = page["rows"].as_array().unwrap().iter();
        let tags = rows.filter_map(|row| row["tag"].as_str());
        tags.filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// The CLI's session that the newest turn belongs to.
    pub fn session(&self) -> String {
        ledger::session(&self.db())
    }

    fn evidence(&self) {
        let log = self.path("home/.local/state/relayroom");
        let pager = fs::read_to_string(log.join("pager.log")).unwrap_or_default();
        println!("--- pager's log\n{pager}");
        for entry in fs::read_dir(log.join("hook"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let text = fs::read_to_string(entry.path().join("hook.log")).unwrap_or_default();
            println!("--- {}\n{text}", entry.path().display());
        }
        println!("--- wakes\n{:#?}", self.wakes());
        println!("--- turns\n{:#?}", ledger::turns(&self.db()));
        for heard in self.model.heard() {
            println!("{heard:?}");
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let screen = self.pane.screen().unwrap_or_else(|why| why);
            println!("--- screen of {}\n{screen}", self.name);
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.evidence();
        }
        raise::end_all_of(&self.folder.path().join("home"));
    }
}
