//! Versions of the schema. `schema.sql` is what a new file is made from and equals version 1 plus all steps; steps only go forward and
//! are never edited once released.

use rusqlite::Connection;

/// Marks a file as ours (`PRAGMA application_id`): "RRm1".
pub(super) const APPLICATION_ID: i32 = 0x5252_6d31;

const SCHEMA: &str = include_str!("../../schema.sql");

/// Step `i` brings version `i + 1` to `i + 2`.
const STEPS: &[&str] = &[];

/// The version this program writes and the newest it reads.
pub const SCHEMA_VERSION: i64 = 1 + STEPS.len() as i64;

/// Makes the tables of a new file, or brings an old one up to date, inside one transaction.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == SCHEMA_VERSION {
        return Ok(());
    }
    let mut script = String::from("BEGIN IMMEDIATE;");
    if version == 0 {
        script.push_str(SCHEMA);
    } else {
        let done = usize::try_from(version - 1).unwrap_or(0);
        for step in STEPS.iter().skip(done) {
            script.push_str(step);
        }
    }
    script.push_str(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
    ));
    connection.execute_batch(&script).inspect_err(|_| {
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
    })
}
