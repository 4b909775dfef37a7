//! What the relay's file says of the wakes, read beside the running relay.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::OpenFlags;
use rusqlite::Row;
use serde::Deserialize;
use serde::Serialize;

/// A wake with its three facts, in milliseconds since 1970.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Wake {
    pub tag: String,
    /// When the message that caused it was stored.
    pub stored: i64,
    pub presented: Option<i64>,
    pub consumed: Option<i64>,
    pub outcome: Option<String>,
    pub nudges: u32,
    /// Most Enters pressed for one line.
    pub enters: Option<i64>,
    /// What holds it, as `reason/detail`.
    pub hold: Option<String>,
}

const WAKES: &str = "
    SELECT wake.tag, message.at, wake.presented_at, wake.consumed_at, wake.outcome,
           (SELECT count(*) FROM nudge WHERE nudge.wake = wake.seq),
           (SELECT max(enters) FROM nudge WHERE nudge.wake = wake.seq),
           wake.hold_reason, wake.hold_detail
    FROM wake JOIN message ON message.seq = wake.cause_message
    ORDER BY wake.seq";

/// All wakes, oldest first.
pub fn wakes(db: &Path) -> Vec<Wake> {
    let connection = open(db);
    let mut statement = connection.prepare(WAKES).unwrap();
    let rows = statement.query_map([], wake).unwrap();
    rows.map(Result::unwrap).collect()
}

fn wake(row: &Row<'_>) -> rusqlite::Result<Wake> {
    let reason: Option<String> = row.get(7)?;
    let detail: Option<String> = row.get(8)?;
    Ok(Wake {
        tag: row.get(0)?,
        stored: row.get(1)?,
        presented: row.get(2)?,
        consumed: row.get(3)?,
        outcome: row.get(4)?,
        nudges: row.get(5)?,
        enters: row.get(6)?,
        hold: reason.map(|reason| format!("{reason}/{}", detail.unwrap_or_default())),
    })
}

/// How many messages to agents were never shown.
pub fn unseen(db: &Path) -> u32 {
    let sql = "SELECT count(*) FROM recipient WHERE part IS NOT NULL AND seen_at IS NULL";
    open(db).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// The newest turn's session.
pub fn session(db: &Path) -> String {
    let sql = "SELECT session FROM turn ORDER BY seq DESC LIMIT 1";
    open(db).query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Every turn, as a line to read when something is wrong.
pub fn turns(db: &Path) -> Vec<String> {
    let sql = "
        SELECT part.slug || ' ' || session || ' ' || turn || ' ' || cause || ' ' || coalesce(started_at, 0) || ' ' ||
               coalesce(ended_at, 0) || ' ' || coalesce(ending, 'open') || ' rows ' ||
               (SELECT count(*) FROM usage_row WHERE usage_row.turn = turn.seq)
        FROM turn JOIN part ON part.seq = turn.part
        ORDER BY turn.seq";
    let connection = open(db);
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn open(db: &Path) -> Connection {
    Connection::open_with_flags(db, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}
