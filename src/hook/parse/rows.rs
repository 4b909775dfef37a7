//! The rows of a stretch of reading: one per key, each number the largest that was written (usage.md 4).

use std::collections::BTreeMap;
use std::collections::HashMap;

use crate::api::hook::UsageRow;
use crate::store::Time;

/// Rows read, and what was passed over.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    rows: Vec<UsageRow>,
    places: HashMap<String, usize>,
    skipped: BTreeMap<String, u64>,
    joined_at: Option<Time>,
}

impl Rows {
    /// None yet; replies before `joined_at` will be counted as skipped.
    #[must_use]
    pub fn since(joined_at: Option<Time>) -> Self {
        Self {
            joined_at,
            ..Self::default()
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing was read and nothing passed over.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.skipped.is_empty()
    }

    /// Takes them out.
    pub fn take(&mut self) -> (Vec<UsageRow>, BTreeMap<String, u64>) {
        self.places.clear();
        (
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.skipped),
        )
    }

    /// Counts something that was passed over.
    pub fn skip(&mut self, why: &str) {
        *self.skipped.entry(why.to_owned()).or_default() += 1;
    }

    /// Adds a row, or raises the numbers of the one with its key. `now` stands in for a time that cannot be read.
    pub(super) fn add(&mut self, mut row: UsageRow, now: &str) {
        match Time::parse(&row.at) {
            Some(at) if self.joined_at.is_some_and(|joined| at < joined) => {
                return self.skip("before_join");
            }
            Some(at) => row.at = at.rfc3339(),
            None => now.clone_into(&mut row.at),
        }
        match self.places.get(&row.key) {
            Some(place) => raise(&mut self.rows[*place], row),
            None => {
                self.places.insert(row.key.clone(), self.rows.len());
                self.rows.push(row);
            }
        }
    }
}

fn raise(known: &mut UsageRow, row: UsageRow) {
    for (known, new) in [
        (&mut known.input_tokens, row.input_tokens),
        (&mut known.output_tokens, row.output_tokens),
        (&mut known.cache_read_tokens, row.cache_read_tokens),
        (&mut known.cache_write_tokens, row.cache_write_tokens),
        (&mut known.cache_write_1h_tokens, row.cache_write_1h_tokens),
        (&mut known.reasoning_tokens, row.reasoning_tokens),
    ] {
        *known = new.max(*known);
    }
    if let Some(cost) = row.cost_usd {
        known.cost_usd = Some(known.cost_usd.unwrap_or_default().max(cost));
    }
    if known.model.is_empty() {
        known.model = row.model;
    }
    known.turn = known.turn.take().or(row.turn);
}
