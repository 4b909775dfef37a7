//! The rows of turns: found for a report, and changed by its steps.

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::rule::Prompt;
use super::rule::Turn;
use super::session::Session;
use crate::activity::Ending;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::TurnSeq;
use crate::store::Tx;

macro_rules! turn_where {
    ($condition:literal) => {
        concat!(
            "SELECT seq, turn, started_at, ended_at, ending, cause, wake FROM turn
              WHERE part = ?1 AND provider = ?2 AND session = ?3 AND ",
            $condition
        )
    };
}

pub(in crate::activity) const NAMED: &str = turn_where!("turn = ?4");
pub(in crate::activity) const OPEN: &str = turn_where!("ended_at IS NULL ORDER BY started_at");
pub(in crate::activity) const LAST: &str =
    turn_where!("started_at <= ?4 ORDER BY started_at DESC, seq DESC LIMIT 1");
pub(in crate::activity) const NEXT: &str = "SELECT min(started_at) FROM turn
      WHERE part = ?1 AND provider = ?2 AND session = ?3 AND started_at > ?4";

fn turn(row: &rusqlite::Row<'_>) -> rusqlite::Result<Turn> {
    let end: Option<Time> = row.get(3)?;
    Ok(Turn {
        seq: row.get(0)?,
        name: row.get(1)?,
        started_at: row.get(2)?,
        ended: end.zip(row.get::<_, Option<Ending>>(4)?),
        prompt: Prompt {
            cause: row.get(5)?,
            wake: row.get(6)?,
        },
    })
}

/// The session's turn of that name.
pub(in crate::activity) fn named(
    connection: &Connection,
    of: &Session<'_>,
    name: &str,
) -> Outcome<Option<Turn>> {
    let mut statement = connection.prepare_cached(NAMED)?;
    let found = statement.query_row((of.part, of.provider, of.name, name), turn);
    Ok(found.optional()?)
}

/// The session's turns that have not ended.
pub(super) fn open(connection: &Connection, of: &Session<'_>) -> Outcome<Vec<Turn>> {
    let mut statement = connection.prepare_cached(OPEN)?;
    let rows = statement.query_map((of.part, of.provider, of.name), turn)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The last of the session's turns that had begun by then.
pub(in crate::activity) fn last(
    connection: &Connection,
    of: &Session<'_>,
    at: Time,
) -> Outcome<Option<Turn>> {
    let mut statement = connection.prepare_cached(LAST)?;
    let found = statement.query_row((of.part, of.provider, of.name, at), turn);
    Ok(found.optional()?)
}

/// When the first of the session's turns began that began after `at`.
pub(super) fn next(connection: &Connection, of: &Session<'_>, at: Time) -> Outcome<Option<Time>> {
    let mut statement = connection.prepare_cached(NEXT)?;
    Ok(statement.query_row((of.part, of.provider, of.name, at), |row| row.get(0))?)
}

/// What a new turn is made of.
#[derive(Debug, Clone)]
pub(in crate::activity) struct New<'a> {
    /// `None`: the one for all that the session has without a name.
    pub name: Option<&'a str>,
    pub started_at: Option<Time>,
    pub ended: Option<(Time, Ending)>,
    pub prompt: Prompt,
    pub shifted: bool,
}

/// The turn of that name, made if the session has none.
pub(in crate::activity) fn make(tx: &Tx<'_>, of: &Session<'_>, new: &New<'_>) -> Outcome<TurnSeq> {
    let name = new.name.unwrap_or(of.name);
    let made = tx
        .prepare_cached(
            "INSERT INTO turn (part, provider, session, turn, cause, wake, started_at, ended_at, ending, shifted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO NOTHING",
        )?
        .execute((
            of.part,
            of.provider,
            of.name,
            name,
            new.prompt.cause,
            new.prompt.wake,
            new.started_at,
            new.ended.map(|(at, _)| at),
            new.ended.map(|(_, ending)| ending),
            new.shifted,
        ))?;
    if made == 1 {
        return Ok(TurnSeq(tx.last_insert_rowid()));
    }
    let mut statement = tx.prepare_cached(
        "SELECT seq FROM turn WHERE part = ?1 AND provider = ?2 AND session = ?3 AND turn = ?4",
    )?;
    Ok(statement.query_row((of.part, of.provider, of.name, name), |row| row.get(0))?)
}

/// Gives a turn the begin nobody had seen; the prompt it was taken to have until now.
pub(super) fn start(
    tx: &Tx<'_>,
    seq: TurnSeq,
    at: Time,
    prompt: Prompt,
    shifted: bool,
) -> Outcome<Prompt> {
    let before = self::prompt(tx, seq)?;
    tx.prepare_cached(
        "UPDATE turn SET started_at = ?2, cause = ?3, wake = ?4, shifted = max(shifted, ?5) WHERE seq = ?1",
    )?
    .execute((seq, at, prompt.cause, prompt.wake, shifted))?;
    Ok(before)
}

/// What began a turn.
pub(in crate::activity) fn prompt(connection: &Connection, seq: TurnSeq) -> Outcome<Prompt> {
    let mut statement = connection.prepare_cached("SELECT cause, wake FROM turn WHERE seq = ?1")?;
    Ok(statement.query_row([seq], |row| {
        Ok(Prompt {
            cause: row.get(0)?,
            wake: row.get(1)?,
        })
    })?)
}

/// Ends a turn; false if it had ended by then already.
pub(super) fn end(tx: &Tx<'_>, seq: TurnSeq, at: Time, ending: Ending) -> Outcome<bool> {
    let changed = tx
        .prepare_cached(
            "UPDATE turn SET ended_at = ?2, ending = ?3 WHERE seq = ?1 AND (ended_at IS NULL OR ended_at > ?2)",
        )?
        .execute((seq, at, ending))?;
    Ok(changed > 0)
}
