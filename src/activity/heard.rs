//! When a part was last heard by its own MCP call: in memory, written in batches (DESIGN 3).

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// A part counts as online for this long after it was heard, in milliseconds (tools.md 6, roster).
pub const ONLINE_MS: i64 = 90_000;

/// The last time each part was heard since the relay started.
#[derive(Debug, Default)]
pub struct Heard {
    parts: Mutex<HashMap<PartSeq, (Time, bool)>>,
}

impl Heard {
    /// Notes that a request of `part` passed every check at `now`.
    pub fn note(&self, part: PartSeq, now: Time) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = parts.entry(part).or_insert((now, true));
        *entry = (entry.0.max(now), true);
    }

    /// When it was last heard since the relay started.
    #[must_use]
    pub fn last(&self, part: PartSeq) -> Option<Time> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.get(&part).map(|(at, _)| *at)
    }

    /// What was noted since the last call, for [`flush`].
    pub fn take_dirty(&self) -> Vec<(PartSeq, Time)> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts
            .iter_mut()
            .filter(|(_, (_, dirty))| *dirty)
            .map(|(part, entry)| {
                entry.1 = false;
                (*part, entry.0)
            })
            .collect()
    }
}

/// Writes a batch.
///
/// # Errors
/// A fault of the store.
pub fn flush(tx: &Tx<'_>, rows: &[(PartSeq, Time)]) -> Outcome<()> {
    let mut statement = tx.prepare_cached(
        "UPDATE part SET heard_at = max(coalesce(heard_at, 0), ?2) WHERE seq = ?1",
    )?;
    for row in rows {
        statement.execute(*row)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_holds_each_part_once_and_only_news() {
        let heard = Heard::default();
        heard.note(PartSeq(1), Time(10));
        heard.note(PartSeq(1), Time(5));
        assert_eq!(heard.take_dirty(), vec![(PartSeq(1), Time(10))]);
        assert!(heard.take_dirty().is_empty());
        assert_eq!(heard.last(PartSeq(1)), Some(Time(10)));
        assert_eq!(heard.last(PartSeq(2)), None);
    }
}
