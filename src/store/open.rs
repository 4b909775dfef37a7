//! Opening the file: everything that is refused, and that a refusal touches nothing.

use std::fs::OpenOptions;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Time;
use super::connect;
use super::inspect;
use super::lock::FileLock;
use super::lock::LockError;
use super::migrate;

/// Why a file was not opened. Each message names the file and the cause, and what to do; nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}{}{cure}", path.display(), if cure.is_empty() { "" } else { "; " })]
pub struct OpenError {
    path: PathBuf,
    /// What is wrong with the file.
    pub cause: String,
    cure: &'static str,
    /// Another server holds the file.
    pub held: bool,
}

impl OpenError {
    pub(super) fn new(path: &Path, cause: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            cause: cause.into(),
            cure: "",
            held: false,
        }
    }

    /// What to do where the file is the relay's own.
    pub(super) fn cure(self, cure: &'static str) -> Self {
        Self { cure, ..self }
    }

    pub(super) fn unreadable(path: &Path, why: &str) -> Self {
        Self::new(path, format!("cannot be opened: {why}"))
    }
}

/// A file that passed every check, with its lock.
pub(super) struct Checked {
    pub(super) path: PathBuf,
    pub(super) lock: FileLock,
}

/// Takes the lock and checks the file without changing it.
pub(super) fn prepare(path: &Path, address: &str) -> Result<Checked, OpenError> {
    let path = resolve(path)?;
    on_local_disk(&path, file_system(&path))?;
    // Asked before the lock file is made, so that a refusal leaves nothing behind.
    let existing = look(&path)?;
    let lock = lock(&path, address)?;
    if existing {
        inspect::quick(&path)?;
    } else {
        make(&path)?;
    }
    Ok(Checked { path, lock })
}

/// Takes the lock that only one process holds: the relay that serves the file, or whoever puts another in its place.
pub(super) fn lock(path: &Path, address: &str) -> Result<FileLock, OpenError> {
    FileLock::take(path, address).map_err(|error| match error {
        LockError::Held(holder) => OpenError {
            held: true,
            ..OpenError::new(
                path,
                format!("another relay holds this file ({holder}); stop it first"),
            )
        },
        LockError::Io(name, error) => {
            OpenError::new(path, format!("cannot make {}: {error}", name.display()))
        }
    })
}

/// Opens the writing connection, makes or migrates the tables, and reads the newest time in the file.
pub(super) fn connect_writer(
    checked: &Checked,
    now: Time,
) -> Result<(Connection, Time), OpenError> {
    let fail = |error: rusqlite::Error| OpenError::unreadable(&checked.path, &error.to_string());
    let connection = connect::writer(&checked.path).map_err(fail)?;
    migrate::migrate(&connection).map_err(fail)?;
    let last = newest_time(&connection).map_err(fail)?;
    Ok((connection, last.unwrap_or(now)))
}

/// Makes a new file whole under a name of its own and gives it its name last: killed or out of space at any instant, it leaves no file
/// that a later start would have to take for somebody's.
fn make(path: &Path) -> Result<(), OpenError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let begin = || -> Result<(), Box<dyn std::error::Error>> {
        if let Err(error) = std::fs::remove_file(&new)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(error.into());
        }
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)?;
        let connection = connect::maker(&new)?;
        migrate::migrate(&connection)?;
        connection.close().map_err(|(_, error)| error)?;
        std::fs::File::open(&new)?.sync_all()?;
        std::fs::rename(&new, path)?;
        if let Some(folder) = path.parent() {
            std::fs::File::open(folder)?.sync_all()?;
        }
        Ok(())
    };
    begin().map_err(|error| {
        let _ = std::fs::remove_file(&new);
        OpenError::new(path, format!("cannot be made: {error}"))
    })
}

/// The path SQLite will use: links resolved, so that two spellings are one file and one lock.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    if let Ok(real) = path.canonicalize() {
        return Ok(real);
    }
    if path.symlink_metadata().is_ok() {
        return Err(OpenError::new(path, "is a link that leads nowhere"));
    }
    let name = path
        .file_name()
        .ok_or_else(|| OpenError::new(path, "is not the name of a file"))?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = folder
        .canonicalize()
        .map_err(|error| OpenError::new(path, format!("its folder cannot be used: {error}")))?;
    Ok(folder.join(name))
}

/// Whether a file stands there; refuses what can be seen to be wrong from outside. Called before any connection to it exists.
fn look(path: &Path) -> Result<bool, OpenError> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            for tail in ["-wal", "-journal"] {
                let mut beside = path.as_os_str().to_owned();
                beside.push(tail);
                let beside = PathBuf::from(beside);
                if std::fs::metadata(&beside).is_ok_and(|meta| meta.len() > 0) {
                    return Err(OpenError::new(
                        path,
                        format!(
                            "is missing, but {} is there: put the file back, or move that one away",
                            beside.display()
                        ),
                    ));
                }
            }
            return Ok(false);
        }
        Err(error) => return Err(OpenError::unreadable(path, &error.to_string())),
    };
    if !meta.is_file() {
        return Err(OpenError::new(path, "is not a file"));
    }
    if meta.nlink() > 1 {
        return Err(OpenError::new(
            path,
            "has several names (hard links); SQLite would keep a log per name: keep one",
        ));
    }
    if meta.mode() & 0o200 == 0 || rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(OpenError::new(path, "is not writable: chmod u+w it"));
    }
    Ok(true)
}

/// The number of the file system the file's folder is on (statfs(2) `f_type`), where it can be told.
fn file_system(path: &Path) -> Option<u32> {
    let stat = rustix::fs::statfs(path.parent()?).ok()?;
    Some(stat.f_type as u32)
}

/// Refuses a file on a network file system.
fn on_local_disk(path: &Path, file_system: Option<u32>) -> Result<(), OpenError> {
    let Some(kind) = file_system.and_then(network_kind) else {
        return Ok(());
    };
    Err(OpenError::new(
        path,
        format!(
            "is on {kind}; a write-ahead log needs a local disk: choose another place with --db"
        ),
    ))
}

/// File systems (statfs(2) `f_type`) whose locks or shared memory a write-ahead log cannot rely on.
fn network_kind(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x0000_6969 => "NFS",
        0x0000_517b | 0xff53_4d42 | 0xfe53_4d42 => "a Windows share (SMB)",
        0x6573_5546 => "a FUSE mount",
        0x0102_1997 => "a 9P share",
        0x00c3_6400 => "Ceph",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x0bd0_0bd0 => "Lustre",
        _ => return None,
    })
}

/// The newest time any row was stored with: what the next run's clock must not fall behind, or leases and brakes would last longer than
/// they may (wake.md 10). A wake's lease and a pane's beat are renewed long after the row was made, so all of the few open ones are asked.
fn newest_time(connection: &Connection) -> rusqlite::Result<Option<Time>> {
    let mut newest = None;
    for sql in [
        "SELECT at FROM message ORDER BY seq DESC LIMIT 1",
        "SELECT at FROM nudge ORDER BY seq DESC LIMIT 1",
        "SELECT at FROM event ORDER BY seq DESC LIMIT 1",
        "SELECT issued_at FROM wake ORDER BY seq DESC LIMIT 1",
        "SELECT max(leased_at) FROM wake WHERE ended_at IS NULL",
        "SELECT max(tripped_at) FROM brake",
        "SELECT max(heard_at) FROM pane",
        "SELECT created_at FROM relay",
    ] {
        let at: Option<Option<Time>> =
            connection.query_row(sql, [], |row| row.get(0)).optional()?;
        newest = newest.max(at.flatten());
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_s05_a_network_file_system_is_refused_by_its_number() {
        let path = Path::new("/mnt/shared/relay.db");
        for (number, name) in [
            (0x6969, "NFS"),
            (0xff53_4d42, "a Windows share (SMB)"),
            (0x6573_5546, "a FUSE mount"),
        ] {
            let refused = on_local_disk(path, Some(number)).unwrap_err().to_string();
            let expected = format!("/mnt/shared/relay.db: is on {name};");
            assert!(refused.starts_with(&expected), "{refused}");
        }
        // ext4, btrfs, xfs, tmpfs, overlay.
        for local in [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x794c_7630] {
            assert!(on_local_disk(path, Some(local)).is_ok(), "{local:x}");
        }
    }

    #[test]
    fn the_folder_of_a_file_tells_its_file_system() {
        // proc has a number of its own everywhere.
        assert_eq!(file_system(Path::new("/proc/relay.db")), Some(0x9fa0));
    }
}
