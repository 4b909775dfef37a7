//! What arguments, settings and surroundings come to, before anything runs (pager.md 1).

use std::fs;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use sha2::Digest;

use super::args::Args;
use super::client::Token;
use super::facts::PaneFacts;
use super::lock;
use super::proc::Snapshot;
use super::rules::Rules;
use super::target::PartKey;
use crate::config;
use crate::config::Env;
use crate::config::Settings;
use crate::config::loopback::is_loopback;

/// Exit codes (pager.md 7).
pub mod exit {
    /// Done or stopped.
    pub const DONE: u8 = 0;
    /// A fault.
    pub const FAULT: u8 = 1;
    /// Bad arguments, target, token file or tmux.
    pub const BAD: u8 = 2;
    /// `--once`: the relay refused.
    pub const REFUSED: u8 = 3;
    /// Part or pane are held by another pager.
    pub const HELD: u8 = 4;
    /// `--once`: a wake is held back.
    pub const BACK: u8 = 5;
}

/// Why the pager does not run, or no longer.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Quit {
    /// One of [`exit`].
    pub code: u8,
    /// What to tell the person.
    pub text: String,
}

impl Quit {
    /// Something the person can mend.
    #[must_use]
    pub fn bad(text: impl Into<String>) -> Self {
        Self {
            code: exit::BAD,
            text: text.into(),
        }
    }

    /// Something they cannot.
    #[must_use]
    pub fn fault(text: impl Into<String>) -> Self {
        Self {
            code: exit::FAULT,
            text: text.into(),
        }
    }
}

/// Everything that stays the same while the pager runs.
#[derive(Debug)]
pub struct Setup {
    /// Serve parts of this code only.
    pub code: Option<String>,
    /// With `--part` and `--target`: the one part and its target.
    pub fixed: Option<(PartKey, String)>,
    /// `--once`.
    pub once: bool,
    /// The relay's URL.
    pub server: String,
    /// The bearer token's place.
    pub token: Token,
    /// The tmux socket.
    pub socket: PathBuf,
    /// Folder for log, journal and locks.
    pub state: PathBuf,
    /// Rule tables.
    pub rules: Rules,
    /// Names this pager to the relay; the same after a restart.
    pub pager: String,
    /// Host name.
    pub machine: String,
    /// What a lock says about us.
    pub holder: String,
    /// Settings that mean nothing.
    pub warnings: Vec<String>,
    /// The surroundings, for what is not the pager's own: the hooks' folders.
    pub env: Env,
    own: Own,
}

/// The pane this process runs in, which it never types into.
#[derive(Debug)]
struct Own {
    /// `$TMUX_PANE` and the pid in `$TMUX`, when that is the server we look at.
    pane: Option<(String, i32)>,
    ancestors: Vec<i32>,
}

impl Setup {
    /// Resolves arguments and surroundings; makes the state folder and the machine file.
    ///
    /// # Errors
    /// [`Quit`] with exit code 2 for what a person can mend, 1 for what they cannot.
    pub fn of(args: &Args, env: &Env) -> Result<Self, Quit> {
        let settings = Settings::load(env).map_err(|error| Quit::bad(error.to_string()))?;
        let server = settings.server(args.server.as_deref(), env);
        let token = token(args, env, &server)?;
        let state = env.state_dir();
        for folder in [&state, &state.join("journal"), &state.join("locks")] {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(|error| Quit::fault(format!("{}: {error}", folder.display())))?;
        }
        let socket = socket(args.socket.as_deref(), env);
        let machine = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let snapshot = Snapshot::take().unwrap_or_default();
        let pid = std::process::id();
        let own_pid = i32::try_from(pid).unwrap_or_default();
        let start = crate::store::Time(snapshot.start(own_pid).unwrap_or_default());
        Ok(Self {
            code: args.code.clone(),
            fixed: match (&args.code, &args.part, &args.target) {
                (Some(code), Some(part), Some(target)) => Some((
                    PartKey {
                        code: code.clone(),
                        part: part.clone(),
                    },
                    target.clone(),
                )),
                _ => None,
            },
            once: args.once,
            server,
            token,
            rules: rules(env)?,
            pager: pager_id(&state, &machine)?,
            machine,
            holder: lock::holder(pid, &start.rfc3339()),
            warnings: settings.warnings,
            env: env.clone(),
            own: Own {
                pane: own_pane(env, &socket),
                ancestors: snapshot.ancestors(own_pid),
            },
            socket,
            state,
        })
    }

    /// Whether the pane is the pager's own.
    #[must_use]
    pub fn is_own(&self, pane: &PaneFacts) -> bool {
        let identity = &pane.identity;
        self.own.ancestors.contains(&identity.pane_pid)
            || self
                .own
                .pane
                .as_ref()
                .is_some_and(|(id, server)| *id == identity.pane && *server == identity.server_pid)
    }

    /// Folder of the journals.
    #[must_use]
    pub fn journals(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// Folder of the locks of processes and parts.
    #[must_use]
    pub fn locks(&self) -> PathBuf {
        self.state.join("locks")
    }
}

fn token(args: &Args, env: &Env, server: &str) -> Result<Token, Quit> {
    let path = match &args.token_file {
        Some(path) => path.clone(),
        None => {
            let path = env.machine_token_file();
            if !path.exists() {
                if is_loopback(server) {
                    return Ok(Token::None);
                }
                return Err(Quit::bad(format!(
                    "{}: no token for a relay on another machine; run relayroom join, or give --token-file",
                    path.display()
                )));
            }
            path
        }
    };
    config::read_secret(&path).map_err(Quit::bad)?;
    Ok(Token::File(path))
}

/// The tmux socket: what was said, else the one we were started in, else tmux's default.
#[must_use]
pub fn socket(flag: Option<&Path>, env: &Env) -> PathBuf {
    if let Some(path) = flag {
        return path.to_owned();
    }
    if let Some(path) = env.path("RELAYROOM_TMUX_SOCKET") {
        return path;
    }
    if let Some(path) = env.get("TMUX").and_then(|tmux| tmux.split(',').next()) {
        return PathBuf::from(path);
    }
    let folder = env.path("TMUX_TMPDIR").unwrap_or_else(|| "/tmp".into());
    let uid = rustix::process::getuid().as_raw();
    folder.join(format!("tmux-{uid}")).join("default")
}

/// `$TMUX_PANE`, if `$TMUX` names the same socket: the same device and inode, however it is spelt.
fn own_pane(env: &Env, socket: &Path) -> Option<(String, i32)> {
    let mut tmux = env.get("TMUX")?.split(',');
    let own = lock::socket_id(Path::new(tmux.next()?))?;
    let server = tmux.next()?.parse().ok()?;
    (lock::socket_id(socket)? == own).then_some(())?;
    Some((env.get("TMUX_PANE")?.to_owned(), server))
}

fn rules(env: &Env) -> Result<Rules, Quit> {
    let path = env.config_dir().join("pager-rules.toml");
    let own = match fs::read_to_string(&path) {
        Ok(text) => Rules::parse(&text)
            .map_err(|error| Quit::bad(format!("{}: {error}", path.display())))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Rules::shipped()),
        Err(error) => return Err(Quit::bad(format!("{}: {error}", path.display()))),
    };
    Ok(Rules::shipped().overridden(own))
}

/// A name that outlives restarts, and differs on a machine with a copy of the home folder.
fn pager_id(state: &Path, host: &str) -> Result<String, Quit> {
    let path = state.join("machine");
    let fail = |error: std::io::Error| Quit::fault(format!("{}: {error}", path.display()));
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    match made {
        Ok(mut file) => {
            let random: [u8; 16] = rand::random();
            file.write_all(hex(&random).as_bytes()).map_err(fail)?;
            file.sync_all().map_err(fail)?;
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(fail(error)),
    }
    let machine = fs::read_to_string(&path).map_err(fail)?;
    let id = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let uid = rustix::process::getuid().as_raw();
    let hash = sha2::Sha256::digest(format!("{}\n{host}\n{}\n{uid}", machine.trim(), id.trim()));
    Ok(hex(&hash[..12]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn args(line: &str) -> Args {
        Args::try_parse_from(line.split_whitespace()).unwrap()
    }

    #[test]
    fn the_socket_is_said_or_inherited_or_tmuxs_own() {
        let uid = rustix::process::getuid().as_raw();
        let inside = Env::of([("TMUX", "/run/t/default,12,0")], Path::new("/"));
        assert_eq!(
            socket(args("p --socket /x").socket.as_deref(), &inside),
            Path::new("/x")
        );
        assert_eq!(
            socket(args("p").socket.as_deref(), &inside),
            Path::new("/run/t/default")
        );
        let elsewhere = Env::of([("TMUX_TMPDIR", "/elsewhere")], Path::new("/"));
        assert_eq!(
            socket(args("p").socket.as_deref(), &elsewhere),
            PathBuf::from(format!("/elsewhere/tmux-{uid}/default"))
        );
        let bare = Env::of([], Path::new("/"));
        assert_eq!(
            socket(args("p").socket.as_deref(), &bare),
            PathBuf::from(format!("/tmp/tmux-{uid}/default"))
        );
    }

    #[test]
    fn the_same_machine_has_the_same_name_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let first = pager_id(folder.path(), "host").unwrap();
        assert_eq!(pager_id(folder.path(), "host").unwrap(), first);
        assert_ne!(pager_id(folder.path(), "other").unwrap(), first);
        let copy = tempfile::tempdir().unwrap();
        assert_ne!(pager_id(copy.path(), "host").unwrap(), first);
    }

    #[test]
    fn a_token_is_needed_off_this_machine_only() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", home.path().to_str().unwrap())], home.path());
        let plain = args("p");
        assert_eq!(
            token(&plain, &env, "http://127.0.0.1:1").unwrap(),
            Token::None
        );
        let quit = token(&plain, &env, "https://relay.example").unwrap_err();
        assert_eq!(quit.code, exit::BAD);
        let missing = args("p --token-file /nowhere/t");
        assert_eq!(
            token(&missing, &env, "http://127.0.0.1:1")
                .unwrap_err()
                .code,
            exit::BAD
        );
    }
}
