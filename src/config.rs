//! Settings and places (cli.md 2): what a person set where, and which place won. The environment is captured once, by
//! [`Env::capture`]; everything else is given an [`Env`].

pub mod loopback;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;

/// Where the relay listens unless told otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:48801";

/// Where clients look for it unless told otherwise.
pub const DEFAULT_SERVER: &str = "http://127.0.0.1:48801";

/// Names of the environment that mean something to us; any other `RELAYROOM_…` is named in a warning.
const VARIABLES: &[&str] = &[
    "RELAYROOM_SERVER",
    "RELAYROOM_DB",
    "RELAYROOM_LISTEN",
    "RELAYROOM_CONFIG",
    "RELAYROOM_PROJECT",
    "RELAYROOM_PART",
    "RELAYROOM_TMUX_SOCKET",
    "RELAYROOM_LOG",
    "RELAYROOM_TOKEN",
    "RELAYROOM_MCP",
    "RELAYROOM_LEFT_OUT",
    "RELAYROOM_ATTEST_KEY_ID",
    "RELAYROOM_ATTEST_SECRET",
];

/// The process's surroundings, read once at start.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, OsString>,
    /// Folder the command was started in.
    pub cwd: PathBuf,
}

impl Env {
    /// Reads the environment: the only place that does.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub fn capture() -> Self {
        Self {
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
                .collect(),
            cwd: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// Surroundings made by hand, for tests.
    #[must_use]
    pub fn of<const N: usize>(variables: [(&str, &str); N], cwd: &Path) -> Self {
        Self {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .collect(),
            cwd: cwd.to_owned(),
        }
    }

    /// A variable's value; an empty one counts as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .and_then(|value| value.to_str())
            .filter(|value| !value.is_empty())
    }

    /// A variable that holds a path.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.variables
            .get(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }

    /// `RELAYROOM_` names that mean nothing: probably misspelt.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<&str> {
        self.variables
            .keys()
            .map(String::as_str)
            .filter(|name| name.starts_with("RELAYROOM_") && !VARIABLES.contains(name))
            .collect()
    }

    fn home(&self) -> PathBuf {
        self.path("HOME").unwrap_or_else(|| PathBuf::from("/"))
    }

    fn xdg(&self, name: &str, default: &str) -> PathBuf {
        self.path(name)
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| self.home().join(default))
            .join("relayroom")
    }

    /// `$XDG_CONFIG_HOME/relayroom`.
    #[must_use]
    pub fn config_dir(&self) -> PathBuf {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }

    /// `$XDG_DATA_HOME/relayroom`.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.xdg("XDG_DATA_HOME", ".local/share")
    }

    /// `$XDG_STATE_HOME/relayroom`.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.xdg("XDG_STATE_HOME", ".local/state")
    }

    /// The machine's pager token, `<state>/machine.token`.
    #[must_use]
    pub fn machine_token_file(&self) -> PathBuf {
        self.state_dir().join("machine.token")
    }
}

/// A settings file: `config.toml` of the person, or `.relayroom/config.toml` of a worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
#[expect(
    missing_docs,
    reason = "the names are those of cli.md 2 and access.md 8"
)]
pub struct File {
    pub server: Option<String>,
    pub db: Option<PathBuf>,
    pub project: Option<String>,
    pub code: Option<String>,
    pub part: Option<String>,
    pub agent: Option<String>,
    pub session: Option<String>,
    pub socket: Option<PathBuf>,
    pub token: Option<String>,
    pub agent_token: Option<String>,
    pub joined_at: Option<String>,
    pub listen: Option<OneOrMore>,
    pub public_url: Option<String>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    pub trusted_proxies: Vec<String>,
    pub relays: Vec<String>,
    pub prices: Option<String>,
    pub hook: Hook,
}

/// `[hook]`: counts only in the person's file (usage.md 10).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Hook {
    /// Whether a turn's end carries the beginning of its prompt and the end of its answer.
    pub excerpts: bool,
}

/// `listen = "a"` or `listen = ["a", "b"]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore {
    /// One address.
    One(String),
    /// Several.
    More(Vec<String>),
}

impl OneOrMore {
    /// As a list.
    #[must_use]
    pub fn list(&self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one.clone()],
            Self::More(more) => more.clone(),
        }
    }
}

/// Keys a settings file may hold.
const KEYS: &[&str] = &[
    "server",
    "db",
    "project",
    "code",
    "part",
    "agent",
    "session",
    "socket",
    "token",
    "agent_token",
    "joined_at",
    "listen",
    "public_url",
    "allowed_hosts",
    "allowed_origins",
    "trusted_proxies",
    "relays",
    "hook",
    "prices",
    "oauth",
];

/// A settings file that cannot be used: its place, and what is wrong there.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct BadFile {
    /// The file.
    pub path: PathBuf,
    /// Line and cause.
    pub cause: String,
}

/// Reads one settings file; absent is empty. Also returns the keys it does not know.
///
/// # Errors
/// [`BadFile`] with line and cause if it cannot be read or a value has the wrong form.
pub fn read_file(path: &Path) -> Result<(File, Vec<String>), BadFile> {
    let bad = |cause: String| BadFile {
        path: path.to_owned(),
        cause,
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok((File::default(), Vec::new()));
        }
        Err(error) => return Err(bad(error.to_string())),
    };
    let at = |error: &toml::de::Error| {
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .map_or(1, |before| before.matches('\n').count() + 1);
        format!("line {line}: {}", error.message())
    };
    let table: toml::Table = toml::from_str(&text).map_err(|error| bad(at(&error)))?;
    let unknown = table
        .keys()
        .filter(|key| !KEYS.contains(&key.as_str()))
        .cloned()
        .collect();
    let file = toml::from_str(&text).map_err(|error| bad(at(&error)))?;
    Ok((file, unknown))
}

/// What the layers say together: flag over environment over worktree over person over built in.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The nearest `.relayroom/config.toml` from the current folder up to the worktree's root.
    pub worktree: File,
    /// The folder that file's `.relayroom` is in.
    pub worktree_root: Option<PathBuf>,
    /// The person's `config.toml`.
    pub person: File,
    /// Things to warn about: unknown keys and variables.
    pub warnings: Vec<String>,
}

impl Settings {
    /// Reads both files.
    ///
    /// # Errors
    /// [`BadFile`] for a file that cannot be used.
    pub fn load(env: &Env) -> Result<Self, BadFile> {
        let found = match env.path("RELAYROOM_CONFIG") {
            Some(path) => Some(path),
            None => find_upwards(&env.cwd),
        };
        Self::of(env, found)
    }

    /// Reads the person's file alone: for commands that mend a worktree's.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn of_person(env: &Env) -> Result<Self, BadFile> {
        Self::of(env, None)
    }

    fn of(env: &Env, worktree: Option<PathBuf>) -> Result<Self, BadFile> {
        let mut settings = Self::default();
        let personal = env.config_dir().join("config.toml");
        let mut keep = |path: &Path, unknown: Vec<String>| {
            for key in unknown {
                settings
                    .warnings
                    .push(format!("{}: unknown key {key}", path.display()));
            }
        };
        let (person, unknown) = read_file(&personal)?;
        keep(&personal, unknown);
        if let Some(path) = worktree {
            let (worktree, unknown) = read_file(&path)?;
            keep(&path, unknown);
            settings.worktree = worktree;
            settings.worktree_root = path.parent().and_then(Path::parent).map(Path::to_path_buf);
        }
        settings.person = person;
        for name in env.unknown_variables() {
            settings.warnings.push(format!("unknown variable {name}"));
        }
        Ok(settings)
    }

    /// The relay's URL for clients.
    #[must_use]
    pub fn server(&self, flag: Option<&str>, env: &Env) -> String {
        flag.or_else(|| env.get("RELAYROOM_SERVER"))
            .or(self.worktree.server.as_deref())
            .or(self.person.server.as_deref())
            .unwrap_or(DEFAULT_SERVER)
            .trim_end_matches('/')
            .to_owned()
    }

    /// The database file.
    #[must_use]
    pub fn db(&self, flag: Option<&Path>, env: &Env) -> PathBuf {
        flag.map(Path::to_path_buf)
            .or_else(|| env.path("RELAYROOM_DB"))
            .or_else(|| self.person.db.clone())
            .unwrap_or_else(|| env.data_dir().join("relayroom.db"))
    }

    /// The addresses `serve` listens on.
    #[must_use]
    pub fn listen(&self, flag: &[String], env: &Env) -> Vec<String> {
        if !flag.is_empty() {
            return flag.to_vec();
        }
        if let Some(value) = env.get("RELAYROOM_LISTEN") {
            return value
                .split(',')
                .map(|part| part.trim().to_owned())
                .collect();
        }
        self.person
            .listen
            .as_ref()
            .map_or_else(|| vec![DEFAULT_LISTEN.to_owned()], OneOrMore::list)
    }

    /// The project commands work in, if one was named anywhere.
    #[must_use]
    pub fn project(&self, flag: Option<&str>, env: &Env) -> Option<String> {
        flag.or_else(|| env.get("RELAYROOM_PROJECT"))
            .or(self.worktree.project.as_deref())
            .or(self.person.project.as_deref())
            .map(str::to_owned)
    }
}

/// The nearest `.relayroom/config.toml` from `from` up to the root of its worktree (the folder with `.git`).
fn find_upwards(from: &Path) -> Option<PathBuf> {
    for folder in from.ancestors() {
        let candidate = folder.join(".relayroom/config.toml");
        if candidate.is_file() {
            return Some(candidate);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Where a person's own prices for a relay at `db` are: `prices.toml` beside it (usage.md 9).
#[must_use]
pub fn prices_file(db: &Path) -> PathBuf {
    db.with_file_name("prices.toml")
}

/// Where a relay at `db` keeps its admin token: `<database>.admin`.
#[must_use]
pub fn admin_token_file(db: &Path) -> PathBuf {
    let mut name = db.as_os_str().to_owned();
    name.push(".admin");
    PathBuf::from(name)
}

/// Reads a file with a secret in it, trimmed.
///
/// # Errors
/// The reason as text, with the mending command: missing, readable by group or others, or empty.
pub fn read_secret(path: &Path) -> Result<String, String> {
    use std::os::unix::fs::PermissionsExt;
    let show = path.display();
    let meta = std::fs::metadata(path).map_err(|error| format!("{show}: {error}"))?;
    if meta.permissions().mode() & 0o077 != 0 {
        return Err(format!("{show} is readable by others: chmod 600 {show}"));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{show}: {error}"))?;
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("{show} is empty"));
    }
    Ok(text.to_owned())
}

/// Writes a file with a secret in it: mode 0600, temporary name, synced, renamed.
///
/// # Errors
/// Any error of the file system; the old file stands then.
pub fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(name);
    let result = (|| {
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)?;
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            std::fs::File::open(folder)?.sync_all()?;
        }
        Ok(())
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    result
}
