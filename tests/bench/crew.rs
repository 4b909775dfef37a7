//! Twelve fake agents in panes of a private tmux server, and the real relay that has mail for them.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use relayroom::config;
use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Store;
use relayroom::store::system_clock;
use serde_json::json;
use tempfile::TempDir;

use crate::support::fake_agent::Agent;
use crate::support::pager::Home;
use crate::support::process::Served;
use crate::support::process::free_address;
use crate::support::seat::Seat;
use crate::support::tmux::Tmux;
use crate::support::wait::until;

/// Panes of the figures.
pub const PANES: usize = 12;
/// Parts that only send: nobody wakes the same part twice within its cooldown.
const SENDERS: usize = 40;
const LIMIT: Duration = Duration::from_secs(60);

/// All of it; it ends with the value.
pub struct Crew {
    pub tmux: Tmux,
    pub home: Home,
    pub agents: Vec<Agent>,
    _relay: Served,
    senders: Vec<Seat>,
    sent: usize,
    _folder: TempDir,
}

impl Crew {
    /// Everything runs but the pager.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("relay.db");
        let store = Store::open(&db, "", system_clock().0).unwrap();
        let (code, tokens) = found(&store);
        drop(store);
        let address = free_address();
        let relay = Served::start(&db, address);
        let (panes, senders) = tokens.split_at(PANES);
        let tmux = Tmux::new();
        let agents = panes
            .iter()
            .enumerate()
            .map(|(number, (part, secret))| {
                let file: PathBuf = folder.path().join(format!("{part}.token"));
                config::write_secret(&file, secret).unwrap();
                let style = ["claude", "codex", "gemini"][number % 3];
                let knobs = format!(
                    "--turn 700 --no-hook --relay http://{address} --code {code} --part {part} --token {}",
                    file.display()
                );
                let agent = Agent::named(style, &tmux, part, &knobs, "");
                tmux.join(&agent.pane, &code, part);
                agent
            })
            .collect();
        let senders = senders
            .iter()
            .map(|(part, secret)| Seat {
                address,
                code: code.clone(),
                part: part.clone(),
                token: secret.clone(),
            })
            .collect();
        Self {
            tmux,
            home: Home::new(),
            agents,
            _relay: relay,
            senders,
            sent: 0,
            _folder: folder,
        }
    }

    /// The pager's command; with `count`, each tmux child is counted in that file, at the price of a shell for each.
    pub fn pager(&self, count: Option<&PathBuf>) -> Command {
        let url = format!("http://{}", self.senders[0].address);
        let mut command = match count {
            Some(file) => {
                let script = format!("echo \"$*\" >> {}", file.display());
                self.home.with_tmux(&self.tmux, &url, &script)
            }
            None => {
                let mut command = self.home.command();
                command.args(["--server", &url, "--socket"]);
                command.arg(self.tmux.socket());
                command
            }
        };
        command.stdout(std::process::Stdio::null());
        command
    }

    /// Sends a message to the part of a pane, as yet another part; done when it is stored.
    pub fn send(&mut self, pane: usize) {
        let sender = &self.senders[self.sent % SENDERS];
        self.sent += 1;
        let part = name(pane);
        let arguments = json!({"to": [part], "subject": "figures", "body": "look at them"});
        let sent = sender.tool("send", &arguments);
        assert!(
            sent["thread_id"].is_string() || sent["threadId"].is_string(),
            "{sent}"
        );
    }

    /// Waits until that pane's agent was sent `count` prompts in all, and its turn is over.
    pub fn submitted(&self, pane: usize, count: usize) -> Duration {
        let begun = std::time::Instant::now();
        until(LIMIT, "the line is submitted", || {
            self.agents[pane].submits().len() >= count
        });
        begun.elapsed()
    }

    /// Waits until the pane stands as still as an idle one.
    pub fn rest(&self) {
        std::thread::sleep(Duration::from_secs(6));
    }
}

fn name(pane: usize) -> String {
    format!("pane-{pane}")
}

/// The project's code, and names and tokens of its parts: those of the panes, then the senders.
fn found(store: &Store) -> (String, Vec<(String, String)>) {
    let now = system_clock().0;
    store
        .write_blocking(move |tx| {
            identity::found(tx, "kim", now)?;
            let kim = people::first_owner(tx)?.seq;
            let shop = project::create(tx, kim, "shop", now)?;
            people::set_budget(tx, kim, Some(240), None)?;
            let senders = (0..SENDERS).map(|number| format!("sender-{number}"));
            let mut tokens = Vec::new();
            for part in (0..PANES).map(name).chain(senders) {
                part::add(tx, shop.seq, &part, kim, now)?;
                let binding = Binding::Agent {
                    project: shop.seq,
                    part: part.clone(),
                };
                let secret = token::issue(tx, kim, &binding, "", None, now)?.0;
                tokens.push((part, secret));
            }
            Ok((shop.connect_code, tokens))
        })
        .unwrap()
}
