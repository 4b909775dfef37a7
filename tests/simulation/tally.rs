//! What the days were made of: a simulation that never meets a hold proves nothing about holds.

use std::collections::BTreeMap;
use std::fmt;

use crate::relay::Checked;
use crate::relay::Relay;

/// How often each thing happened.
#[derive(Debug, Default, Clone)]
pub struct Tally(BTreeMap<String, u32>);

/// Rows of the ledger by their words.
const WORDS: &str = "SELECT 'nudges ' || lane, count(*) FROM nudge GROUP BY lane
     UNION ALL SELECT 'wakes ' || outcome, count(*) FROM wake WHERE outcome IS NOT NULL GROUP BY outcome
     UNION ALL SELECT 'wakes for ' || kind, count(*) FROM wake GROUP BY kind
     UNION ALL SELECT 'rung ' || rung, count(*) FROM nudge GROUP BY rung
     UNION ALL SELECT 'holds ' || reason, count(*) FROM hold GROUP BY reason
     UNION ALL SELECT 'chains over eleven hops', count(*) FROM message WHERE hops > 11
     UNION ALL SELECT 'messages', count(*) FROM message";

/// Each of these must have happened in a run of [`super::SEEDS`] days.
pub const NEEDED: &[&str] = &[
    "holds broadcast",
    "holds budget",
    "holds cooldown",
    "holds limited",
    "holds paused",
    "holds ping_pong",
    "nudges human",
    "nudges normal",
    "nudges urgent",
    "rung 4",
    "wakes canceled",
    "wakes cleared",
    "wakes consumed",
    "wakes for again",
    "wakes for mail",
    "wakes for reminder",
    "wakes unanswered",
];

impl Tally {
    /// Adds what a relay's file holds at the end of its day.
    pub fn add(&mut self, relay: &Relay) -> Checked {
        let rows: Vec<(String, u32)> = relay.ask(|connection| {
            let mut statement = connection.prepare_cached(WORDS)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })?;
        for (word, count) in rows {
            *self.0.entry(word).or_default() += count;
        }
        Ok(())
    }

    /// Adds another.
    pub fn merge(&mut self, other: Self) {
        for (word, count) in other.0 {
            *self.0.entry(word).or_default() += count;
        }
    }

    /// What of [`NEEDED`] never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        let never = |word: &&&str| !self.0.contains_key(**word);
        NEEDED.iter().filter(never).copied().collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, count) in &self.0 {
            writeln!(f, "{count:>8} {word}")?;
        }
        Ok(())
    }
}
