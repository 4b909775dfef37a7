//! Reading the sums a page is made of: each once, in no order.

use rusqlite::Connection;
use rusqlite::named_params;

use super::Filter;
use crate::activity::Cause;
use crate::activity::lost::quarter;
use crate::activity::usage::Tokens;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;

/// One sum, as it lies in the row that is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum<'a> {
    pub part: PartSeq,
    pub quarter: i64,
    pub provider: &'a str,
    pub model: &'a str,
    pub cause: Cause,
    /// 0 for none.
    pub wake: i64,
    /// The thread that caused the wake, where asked for; 0 for none.
    pub thread: i64,
    /// What the provider said they cost, where it did.
    pub told: Option<i64>,
    pub replies: i64,
    pub tokens: Tokens,
}

/// The parts are the outer loop: each has its quarter hours side by side.
pub(in crate::activity) const EACH: &str = "SELECT s.part, s.quarter, s.provider, s.model, s.cause, s.wake, s.told, s.replies, s.input, s.output,
            s.cache_read, s.cache_write, s.cache_write_1h, s.reasoning, s.cost,
            CASE WHEN :by_thread THEN (SELECT cause_thread FROM wake WHERE seq = s.wake) END
       FROM part AS p CROSS JOIN usage_sum AS s ON s.part = p.seq
      WHERE p.project = :project AND (:part IS NULL OR p.seq = :part) AND s.quarter >= :from AND s.quarter < :to
        AND (:provider IS NULL OR s.provider = :provider) AND (:model IS NULL OR s.model = :model)
        AND (:cause IS NULL OR s.cause = :cause) AND (:wake IS NULL OR s.wake IN (SELECT seq FROM wake WHERE id = :wake UNION SELECT seq FROM wake WHERE tag = :wake))
        AND (:thread IS NULL OR s.wake IN (SELECT w.seq FROM wake AS w JOIN thread AS t ON t.seq = w.cause_thread WHERE t.id = :thread))";

pub(in crate::activity) const SINCE: &str =
    "SELECT coalesce(sum(input + output + cache_read + cache_write), 0) FROM usage_sum
      WHERE part = ?1 AND quarter >= ?2";

/// Hands every sum that counts to `take`, `with_threads` or without.
pub(super) fn each(
    connection: &Connection,
    filter: &Filter,
    with_threads: bool,
    mut take: impl FnMut(&Sum<'_>),
) -> Outcome<()> {
    let mut statement = connection.prepare_cached(EACH)?;
    // A page that ends within a quarter hour has all of it.
    let end = quarter(Time(filter.to.0 - 1)) + 1;
    let mut rows = statement.query(named_params! {
        ":project": filter.project,
        ":part": filter.part,
        ":from": quarter(filter.from),
        ":to": end,
        ":provider": filter.provider,
        ":model": filter.model,
        ":cause": filter.cause,
        ":wake": filter.wake,
        ":thread": filter.thread,
        ":by_thread": with_threads,
    })?;
    while let Some(row) = rows.next()? {
        let text = |at| {
            row.get_ref(at)
                .map(|value| value.as_str().unwrap_or_default())
        };
        let told: bool = row.get(6)?;
        let cost: i64 = row.get(14)?;
        take(&Sum {
            part: row.get(0)?,
            quarter: row.get(1)?,
            provider: text(2)?,
            model: text(3)?,
            cause: row.get(4)?,
            wake: row.get(5)?,
            thread: row.get::<_, Option<i64>>(15)?.unwrap_or(0),
            told: told.then_some(cost),
            replies: row.get(7)?,
            tokens: Tokens {
                input: row.get(8)?,
                output: row.get(9)?,
                cache_read: row.get(10)?,
                cache_write: row.get(11)?,
                cache_write_1h: row.get(12)?,
                reasoning: row.get(13)?,
            },
        });
    }
    Ok(())
}
