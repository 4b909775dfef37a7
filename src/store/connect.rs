//! How a connection to the file is set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

/// How long a connection waits for another that is in its way.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

const WRITER: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA wal_autocheckpoint = 1000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA secure_delete = FAST;
";

const READER: &str = "
    PRAGMA query_only = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA mmap_size = 0;
";

/// Keeps a prepared statement's plan whatever is bound to it. Without this SQLite prepares each statement that a partial index may
/// answer anew for every call, which costs more than most of them.
pub(crate) fn steady(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// The connection of the writer thread.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch(WRITER)?;
    steady(&connection)?;
    connection.set_prepared_statement_cache_capacity(256);
    Ok(connection)
}

/// The connection that makes the tables of a new file, without a log and in one piece beside it: who finds the file finds it whole.
pub(super) fn maker(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL;")?;
    Ok(connection)
}

/// A connection of the readers' pool.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.execute_batch(READER)?;
    steady(&connection)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(connection)
}

/// The connection a backup copies through: it changes nothing of the file, and waits for a writer that folds the log back.
pub(super) fn copier(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// A connection that looks at a file before we know it is ours. Where no write-ahead log stands beside it the file is opened as
/// immutable, so that looking makes no file.
pub(super) fn inspector(path: &Path, has_wal: bool) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02x}"));
        }
    }
    uri.push_str(if has_wal {
        "?mode=ro"
    } else {
        "?mode=ro&immutable=1"
    });
    Connection::open_with_flags(uri, flags)
}
