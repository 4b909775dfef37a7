//! The demo's own place: a folder, the processes in it, and that nothing of either is left, however the demo ends (cli.md 8).

use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;

use crate::cli::failure::Failure;
use crate::pager::proc::Snapshot;

/// What the demo's folders are called, before the process that made them.
const NAME: &str = "relayroom-demo-";

/// The file in a folder that says who lives there: a line per process, its pid and when it started. A folder without it is nobody's.
const LIVES_HERE: &str = "lives-here";

/// How long a process is asked before it is made to end.
const ASKED: Duration = Duration::from_millis(1_500);

/// A folder and what runs in it. Dropped: all of it goes.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    children: Vec<Child>,
    keep: bool,
}

impl Place {
    /// Makes a folder under `temporary`, after removing what killed demos left there.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn make(temporary: &Path, keep: bool) -> Result<Self, Failure> {
        remove_leftovers(temporary);
        let folder = temporary.join(format!("{NAME}{}", std::process::id()));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .map_err(|error| Failure::fault(format!("{}: {error}", folder.display())))?;
        let place = Self {
            folder,
            children: Vec::new(),
            keep,
        };
        place.write_down()?;
        Ok(place)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its tmux socket.
    pub(super) fn socket(&self) -> PathBuf {
        socket(&self.folder)
    }

    /// Starts a process that lives here; returns its pid.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(&mut self, command: &mut Command) -> Result<u32, Failure> {
        let child = command.spawn()?;
        let pid = child.id();
        self.children.push(child);
        self.write_down()?;
        Ok(pid)
    }

    /// A process of it that has ended, with how.
    pub(super) fn ended(&mut self) -> Option<String> {
        self.children.iter_mut().find_map(|child| {
            let status = child.try_wait().ok().flatten()?;
            Some(format!("process {} ended with {status}", child.id()))
        })
    }

    fn write_down(&self) -> Result<(), Failure> {
        let snapshot = Snapshot::take().unwrap_or_default();
        let pids = std::iter::once(std::process::id()).chain(self.children.iter().map(Child::id));
        let lines: Vec<String> = pids
            .filter_map(|pid| {
                let pid = i32::try_from(pid).ok()?;
                Some(format!("{pid} {}\n", snapshot.start(pid)?))
            })
            .collect();
        std::fs::write(self.folder.join(LIVES_HERE), lines.concat())?;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The pager first, so that it sees no tmux server go; then the relay.
        for child in self.children.iter_mut().rev() {
            end(child);
        }
        kill_server(&self.socket());
        if self.keep {
            // Without it the next demo leaves the folder alone.
            let _ = std::fs::remove_file(self.folder.join(LIVES_HERE));
        } else {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Ends a child: asked first, then made to.
fn end(child: &mut Child) {
    if let Ok(raw) = i32::try_from(child.id())
        && let Some(pid) = Pid::from_raw(raw)
    {
        // Fails only if it has ended.
        let _ = rustix::process::kill_process(pid, Signal::TERM);
    }
    let asked = Instant::now();
    while asked.elapsed() < ASKED {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn socket(folder: &Path) -> PathBuf {
    folder.join("tmux.sock")
}

/// Ends the tmux server of a demo and all its sessions; nothing happens without one.
fn kill_server(socket: &Path) {
    if socket.exists() {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(socket)
            .arg("kill-server")
            .env_remove("TMUX")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// Removes what demos left that were killed: their processes, tmux servers and folders.
fn remove_leftovers(temporary: &Path) {
    let Ok(entries) = std::fs::read_dir(temporary) else {
        return;
    };
    let snapshot = Snapshot::take().unwrap_or_default();
    for folder in entries.flatten().map(|entry| entry.path()) {
        if is_demo(&folder) {
            remove_if_dead(&folder, &snapshot);
        }
    }
}

/// Whether a folder was made by a demo of this very person. Anybody may make names in a shared folder.
fn is_demo(folder: &Path) -> bool {
    let named = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(NAME));
    named
        && folder.symlink_metadata().is_ok_and(|meta| {
            meta.is_dir()
                && meta.uid() == rustix::process::getuid().as_raw()
                && meta.mode() & 0o077 == 0
        })
}

fn remove_if_dead(folder: &Path, snapshot: &Snapshot) {
    let Ok(text) = std::fs::read_to_string(folder.join(LIVES_HERE)) else {
        return;
    };
    let lived: Vec<(i32, i64)> = text
        .lines()
        .filter_map(|line| {
            let (pid, start) = line.split_once(' ')?;
            Some((pid.parse().ok()?, start.parse().ok()?))
        })
        .collect();
    // A pid alone says little: it is given to the next process once its own has ended.
    let lives = |(pid, start): &(i32, i64)| snapshot.start(*pid) == Some(*start);
    let Some((owner, others)) = lived.split_first() else {
        return;
    };
    if lives(owner) {
        return;
    }
    for (pid, _) in others.iter().filter(|other| lives(other)) {
        if let Some(pid) = Pid::from_raw(*pid) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }
    kill_server(&socket(folder));
    let _ = std::fs::remove_dir_all(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(temporary: &Path, name: &str, lives_here: &str) -> PathBuf {
        let folder = temporary.join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .unwrap();
        std::fs::write(folder.join(LIVES_HERE), lives_here).unwrap();
        folder
    }

    #[test]
    fn cli_039_what_a_killed_demo_left_goes_and_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path();
        let own = i32::try_from(std::process::id()).unwrap();
        let start = Snapshot::take().unwrap().start(own).unwrap();
        let mut orphan = Command::new("sleep").arg("600").spawn().unwrap();
        let orphan_pid = i32::try_from(orphan.id()).unwrap();
        let orphan_start = Snapshot::take().unwrap().start(orphan_pid).unwrap();

        let lines = format!("{own} 1\n{orphan_pid} {orphan_start}\n");
        let dead = folder_with(path, "relayroom-demo-1", &lines);
        // The orphan's pid with another start is somebody else's process by now.
        let reused = folder_with(path, "relayroom-demo-2", &format!("{own} 1\n{own} 2\n"));
        let alive = folder_with(path, "relayroom-demo-3", &format!("{own} {start}\n"));
        let kept = folder_with(path, "relayroom-demo-4", "");
        std::fs::remove_file(kept.join(LIVES_HERE)).unwrap();
        let foreign = folder_with(path, "something-else", &lines);

        remove_leftovers(path);
        assert!(!dead.exists() && !reused.exists());
        assert!(alive.exists() && kept.exists() && foreign.exists());
        assert!(!orphan.wait().unwrap().success());
    }

    #[test]
    fn a_place_goes_with_all_that_runs_in_it() {
        let temporary = tempfile::tempdir().unwrap();
        let mut place = Place::make(temporary.path(), false).unwrap();
        let folder = place.folder().to_owned();
        place.start(Command::new("sleep").arg("600")).unwrap();
        let pid = i32::try_from(place.children[0].id()).unwrap();
        drop(place);
        assert!(!folder.exists());
        assert_eq!(Snapshot::take().unwrap().start(pid), None);
    }
}
