//! The whole relay's waking in numbers, for `GET /metrics`. Everything is counted in the tables at the moment it is asked, so that a
//! restart neither loses nor invents anything.

use rusqlite::Connection;

use super::Ending;
use super::HoldReason;
use super::Kind;
use super::Lane;
use super::State;
use super::budget;
use crate::identity::people;
use crate::store::Outcome;
use crate::store::Time;

/// Counts of wakes, lines and holds, since the file began or now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// Wakes issued, by kind.
    pub issued: Vec<(&'static str, u64)>,
    /// Wakes ended, by outcome.
    pub ended: Vec<(&'static str, u64)>,
    /// Wakes open now, by state.
    pub open: Vec<(&'static str, u64)>,
    /// Open wakes held up in their pane now, by reason.
    pub held_up: Vec<(String, u64)>,
    /// Lines typed, by lane.
    pub typed: Vec<(&'static str, u64)>,
    /// Holds open now, by reason.
    pub holds: Vec<(&'static str, u64)>,
    /// What each person may spend and has spent within the hour.
    pub budgets: Vec<Budget>,
    /// Milliseconds from stored to presented, of every wake that was.
    pub presented_ms: Vec<i64>,
    /// Milliseconds from stored to consumed, of every wake that was.
    pub consumed_ms: Vec<i64>,
}

/// One person's budget in one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Whose.
    pub owner: String,
    /// `normal` or `urgent`.
    pub lane: &'static str,
    /// Lines a sliding hour.
    pub limit: u32,
    /// Lines typed within it, and places given.
    pub used: u32,
}

const WAKES: &str =
    "SELECT kind, state, outcome, hold_reason, stored_at, presented_at, consumed_at FROM wake";

/// The index holds all it needs.
pub(super) const TYPED: &str = "SELECT count(*) FROM nudge WHERE lane = ?1";

pub(super) const HELD: &str = "SELECT count(*) FROM hold WHERE reason = ?1 AND ended_at IS NULL";

/// Counts.
///
/// # Errors
/// A fault of the store.
pub fn measure(connection: &Connection, now: Time) -> Outcome<Measured> {
    let mut found = wakes(connection)?;
    let count = |sql: &str, word: &'static str| -> Outcome<(&'static str, u64)> {
        let mut statement = connection.prepare_cached(sql)?;
        let count: u32 = statement.query_row([word], |row| row.get(0))?;
        Ok((word, count.into()))
    };
    for lane in Lane::ALL {
        found.typed.push(count(TYPED, lane.as_str())?);
    }
    for reason in HoldReason::ALL {
        found.holds.push(count(HELD, reason.as_str())?);
    }
    for person in people::list(connection)? {
        for lane in [Lane::Normal, Lane::Urgent] {
            found.budgets.push(Budget {
                owner: person.name.clone(),
                lane: lane.as_str(),
                limit: budget::limit(connection, person.seq, lane)?,
                used: budget::used(connection, person.seq, lane, now)?,
            });
        }
    }
    Ok(found)
}

/// One walk over all wakes.
fn wakes(connection: &Connection) -> Outcome<Measured> {
    let open = State::ALL.iter().filter(|state| **state != State::Done);
    let mut found = Measured {
        issued: Kind::ALL.iter().map(|kind| (kind.as_str(), 0)).collect(),
        ended: Ending::ALL.iter().map(|end| (end.as_str(), 0)).collect(),
        open: open.map(|state| (state.as_str(), 0)).collect(),
        ..Measured::default()
    };
    let mut statement = connection.prepare_cached(WAKES)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, state): (Kind, State) = (row.get(0)?, row.get(1)?);
        add(&mut found.issued, kind.as_str());
        if let Some(ending) = row.get::<_, Option<Ending>>(2)? {
            add(&mut found.ended, ending.as_str());
        } else {
            add(&mut found.open, state.as_str());
            let reason: Option<String> = row.get(3)?;
            found.held_up.extend(reason.map(|reason| (reason, 1)));
        }
        let stored: Time = row.get(4)?;
        let after = |at: Option<Time>| at.map(|at| at.since(stored));
        found.presented_ms.extend(after(row.get(5)?));
        found.consumed_ms.extend(after(row.get(6)?));
    }
    found.held_up.sort_unstable();
    found.held_up.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += u64::from(same);
        same
    });
    Ok(found)
}

fn add(counts: &mut [(&'static str, u64)], word: &str) {
    for (_, count) in counts.iter_mut().filter(|(known, _)| *known == word) {
        *count += 1;
    }
}
