//! Looking into a file that is not known to be ours: header, mark, version, every page. Looking makes and changes no file.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use rusqlite::Connection;

use super::OpenError;
use super::SCHEMA_VERSION;
use super::Time;
use super::connect;
use super::migrate;

/// What a whole and sound file holds, for showing it beside another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// Version of its schema.
    pub schema: i64,
    /// Projects, archived ones too.
    pub projects: i64,
    /// Parts that were not deleted.
    pub parts: i64,
    /// Threads of any status.
    pub threads: i64,
    /// Messages.
    pub messages: i64,
    /// `seq` of the newest message; 0 without one.
    pub newest_seq: i64,
    /// When the oldest message was stored.
    pub oldest_at: Option<Time>,
    /// When the newest message was stored.
    pub newest_at: Option<Time>,
}

const CONTENTS: &str = "SELECT
    (SELECT count(*) FROM project),
    (SELECT count(*) FROM part WHERE deleted_at IS NULL),
    (SELECT count(*) FROM thread),
    (SELECT count(*) FROM message),
    (SELECT coalesce(max(seq), 0) FROM message),
    (SELECT at FROM message ORDER BY seq LIMIT 1),
    (SELECT at FROM message ORDER BY seq DESC LIMIT 1)";

/// How often SQLite asks whether to go on, in steps of its machine.
const STEPS: std::os::raw::c_int = 10_000;

/// What a start looks at: whether the file is ours, of a version we know, and without a damaged page.
pub(super) fn quick(path: &Path) -> Result<(), OpenError> {
    let (connection, _) = ours(path)?;
    sound(path, &connection, "quick_check")
}

/// All there is to check, as for a backup: also every index against its table, and every reference (cli.md 7).
///
/// # Errors
/// What is wrong with the file: not there, foreign, newer, damaged.
pub fn whole(path: &Path) -> Result<Contents, OpenError> {
    let (connection, schema) = ours(path)?;
    sound(path, &connection, "integrity_check")?;
    let fail = |error: rusqlite::Error| damaged(path, &error.to_string());
    let dangling = connection
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut check| check.exists([]))
        .map_err(fail)?;
    if dangling {
        return Err(damaged(path, "a row refers to one that is not there"));
    }
    connection
        .query_row(CONTENTS, [], |row| {
            Ok(Contents {
                schema,
                projects: row.get(0)?,
                parts: row.get(1)?,
                threads: row.get(2)?,
                messages: row.get(3)?,
                newest_seq: row.get(4)?,
                oldest_at: row.get(5)?,
                newest_at: row.get(6)?,
            })
        })
        .map_err(fail)
}

/// What a start looks at, as far as it can be read within `limit`, and when the file was made. A file that takes longer is not told to be
/// damaged: its relay looked at all of it when it started.
///
/// # Errors
/// As [`whole`].
pub fn look(path: &Path, limit: Duration) -> Result<Option<Time>, OpenError> {
    let (mut connection, _) = ours(path)?;
    let begun = Instant::now();
    let over = move || begun.elapsed() > limit;
    connection
        .progress_handler(STEPS, Some(over))
        .map_err(|error| damaged(path, &error.to_string()))?;
    match sound(path, &connection, "quick_check") {
        Err(damage) if begun.elapsed() <= limit => return Err(damage),
        _ => {}
    }
    connection
        .progress_handler(0, None::<fn() -> bool>)
        .map_err(|error| damaged(path, &error.to_string()))?;
    let made = connection.query_row("SELECT created_at FROM relay", [], |row| row.get(0));
    // One that was never served has no such row.
    Ok(made.ok())
}

/// A connection to a file that is a relay's, and the version of its schema.
pub(super) fn ours(path: &Path) -> Result<(Connection, i64), OpenError> {
    let mut header = [0_u8; 100];
    let read = OpenOptions::new()
        .read(true)
        .open(path)
        .and_then(|mut file| file.read_exact(&mut header));
    if read.is_err() || &header[..16] != b"SQLite format 3\0" {
        return Err(
            OpenError::new(path, "is not a RelayRoom database (or was cut off)")
                .cure("it was left as it is: name another with --db, or restore a backup"),
        );
    }
    let mark = i32::from_be_bytes([header[68], header[69], header[70], header[71]]);
    let has_wal = has_wal(path);
    let foreign = || {
        OpenError::new(path, "is a database of another program").cure("name another file with --db")
    };
    if mark != migrate::APPLICATION_ID && !has_wal {
        return Err(foreign());
    }
    let connection =
        connect::inspector(path, has_wal).map_err(|error| damaged(path, &error.to_string()))?;
    let pragma = |name: &str| -> Result<i64, OpenError> {
        connection
            .query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
            .map_err(|error| damaged(path, &error.to_string()))
    };
    let version = pragma("user_version")?;
    if pragma("application_id")? != i64::from(migrate::APPLICATION_ID) {
        return Err(foreign());
    }
    if version > SCHEMA_VERSION {
        return Err(OpenError::new(
            path,
            format!("has schema {version}, newer than the {SCHEMA_VERSION} this program knows"),
        )
        .cure("use the newer relayroom"));
    }
    Ok((connection, version))
}

/// Whether a write-ahead log with something in it stands beside the file.
pub(super) fn has_wal(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(PathBuf::from(wal)).is_ok_and(|meta| meta.len() > 0)
}

/// Runs one of SQLite's own checks.
fn sound(path: &Path, connection: &Connection, check: &str) -> Result<(), OpenError> {
    let verdict: String = connection
        .query_row(&format!("PRAGMA {check}(1)"), [], |row| row.get(0))
        .map_err(|error| damaged(path, &error.to_string()))?;
    if verdict == "ok" {
        return Ok(());
    }
    Err(damaged(path, verdict.lines().last().unwrap_or(check)))
}

fn damaged(path: &Path, why: &str) -> OpenError {
    OpenError::new(path, format!("is damaged ({why})"))
        .cure("it was left as it is: restore a backup, or copy it away before you try to mend it")
}
