//! The park of a part that ran into its provider's limit (wake.md 7): mail queues until it ends.

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::identity::part;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;

/// Longest park.
pub const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Until when the part is parked, if it is.
///
/// # Errors
/// A fault of the store.
pub fn until(connection: &Connection, part: PartSeq, now: Time) -> Outcome<Option<Time>> {
    let mut statement = connection
        .prepare_cached("SELECT limited_until FROM part WHERE seq = ?1 AND limited_until > ?2")?;
    Ok(statement
        .query_row((part, now), |row| row.get(0))
        .optional()?)
}

/// When the park that ends first ends.
///
/// # Errors
/// A fault of the store.
pub fn first_end(connection: &Connection, now: Time) -> Outcome<Option<Time>> {
    let mut statement = connection.prepare_cached(
        "SELECT min(limited_until) FROM part WHERE limited_until > ?1 AND deleted_at IS NULL",
    )?;
    Ok(statement.query_row([now], |row| row.get(0))?)
}

/// Parks the part until `reset`, at most 24 h ahead; a time not in the future, or none, ends the park. Returns until when it is parked
/// now. Who calls it lets `wake` consider the part afterwards.
///
/// # Errors
/// A fault of the store.
pub fn set(tx: &Tx<'_>, part: PartSeq, reset: Option<Time>, now: Time) -> Outcome<Option<Time>> {
    let end = reset
        .filter(|reset| *reset > now)
        .map(|reset| reset.min(now + LONGEST));
    // A park that ends by itself frees the part at its end; one that is lifted, now.
    tx.execute(
        "UPDATE part SET limited_at = CASE WHEN ?2 IS NULL THEN NULL ELSE ?3 END,
                         limited_until = ?2,
                         freed_at = CASE WHEN ?2 IS NOT NULL THEN ?2
                                         WHEN limited_until > ?3 THEN ?3
                                         ELSE freed_at END
          WHERE seq = ?1",
        (part, end, now),
    )?;
    let row = part::get(tx, part)?;
    tx.signal(Signal {
        topic: Topic::Part,
        project: Some(row.project),
        part: Some(part),
        id: row.id,
    });
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity;
    use crate::identity::people;
    use crate::identity::project;
    use crate::store::Store;

    #[test]
    fn the_park_that_ends_first_is_known_until_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("r.db"), "", Time(1)).unwrap();
        store
            .write_blocking(|tx| {
                identity::found(tx, "kim", Time(1))?;
                let kim = people::first_owner(tx)?.seq;
                let shop = project::create(tx, kim, "shop", Time(1))?.seq;
                assert_eq!(first_end(tx, Time(1))?, None);
                for (name, end) in [("api", 9_000), ("web", 5_000)] {
                    let part = part::add(tx, shop, name, kim, Time(1))?;
                    set(tx, part.seq, Some(Time(end)), Time(1_000))?;
                }
                assert_eq!(first_end(tx, Time(1_000))?, Some(Time(5_000)));
                assert_eq!(first_end(tx, Time(5_000))?, Some(Time(9_000)));
                assert_eq!(first_end(tx, Time(9_000))?, None);
                Ok(())
            })
            .unwrap();
    }
}
