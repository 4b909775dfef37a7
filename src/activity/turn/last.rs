//! The conversation an agent can take up again: the session its hooks reported last (cli.md 3).

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::store::Outcome;
use crate::store::PartSeq;

const LAST: &str = "SELECT provider, session FROM session WHERE part = ?1 ORDER BY heard_at DESC, seq DESC LIMIT 1";

/// Provider and session id of a part's last report; `None` without any.
///
/// # Errors
/// A fault of the store.
pub fn last(connection: &Connection, part: PartSeq) -> Outcome<Option<(String, String)>> {
    let mut statement = connection.prepare_cached(LAST)?;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(statement.query_row([part], row).optional()?)
}
