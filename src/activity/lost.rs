//! What was not counted (usage.md 5 and 8): transcript lines passed over, reports a hook had to drop, prompts with a stranger's tag.

use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::words;

words! {
    /// Why something is missing from the ledger.
    #[expect(missing_docs, reason = "the names are those of schema.sql")]
    What {
        Skipped = "skipped",
        Dropped = "dropped",
        ForeignTag = "foreign_tag",
    }
}

/// A quarter hour in milliseconds.
pub(super) const QUARTER_MS: i64 = 15 * 60 * 1_000;

/// The quarter hour of a time, counted from 1970 UTC.
pub(super) fn quarter(at: Time) -> i64 {
    at.0.div_euclid(QUARTER_MS)
}

/// Most of one kind that one report may claim: a number beyond it is a fault of who counted.
const MOST: u64 = 1_000_000_000;

/// Counts `count` more; `why` in the hook's words.
pub(super) fn count(
    tx: &Tx<'_>,
    part: PartSeq,
    at: Time,
    what: What,
    why: &str,
    count: u64,
) -> Outcome<()> {
    if count == 0 {
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT INTO usage_lost (part, quarter, what, why, count) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET count = count + excluded.count",
    )?
    .execute((part, quarter(at), what, why, count.min(MOST).cast_signed()))?;
    Ok(())
}
