//! Making a backup: one snapshot, copied by SQLite, checked, named last.

use std::fs::File;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use super::names;
use crate::store::Contents;
use crate::store::connect;
use crate::store::inspect;
use crate::store::lock::FileLock;
use crate::store::lock::LockError;

/// Ends of names that belong to a database at work; a backup under one of them would be taken for a piece of it.
const OURS: &[&str] = &[
    "",
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".admin",
    ".new",
    ".backup.lock",
];

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// What it holds.
    pub contents: Contents,
}

/// Why no backup was made. There is no file under the name it was to have.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct NotMade {
    path: PathBuf,
    /// What kind of reason it is.
    pub cause: Cause,
    why: String,
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The name is taken, or may not be used: another one can.
    Name,
    /// Another backup of this database is being made.
    Busy,
    /// The copy could not be made, or did not stand the checks.
    Failed,
}

impl NotMade {
    fn new(path: &Path, cause: Cause, why: impl ToString) -> Self {
        Self {
            path: path.to_owned(),
            cause,
            why: why.to_string(),
        }
    }
}

/// A copy that is being made; removed unless it is kept.
struct Unfinished {
    path: PathBuf,
    file: File,
    kept: bool,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.kept {
            names::remove_unfinished(&self.path);
        }
    }
}

/// Copies the database at `from`, served or not, to a new file `to` of mode 0600. It holds every message committed before the call.
///
/// # Errors
/// [`NotMade`]: `to` exists or is a name of the database's own, its folder cannot be written, its disk is full, the database is damaged.
pub fn make(from: &Path, to: &Path) -> Result<Backup, NotMade> {
    let name = |why: &str| NotMade::new(to, Cause::Name, why);
    if is_of(from, to) {
        return Err(name("is a file of the database itself: name another"));
    }
    if to.symlink_metadata().is_ok() {
        return Err(name("exists: name another file, or move it away"));
    }
    let failed = |why: &dyn ToString| NotMade::new(to, Cause::Failed, why.to_string());
    let from = &from.canonicalize().map_err(|error| failed(&error))?;
    // One at a time: then whatever is unfinished is the rest of a run that was killed.
    let _alone =
        FileLock::take(&names::with(from, ".backup"), "backup").map_err(|error| match error {
            LockError::Held(holder) => {
                let why = format!("another backup is being made ({holder}): wait for it");
                NotMade::new(to, Cause::Busy, why)
            }
            LockError::Io(lock, error) => failed(&format!("{}: {error}", lock.display())),
        })?;
    names::clear(to);
    let mut copy = begin(to).map_err(|error| failed(&error))?;
    let newest = vacuum(from, &copy.path).map_err(|why| failed(&why))?;
    copy.file.sync_all().map_err(|error| failed(&error))?;
    let contents = inspect::whole(&copy.path).map_err(|error| failed(&error.cause))?;
    if contents.newest_seq < newest {
        return Err(failed(&format!(
            "the copy ends at message {}, the relay had {newest}",
            contents.newest_seq
        )));
    }
    let bytes = copy.file.metadata().map_err(|error| failed(&error))?.len();
    std::fs::rename(&copy.path, to).map_err(|error| failed(&error))?;
    copy.kept = true;
    sync_folder(to).map_err(|error| failed(&error))?;
    Ok(Backup {
        path: to.to_owned(),
        bytes,
        contents,
    })
}

/// Makes the file SQLite is to fill.
fn begin(to: &Path) -> std::io::Result<Unfinished> {
    let path = names::unfinished(to);
    Ok(Unfinished {
        file: create(&path)?,
        path,
        kept: false,
    })
}

/// A new file of mode 0600, empty: SQLite copies into one that is there only if nothing is in it.
pub(super) fn create(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Copies one snapshot and returns the newest message committed before.
fn vacuum(from: &Path, to: &Path) -> Result<i64, String> {
    let to = to.to_str().ok_or("its name is no UTF-8 text")?;
    let words = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => "the disk is full".to_owned(),
        _ => error.to_string(),
    };
    let connection = connect::copier(from).map_err(words)?;
    let newest = connection
        .query_row("SELECT coalesce(max(seq), 0) FROM message", [], |row| {
            row.get(0)
        })
        .map_err(words)?;
    connection.execute("VACUUM INTO ?1", [to]).map_err(words)?;
    Ok(newest)
}

/// Whether `to` is the database or one of the files that belong to it, however it is spelt.
fn is_of(from: &Path, to: &Path) -> bool {
    let Some(name) = to.file_name() else {
        return false;
    };
    let folder = to.parent().and_then(|folder| folder.canonicalize().ok());
    let to = folder.map_or_else(|| to.to_owned(), |folder| folder.join(name));
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    OURS.iter().any(|tail| names::with(&from, tail) == to)
}

/// Makes sure that a name given in `path`'s folder is there after a loss of power.
pub(super) fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::identity;
    use crate::store::Store;
    use crate::store::Time;

    fn store(folder: &Path) -> Store {
        let store = Store::open(&folder.join("relay.db"), "", Time(1)).unwrap();
        store
            .write_blocking(|tx| identity::found(tx, "kim", Time(1)))
            .unwrap();
        store
    }

    #[test]
    fn case_s07_a_backup_holds_what_stands_in_the_log_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store
            .write_blocking(|tx| {
                let kim = identity::people::first_owner(tx)?;
                identity::project::create(tx, kim.seq, "shop", Time(1))?;
                Ok(())
            })
            .unwrap();
        assert!(store.wal_bytes() > 0);
        let to = folder.path().join("copy.db");
        let made = make(store.path(), &to).unwrap();
        assert_eq!((made.contents.projects, made.contents.messages), (1, 0));
        let meta = std::fs::metadata(&to).unwrap();
        assert_eq!(meta.len(), made.bytes);
        assert_eq!(meta.permissions().mode() & 0o777, 0o600);
        assert!(!names::unfinished(&to).exists());
    }

    #[test]
    fn no_name_of_the_database_is_taken_however_it_is_spelt() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let spelt = folder
            .path()
            .join("../")
            .join(folder.path().file_name().unwrap());
        for tail in OURS {
            let to = names::with(&spelt.join("relay.db"), tail);
            let refused = make(store.path(), &to).unwrap_err();
            assert_eq!(refused.cause, Cause::Name, "{tail}: {refused}");
        }
        let taken = folder.path().join("taken");
        std::fs::write(&taken, "mine").unwrap();
        assert_eq!(make(store.path(), &taken).unwrap_err().cause, Cause::Name);
        assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
    }

    #[test]
    fn what_fails_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("copy.db");
        let from = folder.path().join("text.db");
        std::fs::write(&from, "no database at all").unwrap();
        assert_eq!(make(&from, &to).unwrap_err().cause, Cause::Failed);
        let away = folder.path().join("nowhere/copy.db");
        assert_eq!(make(&from, &away).unwrap_err().cause, Cause::Failed);
        let left = std::fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(!left.contains(&"copy.db".into()) && !left.contains(&"copy.db.part".into()));
    }
}
