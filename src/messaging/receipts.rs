//! What became of a message with each of its recipients (tools.md 6, show; wake.md 2). Asking disturbs nobody.

use rusqlite::Connection;
use serde_json::Map;
use serde_json::Value;

use crate::identity::slug;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::Time;

/// How far a message has come with one recipient: the furthest of the facts that are known.
#[must_use]
fn receipt(
    presented_at: Option<Time>,
    seen_at: Option<Time>,
    read_at: Option<Time>,
) -> &'static str {
    if read_at.is_some() {
        "read"
    } else if seen_at.is_some() {
        "shown"
    } else if presented_at.is_some() {
        "presented"
    } else {
        "stored"
    }
}

/// The receipts of a message by recipient, in the order they were addressed.
pub(super) fn of(connection: &Connection, message: MessageSeq) -> Outcome<Map<String, Value>> {
    let mut statement = connection.prepare_cached(
        "SELECT p.slug, r.presented_at, r.seen_at, r.read_at
           FROM recipient AS r LEFT JOIN part AS p ON p.seq = r.part
          WHERE r.message = ?1 ORDER BY r.rowid",
    )?;
    let rows = statement.query_map([message], |row| {
        let name: Option<String> = row.get(0)?;
        let word = receipt(row.get(1)?, row.get(2)?, row.get(3)?);
        Ok((name.unwrap_or_else(|| slug::HUMAN.to_owned()), word.into()))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_furthest_fact_wins() {
        let at = Some(Time(1));
        assert_eq!(receipt(None, None, None), "stored");
        assert_eq!(receipt(at, None, None), "presented");
        assert_eq!(receipt(at, at, None), "shown");
        assert_eq!(receipt(None, at, None), "shown");
        assert_eq!(receipt(None, None, at), "read");
    }
}
