//! What a person sees of waking: a part's open wake, what holds it, and how its last wake ended.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// A wake that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// `waiting`, `leased`, `presented` or `unconfirmed`.
    pub state: String,
    /// When it was issued.
    pub issued_at: Time,
    /// When its line was first known to be submitted.
    pub presented_at: Option<Time>,
    /// What holds it up in the pane, and since when.
    pub hold: Option<(String, Time)>,
}

const OPEN: &str = "SELECT state, issued_at, presented_at, hold_reason, hold_since FROM wake
    WHERE part = ?1 AND ended_at IS NULL";

/// Named because the planner would take the index of all holds ever: the open ones are few.
const HOLDS: &str = "SELECT reason, since FROM hold INDEXED BY hold_open
    WHERE part = ?1 AND ended_at IS NULL ORDER BY since";

const LAST: &str = "SELECT outcome, ended_at FROM wake WHERE part = ?1 ORDER BY seq DESC LIMIT 1";

/// The part's open wake.
///
/// # Errors
/// A fault of the store.
pub fn open(connection: &Connection, part: PartSeq) -> Outcome<Option<Open>> {
    let mut statement = connection.prepare_cached(OPEN)?;
    let found = statement
        .query_row([part], |row| {
            let reason: Option<String> = row.get(3)?;
            let since: Option<Time> = row.get(4)?;
            Ok(Open {
                state: row.get(0)?,
                issued_at: row.get(1)?,
                presented_at: row.get(2)?,
                hold: reason.zip(since),
            })
        })
        .optional()?;
    Ok(found)
}

/// Why a wake of the part is due and not issued, and since when: the holds that last.
///
/// # Errors
/// A fault of the store.
pub fn holds(connection: &Connection, part: PartSeq) -> Outcome<Vec<(String, Time)>> {
    let mut statement = connection.prepare_cached(HOLDS)?;
    let rows = statement.query_map([part], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Since when the part is known not to answer: its newest wake ended so.
///
/// # Errors
/// A fault of the store.
pub fn unanswered(connection: &Connection, part: PartSeq) -> Outcome<Option<Time>> {
    let mut statement = connection.prepare_cached(LAST)?;
    let last: Option<(Option<String>, Option<Time>)> = statement
        .query_row([part], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(
        last.and_then(|(outcome, ended)| {
            ended.filter(|_| outcome.as_deref() == Some("unanswered"))
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn every_look_has_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("r.db"), "", Time(1)).unwrap();
        store
            .read_blocking(|connection| {
                let plan = |sql: &str| -> Outcome<String> {
                    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                    // The plan does not depend on the values.
                    let mut steps = statement.raw_query();
                    let mut plan = String::new();
                    while let Some(step) = steps.next()? {
                        plan.push_str(&step.get::<_, String>(3)?);
                    }
                    Ok(plan)
                };
                assert!(plan(OPEN)?.contains("wake_open"), "{}", plan(OPEN)?);
                assert!(plan(HOLDS)?.contains("hold_open"), "{}", plan(HOLDS)?);
                assert!(plan(LAST)?.contains("wake_by_part"), "{}", plan(LAST)?);
                Ok(())
            })
            .unwrap();
    }
}
