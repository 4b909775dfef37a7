//! The one-server lock: an advisory lock on a file of its own beside the database. The database file itself is never opened by us: to
//! close any handle of it would drop SQLite's own locks (DESIGN 3).

use std::fs::File;
use std::fs::OpenOptions;
use std::io::Read;
use std::io::Seek;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

/// Held for as long as it lives; the kernel frees it when the process dies.
pub(super) struct FileLock {
    file: File,
}

/// Why the lock was not taken.
pub(super) enum LockError {
    /// Another server holds it; what it wrote about itself.
    Held(String),
    /// The lock file could not be made or opened.
    Io(PathBuf, std::io::Error),
}

/// Who holds, or last held, the lock of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// Where it is reached.
    pub address: String,
}

/// What the lock file of the database at `path` says. The lock itself is not touched: to try it could turn a starting server away.
pub(super) fn holder(path: &Path) -> Option<Holder> {
    let text = std::fs::read_to_string(name_of(path)).ok()?;
    let (pid, address) = text.trim().strip_prefix("pid ")?.split_once(' ')?;
    Some(Holder {
        pid: pid.parse().ok()?,
        address: address.to_owned(),
    })
}

/// The lock file of a database.
fn name_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

impl FileLock {
    /// Takes the lock that belongs to the database at `path` and writes who holds it.
    pub(super) fn take(path: &Path, address: &str) -> Result<Self, LockError> {
        let name = name_of(path);
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&name)
                .map_err(|error| LockError::Io(name.clone(), error))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    let _ = file.read_to_string(&mut holder);
                    return Err(LockError::Held(holder.trim().to_owned()));
                }
                Err(std::fs::TryLockError::Error(error)) => {
                    return Err(LockError::Io(name, error));
                }
            }
            // Somebody may have removed the name between opening and locking: then this lock guards nothing.
            let same = match (file.metadata(), std::fs::metadata(&name)) {
                (Ok(ours), Ok(named)) => ours.dev() == named.dev() && ours.ino() == named.ino(),
                _ => false,
            };
            if same {
                let lock = Self { file };
                lock.describe(address);
                return Ok(lock);
            }
        }
    }

    /// Writes pid and address into the lock file. Failing to is harmless: it is only read for a message.
    pub(super) fn describe(&self, address: &str) {
        let mut file = &self.file;
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = writeln!(file, "pid {} {address}", std::process::id());
    }
}
