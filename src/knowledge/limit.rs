//! How much a part may write in an hour, counted from the rows: a refused call takes no place (knowledge.md 2 and 6).

use rusqlite::Connection;

use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// The audit's word for an applied contradiction, by which they are counted.
pub(super) const CONTRADICTED: &str = "contradicted by an error event";

/// Learned entries and applied contradictions a part may have in an hour, together.
const LEARNED: i64 = 20;

/// Lessons a part may record in an hour.
const LESSONS: i64 = 60;

/// The hour, in milliseconds.
const HOUR_MS: i64 = 3_600_000;

/// Whether the part has learned and contradicted as much as it may in this hour.
pub(super) fn learned_enough(connection: &Connection, part: PartSeq, now: Time) -> Outcome<bool> {
    let since = Time(now.0 - HOUR_MS);
    let contradicted: i64 = connection
        .prepare_cached(
            "SELECT count(*) FROM knowledge_audit WHERE by_part = ?1 AND at > ?2 AND why = ?3",
        )?
        .query_row((part, since, CONTRADICTED), |row| row.get(0))?;
    Ok(written(connection, part, "learn", since)? + contradicted >= LEARNED)
}

/// Whether the part has recorded as many lessons as it may in this hour.
pub(super) fn taught_enough(connection: &Connection, part: PartSeq, now: Time) -> Outcome<bool> {
    Ok(written(connection, part, "lesson", Time(now.0 - HOUR_MS))? >= LESSONS)
}

fn written(connection: &Connection, part: PartSeq, source: &str, since: Time) -> Outcome<i64> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*) FROM knowledge WHERE author_part = ?1 AND source = ?2 AND created_at > ?3",
    )?;
    Ok(statement.query_row((part, source, since), |row| row.get(0))?)
}
