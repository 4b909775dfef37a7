//! What all checks share: the relay's answers, asked once and in little time, and the worktrees joined on this machine.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::api::Health;
use crate::cli::client;
use crate::cli::client::Client;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::join::register::Register;
use crate::config;
use crate::config::File;
use crate::config::loopback;
use crate::store::Holder;
use crate::store::Store;
use crate::store::Time;

/// How long the relay may take for one answer: all of doctor is to take 5 s at most.
const ANSWER: Duration = Duration::from_secs(3);

/// What all checks share.
#[derive(Debug)]
pub struct Around {
    /// The time.
    pub now: Time,
    /// The relay's address.
    pub base: String,
    /// Whether that is this machine.
    pub here: bool,
    /// The database, links not resolved.
    pub db: PathBuf,
    /// What the relay says of its health; `None`: nothing.
    pub health: Option<Health>,
    /// Its process, where it is the relay of `db`.
    pub pid: Option<u32>,
    /// `GET /api/admin/status` over all projects.
    pub status: Result<Value, Failure>,
    /// `GET /api/admin/tokens`.
    pub tokens: Value,
    /// `GET /api/admin/projects`.
    pub projects: Value,
    /// The person's door to the relay.
    pub client: Option<Client>,
    /// Worktrees joined on this machine.
    pub joined: Vec<Joined>,
}

/// A worktree with a part in it.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Its root.
    pub root: PathBuf,
    /// The part.
    pub part: String,
    /// Its `.relayroom/config.toml`; why it cannot be read.
    pub file: Result<File, String>,
    /// Whether `join` knows it; else it is the folder the command was typed in.
    pub known: bool,
}

impl Joined {
    /// Its settings file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.root.join(".relayroom/config.toml")
    }
}

impl Around {
    /// Asks.
    pub async fn look(context: &Context) -> Self {
        let base = context.server();
        let here = loopback::is_loopback(&base);
        let db = context.db();
        let health = client::health(&base, ANSWER.min(Duration::from_secs(1))).await;
        let client = here
            .then(|| Client::at(&base, config::admin_token_file(&db), ANSWER).ok())
            .flatten();
        let (status, tokens, projects) = match &client {
            Some(client) if health.is_some() => tokio::join!(
                client.get("status", &[]),
                client.get("tokens", &[]),
                client.get("projects", &[]),
            ),
            _ => (Err(silent()), Err(silent()), Err(silent())),
        };
        Self {
            now: context.now(),
            here,
            pid: served_by(&db, &base),
            health,
            status,
            tokens: tokens.unwrap_or_default(),
            projects: projects.unwrap_or_default(),
            client,
            joined: joined(context),
            base,
            db,
        }
    }

    /// The command that ends the relay and starts it again.
    #[must_use]
    pub fn restart(&self) -> String {
        match self.pid {
            Some(pid) => format!("kill {pid} && sleep 2 && relayroom up"),
            None => "relayroom up".to_owned(),
        }
    }

    /// Projects that were not archived, by name.
    pub fn live_projects(&self) -> impl Iterator<Item = &str> {
        field::list(&self.projects, "projects")
            .iter()
            .filter(|project| field::word(project, "archivedAt").is_empty())
            .map(|project| field::word(project, "slug"))
    }

    /// The relay's list of that name in its status.
    #[must_use]
    pub fn listed(&self, name: &str) -> &[Value] {
        match &self.status {
            Ok(status) => status[name].as_array().map_or(&[], Vec::as_slice),
            Err(_) => &[],
        }
    }
}

fn silent() -> Failure {
    Failure::new(Exit::Unreachable, "unreachable", "the relay is silent")
}

/// The process of the relay that serves `db`, if it is the one at `base`.
fn served_by(db: &std::path::Path, base: &str) -> Option<u32> {
    let Holder { pid, address } = Store::holder(db)?;
    let alive = std::path::Path::new(&format!("/proc/{pid}")).exists();
    (alive && address == base).then_some(pid)
}

/// Every worktree of this machine with a part in it: those `join` knows, and the one the command is typed in, which may be a copy.
fn joined(context: &Context) -> Vec<Joined> {
    let register = Register::read(&context.env).unwrap_or_default();
    let mut all: Vec<Joined> = register
        .worktree
        .into_iter()
        .map(|known| {
            let root = known.root;
            let file = config::read_file(&root.join(".relayroom/config.toml"));
            Joined {
                file: file.map(|(file, _)| file).map_err(|bad| bad.cause),
                part: known.part,
                root,
                known: true,
            }
        })
        .collect();
    let settings = &context.settings;
    if let (Some(root), Some(part)) = (&settings.worktree_root, &settings.worktree.part)
        && all.iter().all(|one| one.root != *root)
    {
        all.push(Joined {
            root: root.clone(),
            part: part.clone(),
            file: Ok(settings.worktree.clone()),
            known: false,
        });
    }
    all
}
