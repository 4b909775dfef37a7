//! The pool of read-only connections.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use super::connect;

/// How many reads run at once. Two cores saturate before four connections do.
const READERS: u32 = 4;

/// Makes and judges connections for r2d2.
pub(super) struct ReadOnly {
    path: PathBuf,
}

impl r2d2::ManageConnection for ReadOnly {
    type Connection = Connection;
    type Error = rusqlite::Error;

    fn connect(&self) -> Result<Connection, rusqlite::Error> {
        connect::reader(&self.path)
    }

    fn is_valid(&self, connection: &mut Connection) -> Result<(), rusqlite::Error> {
        connection.query_row("SELECT 1", [], |_| Ok(()))
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        // A connection given back inside a transaction would pin the log for ever.
        !connection.is_autocommit()
    }
}

pub(super) fn pool(path: &Path) -> Result<r2d2::Pool<ReadOnly>, r2d2::Error> {
    r2d2::Pool::builder()
        .max_size(READERS)
        .min_idle(Some(1))
        // Checking a connection would cost a query per read.
        .test_on_check_out(false)
        .max_lifetime(None)
        .idle_timeout(None)
        .connection_timeout(Duration::from_secs(10))
        .build(ReadOnly {
            path: path.to_owned(),
        })
}
