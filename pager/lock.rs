//! Locks between processes: one pager per relay and tmux server, one per part, one pair of hands per pane (pager.md 1, "Locks").
//!
//! Each is `flock` on a file that is kept. The kernel frees it when its holder dies, however it dies.

use std::fs;
use std::fs::File;
use std::fs::TryLockError;
use std::io;
use std::io::Seek;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use sha2::Digest;

use super::facts::Identity;
use super::target::PartKey;

/// A lock held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum NotLocked {
    /// Another process has it: what it wrote about itself.
    #[error("held by {0}")]
    Held(String),
    /// The file cannot be used.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        cause: io::Error,
    },
}

/// How often a file that was replaced under us is opened again.
const ATTEMPTS: usize = 8;

/// Takes the lock at `path` without waiting; `holder` is what the next one is told about us.
///
/// # Errors
/// [`NotLocked`].
pub fn take(path: &Path, holder: &str) -> Result<Lock, NotLocked> {
    let fail = |cause: io::Error| NotLocked::File {
        path: path.display().to_string(),
        cause,
    };
    for _ in 0..ATTEMPTS {
        let mut file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let text = fs::read_to_string(path).unwrap_or_default();
                return Err(NotLocked::Held(text.trim().to_owned()));
            }
            Err(TryLockError::Error(cause)) => return Err(fail(cause)),
        }
        // Somebody may have removed or replaced the file between opening and locking: then we hold a lock nobody else will look at.
        let ours = file.metadata().map_err(fail)?;
        let theirs = fs::metadata(path).ok();
        if theirs.is_none_or(|theirs| (theirs.dev(), theirs.ino()) != (ours.dev(), ours.ino())) {
            continue;
        }
        file.set_len(0).map_err(fail)?;
        file.rewind().map_err(fail)?;
        writeln!(file, "{holder}").map_err(fail)?;
        return Ok(Lock { _file: file });
    }
    Err(fail(io::Error::other("the file is replaced all the time")))
}

/// What the holder of a lock says about itself.
#[must_use]
pub fn holder(pid: u32, start: &str) -> String {
    format!("pid {pid}, started {start}")
}

/// The one pager without `--part` of a relay and a tmux socket.
#[must_use]
pub fn process_path(folder: &Path, instance: &str, socket: (u64, u64)) -> PathBuf {
    folder.join(hashed(
        "process",
        &format!("{instance}\n{}\n{}", socket.0, socket.1),
    ))
}

/// The one pager of a part.
#[must_use]
pub fn part_path(folder: &Path, instance: &str, key: &PartKey) -> PathBuf {
    folder.join(hashed(
        "part",
        &format!("{instance}\n{}\n{}", key.code, key.part),
    ))
}

/// The one pair of hands of a pane: beside the socket, where every process that can reach the pane finds it.
#[must_use]
pub fn pane_path(pane: &Identity) -> PathBuf {
    let number = pane.pane.trim_start_matches('%');
    PathBuf::from(format!(
        "{}.rr-{}-{number}.lock",
        pane.socket, pane.server_start
    ))
}

fn hashed(kind: &str, text: &str) -> String {
    let hash = sha2::Sha256::digest(text);
    let hex: String = hash[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{kind}-{hex}.lock")
}

/// Device and inode of a socket: the same server whatever its path is spelt like.
#[must_use]
pub fn socket_id(socket: &Path) -> Option<(u64, u64)> {
    let meta = fs::metadata(socket).ok()?;
    Some((meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_told_who_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let first = take(&path, "pid 7, started t").unwrap();
        assert!(
            matches!(take(&path, "pid 8"), Err(NotLocked::Held(text)) if text == "pid 7, started t")
        );
        drop(first);
        take(&path, "pid 8").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "pid 8\n");
    }

    #[test]
    fn pager_017_a_deleted_file_locks_nobody_out_and_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.lock");
        let old = File::create(&path).unwrap();
        old.try_lock().unwrap();
        fs::remove_file(&path).unwrap();
        let _held = take(&path, "new").unwrap();
        assert!(matches!(take(&path, "third"), Err(NotLocked::Held(_))));
    }

    #[test]
    fn names_tell_neither_code_nor_instance() {
        let key = PartKey {
            code: "SECRETCODE".into(),
            part: "web".into(),
        };
        let path = part_path(Path::new("/s"), "instance", &key);
        let text = path.to_string_lossy();
        assert!(
            !text.contains("SECRETCODE") && !text.contains("instance"),
            "{text}"
        );
        assert_ne!(
            path,
            part_path(Path::new("/s"), "other", &key),
            "another relay, another lock"
        );
    }
}
