//! The pane a part lives in: found, made, and marked for the pager (cli.md 4, steps 7 and 8; pager.md 1).
//!
//! tmux is asked for one list and names are compared here: its own look-up takes beginnings of names. Afterwards only ids are used.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use super::record;
use crate::cli::detach;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::tmux::Tmux;
use crate::config::Env;
use crate::pager::proc::Snapshot;
use crate::pager::read::agent;
use crate::pager::rules::Rules;
use crate::pager::target::joined;
use crate::store::quote;

/// The option that names a pane's part.
const OPTION: &str = "@relayroom";

/// What is read of a pane; what a person may have named stands last.
const FORMAT: &str = "#{pane_id}|#{pane_pid}|#{session_id}|#{pane_dead}|#{@relayroom}|#{session_name}:#{pane_current_path}";

/// How long a new agent is watched: one that cannot run ends within this.
const WATCH: Duration = Duration::from_secs(2);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// A pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pane {
    /// `%3`.
    pub id: String,
    /// Its first process.
    pub pid: i32,
    /// `$1`.
    pub session: String,
    /// Name of the session.
    pub name: String,
    /// The folder its program is in.
    pub folder: PathBuf,
    option: String,
    dead: bool,
}

/// Where a part is to live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seat {
    /// Its agent runs there.
    Living(Pane),
    /// The pane `join` was typed in.
    Own(Pane),
    /// A session without its agent: a new window there.
    Session(Pane),
    /// Nowhere yet: a new session of this name.
    New(String),
}

/// Whose seat is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The worktree.
    pub root: &'a Path,
    /// Connect code, where the project has one already, and part.
    pub key: (&'a str, &'a str),
    /// Name of the session.
    pub session: &'a str,
    /// The pane the command was typed in, if that is to be taken.
    pub own: Option<&'a str>,
}

/// Every pane of the server; none if it does not run.
#[must_use]
pub fn list(tmux: &Tmux) -> Vec<Pane> {
    // A server that does not run has no panes, and says so by failing.
    let printed = tmux.run(&["list-panes", "-a", "-F", FORMAT]);
    printed
        .unwrap_or_default()
        .lines()
        .filter_map(read)
        .collect()
}

fn read(line: &str) -> Option<Pane> {
    let mut fields = line.splitn(6, '|');
    let (id, pid, session) = (fields.next()?, fields.next()?, fields.next()?);
    let (dead, option, rest) = (fields.next()?, fields.next()?, fields.next()?);
    // tmux puts no colon into a session's name.
    let (name, folder) = rest.split_once(':')?;
    Some(Pane {
        id: id.to_owned(),
        pid: pid.parse().ok()?,
        session: session.to_owned(),
        name: name.to_owned(),
        folder: folder.into(),
        option: option.to_owned(),
        dead: dead == "1",
    })
}

impl Pane {
    /// Whether the pane is marked as that part's; an inherited mark names another process.
    #[must_use]
    pub fn is_of(&self, code: &str, part: &str) -> bool {
        joined(&self.option)
            .is_some_and(|(key, pid)| key.code == code && key.part == part && pid == self.pid)
    }

    /// Whether its program is in that folder or below.
    fn is_in(&self, root: &Path) -> bool {
        self.folder
            .canonicalize()
            .is_ok_and(|folder| folder.starts_with(root))
    }

    /// Whether an agent runs in it: one we know, or whatever was started there in the place of a shell.
    #[must_use]
    pub fn lives(&self) -> bool {
        !self.dead && (self.has_agent() || self.is_no_shell())
    }

    fn has_agent(&self) -> bool {
        let tree = Snapshot::take().and_then(|snapshot| snapshot.tree(self.pid));
        tree.is_some_and(|tree| agent::find(&Rules::shipped(), self.pid, &tree, None).is_ok())
    }

    fn is_no_shell(&self) -> bool {
        let tree = Snapshot::take().and_then(|snapshot| snapshot.tree(self.pid));
        let first = tree.and_then(|tree| tree.into_iter().find(|one| one.pid == self.pid));
        let Some(program) = first.and_then(|first| first.argv.into_iter().next()) else {
            return false;
        };
        let name = program.rsplit('/').next().unwrap_or_default();
        let name = name.trim_start_matches('-');
        !Rules::shipped().shells.iter().any(|shell| shell == name)
    }
}

/// Finds the seat of a part.
///
/// # Errors
/// Exit 3 if the session's name is taken by one that works elsewhere.
pub fn seat(panes: &[Pane], wanted: Wanted<'_>) -> Result<Seat, Failure> {
    let (code, part) = wanted.key;
    let marked = panes.iter().find(|pane| pane.is_of(code, part));
    if let Some(pane) = marked.filter(|pane| pane.lives()) {
        return Ok(Seat::Living(pane.clone()));
    }
    let own = wanted
        .own
        .and_then(|id| panes.iter().find(|pane| pane.id == id));
    if let Some(pane) = own {
        return Ok(match pane.has_agent() {
            true => Seat::Living(pane.clone()),
            false => Seat::Own(pane.clone()),
        });
    }
    let named = || panes.iter().filter(|pane| pane.name == wanted.session);
    let here = || named().filter(|pane| pane.is_in(wanted.root));
    if let Some(pane) = here().find(|pane| !pane.dead && pane.has_agent()) {
        return Ok(Seat::Living(pane.clone()));
    }
    match (here().next(), named().next()) {
        (Some(pane), _) => Ok(Seat::Session(pane.clone())),
        (None, None) => Ok(Seat::New(wanted.session.to_owned())),
        (None, Some(pane)) => Err(Failure::new(
            Exit::Refused,
            "conflict",
            format!(
                "session {} works in {}, not in {}",
                quote(wanted.session),
                pane.folder.display(),
                wanted.root.display()
            ),
        )
        .fix("relayroom join --session NAME")),
    }
}

/// Marks a pane as a part's.
///
/// # Errors
/// tmux's complaint.
pub fn mark(tmux: &Tmux, pane: &Pane, code: &str, part: &str) -> Result<(), Failure> {
    if pane.is_of(code, part) {
        return Ok(());
    }
    let value = record::option(code, part, pane.pid);
    tmux.run(&["set-option", "-p", "-t", &pane.id, OPTION, &value])
        .map(drop)
}

/// Takes the mark off every pane that has it but one.
pub fn unmark(tmux: &Tmux, code: &str, part: &str, except: Option<&Pane>) {
    for pane in list(tmux) {
        if pane.is_of(code, part) && except.is_none_or(|kept| kept.id != pane.id) {
            // A pane that has gone meanwhile has no mark either.
            let _ = tmux.run(&["set-option", "-p", "-u", "-t", &pane.id, OPTION]);
        }
    }
}

/// A new pane, and how it is taken away again.
#[derive(Debug, Clone)]
pub struct Made {
    /// The pane.
    pub pane: Pane,
    undo: [&'static str; 2],
}

impl Made {
    /// Ends it.
    pub fn undo(&self, tmux: &Tmux) {
        let [command, flag] = self.undo;
        // It may have ended by itself.
        let _ = tmux.run(&[command, flag, &self.pane.id]);
    }
}

/// Starts `words` in a new session, or in a new window of the session of `beside`. The folder is the client's own: `-c` would be read as
/// a format, and run what stands in a folder's name.
///
/// # Errors
/// tmux's complaint.
pub fn start(
    tmux: &Tmux,
    env: &Env,
    seat: &Seat,
    root: &Path,
    words: &[String],
) -> Result<Made, Failure> {
    let target;
    let mut call: Vec<&str> = match seat {
        Seat::New(name) => vec!["new-session", "-d", "-P", "-F", FORMAT, "-s", name],
        Seat::Living(beside) | Seat::Own(beside) | Seat::Session(beside) => {
            target = format!("{}:", beside.session);
            vec!["new-window", "-d", "-P", "-F", FORMAT, "-t", &target]
        }
    };
    // A server that runs for long has the path of its own start.
    let path = env.get("PATH").map(|path| format!("PATH={path}"));
    if tmux.takes_variables()
        && let Some(path) = &path
    {
        call.extend(["-e", path]);
    }
    call.push("--");
    call.extend(words.iter().map(String::as_str));
    // tmux makes the folder of its own usual socket, but not of one that is named to it.
    if let Some(folder) = tmux.socket().parent() {
        detach::private_folder(folder)?;
    }
    let printed = tmux.run_in(root, &call)?;
    let pane = printed.lines().next().and_then(read);
    let pane = pane.ok_or_else(|| Failure::fault("tmux did not say which pane it made"))?;
    let undo = match seat {
        Seat::New(_) => ["kill-session", "-t"],
        _ => ["kill-window", "-t"],
    };
    Ok(Made { pane, undo })
}

/// Waits until the agent is seen in its new pane, for two seconds; false if the pane has gone.
pub async fn watch(tmux: &Tmux, pane: &Pane) -> bool {
    let begun = Instant::now();
    loop {
        let there = list(tmux)
            .iter()
            .any(|now| now.id == pane.id && now.pid == pane.pid && !now.dead);
        if !there || pane.has_agent() || begun.elapsed() > WATCH {
            return there;
        }
        tokio::time::sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(id: &str, name: &str, folder: &Path) -> Pane {
        // No process has this number: nothing lives there.
        Pane {
            id: id.to_owned(),
            pid: i32::MAX,
            session: "$1".to_owned(),
            name: name.to_owned(),
            folder: folder.to_owned(),
            option: String::new(),
            dead: false,
        }
    }

    #[test]
    fn cli_011_only_the_whole_name_of_a_session_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let wanted = Wanted {
            root: &root,
            key: ("c0de", "web"),
            session: "shop-web",
            own: None,
        };
        let longer = pane("%1", "shop-web-admin", &root);
        assert_eq!(
            seat(std::slice::from_ref(&longer), wanted).unwrap(),
            Seat::New("shop-web".into())
        );
        let here = pane("%2", "shop-web", &root.join("."));
        assert_eq!(
            seat(&[longer.clone(), here.clone()], wanted).unwrap(),
            Seat::Session(here)
        );
        let elsewhere = pane("%3", "shop-web", Path::new("/"));
        let failure = seat(std::slice::from_ref(&elsewhere), wanted).unwrap_err();
        assert_eq!(failure.exit, Exit::Refused);
        let own = Wanted {
            own: Some("%3"),
            ..wanted
        };
        assert_eq!(
            seat(std::slice::from_ref(&elsewhere), own).unwrap(),
            Seat::Own(elsewhere),
            "cli_012: the pane join is typed in, whatever its session is called"
        );
    }

    #[test]
    fn a_mark_that_was_inherited_is_none() {
        let mut marked = pane("%1", "x", Path::new("/"));
        marked.option = format!("c0de/web/{}", i32::MAX);
        assert!(marked.is_of("c0de", "web"));
        assert!(!marked.is_of("c0de", "api") && !marked.is_of("other", "web"));
        marked.option = "c0de/web/1".to_owned();
        assert!(!marked.is_of("c0de", "web"));
    }

    #[test]
    fn a_line_of_the_list_is_read_whatever_the_folder_is_called() {
        let read = read("%3|77|$1|0||shop-web:/src/a|b:c").unwrap();
        assert_eq!(read.name, "shop-web");
        assert_eq!(read.folder, Path::new("/src/a|b:c"));
    }
}
