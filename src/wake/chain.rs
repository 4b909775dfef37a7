//! Chains of agents' messages: how long the one is that leads to a message, and how old its beginning (wake.md 6).

use std::time::Duration;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// From this length on a chain may be held.
pub(super) const LONG: u32 = 12;

/// A message shown to its sender within this time is what it answers; a chain of [`LONG`] within it is too fast.
pub(super) const WINDOW: Duration = Duration::from_secs(5 * 60);

/// Where a message stands in a chain: the values of `message.hops` and `message.follows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Messages before it in the chain.
    pub hops: u32,
    /// The message right before it.
    pub follows: Option<MessageSeq>,
}

pub(super) const SHOWN: &str =
    "SELECT m.hops, m.seq FROM recipient AS r JOIN message AS m ON m.seq = r.message
      WHERE r.part = ?1 AND r.last_seen_at > ?2 ORDER BY m.hops DESC, m.seq DESC LIMIT 1";

/// Where a message that `sender` writes now stands: one after the longest chain among the messages shown to it in the last 5 min, or
/// at the beginning of its own. A person's message always has 0 hops.
///
/// # Errors
/// A fault of the store.
pub fn hops_of_next(connection: &Connection, sender: PartSeq, now: Time) -> Outcome<Chain> {
    let longest = connection
        .prepare_cached(SHOWN)?
        .query_row((sender, now - WINDOW), |row| {
            Ok(Chain {
                hops: row.get::<_, u32>(0)?.saturating_add(1),
                follows: row.get(1)?,
            })
        })
        .optional()?;
    Ok(longest.unwrap_or(Chain {
        hops: 0,
        follows: None,
    }))
}

pub(super) const BACK: &str = "WITH RECURSIVE back (seq, depth) AS (
         SELECT ?1, 0
          UNION ALL
         SELECT m.follows, depth + 1 FROM back JOIN message AS m ON m.seq = back.seq
          WHERE depth < ?2 AND m.follows IS NOT NULL)
     SELECT m.at FROM back JOIN message AS m ON m.seq = back.seq WHERE back.depth = ?2";

/// Whether the message [`LONG`] hops before this one is less than 5 min old.
pub(super) fn too_fast(connection: &Connection, message: MessageSeq, now: Time) -> Outcome<bool> {
    let began: Option<Time> = connection
        .prepare_cached(BACK)?
        .query_row((message, LONG), |row| row.get(0))
        .optional()?;
    Ok(began.is_some_and(|began| began > now - WINDOW))
}
