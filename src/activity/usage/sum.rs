//! The sums of rows (usage.md 7): what changes in rows is gathered and moves their sums in the same transaction.

use std::collections::HashMap;

use super::Tokens;
use crate::activity::Cause;
use crate::activity::lost::quarter;
use crate::activity::turn::Prompt;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// Which sum a row is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    quarter: i64,
    model: String,
    cause: Cause,
    wake: i64,
    told: bool,
}

/// What a row adds to its sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Figures {
    replies: i64,
    tokens: Tokens,
    cost: i64,
}

/// A row as far as its sum is concerned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted<'a> {
    pub at: Time,
    pub model: &'a str,
    pub tokens: Tokens,
    pub cost: Option<i64>,
    pub prompt: Prompt,
}

/// Changes of the sums of one part and provider, not yet written.
#[derive(Debug, Default)]
pub(super) struct Changes {
    sums: HashMap<Key, Figures>,
}

impl Changes {
    /// The row is there now.
    pub fn add(&mut self, row: &Counted<'_>) {
        self.change(row, 1);
    }

    /// The row is not there any more, or not so.
    pub fn take(&mut self, row: &Counted<'_>) {
        self.change(row, -1);
    }

    fn change(&mut self, row: &Counted<'_>, sign: i64) {
        let key = Key {
            quarter: quarter(row.at),
            model: row.model.to_owned(),
            cause: row.prompt.cause,
            wake: row.prompt.wake.map_or(0, |wake| wake.0),
            told: row.cost.is_some(),
        };
        let sum = self.sums.entry(key).or_default();
        sum.replies += sign;
        sum.cost += sign * row.cost.unwrap_or(0);
        sum.tokens = sum.tokens.plus(&row.tokens, sign);
    }

    /// Moves the sums.
    pub fn write(self, tx: &Tx<'_>, part: PartSeq, provider: &str) -> Outcome<()> {
        for (key, sum) in self.sums {
            if sum == Figures::default() {
                continue;
            }
            let tokens = sum.tokens;
            tx.prepare_cached(
                "INSERT INTO usage_sum (part, quarter, provider, model, cause, wake, told, replies, input, output, cache_read,
                                        cache_write, cache_write_1h, reasoning, cost)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
                 ON CONFLICT DO UPDATE SET
                   replies = replies + excluded.replies, input = input + excluded.input, output = output + excluded.output,
                   cache_read = cache_read + excluded.cache_read, cache_write = cache_write + excluded.cache_write,
                   cache_write_1h = cache_write_1h + excluded.cache_write_1h, reasoning = reasoning + excluded.reasoning,
                   cost = cost + excluded.cost",
            )?
            .execute((
                part,
                key.quarter,
                provider,
                &key.model,
                key.cause,
                key.wake,
                key.told,
                sum.replies,
                tokens.input,
                tokens.output,
                tokens.cache_read,
                tokens.cache_write,
                tokens.cache_write_1h,
                tokens.reasoning,
                sum.cost,
            ))?;
            if sum.replies < 0 {
                tx.prepare_cached(
                    "DELETE FROM usage_sum WHERE part = ?1 AND quarter = ?2 AND provider = ?3 AND model = ?4 AND cause = ?5
                        AND wake = ?6 AND told = ?7 AND replies = 0",
                )?
                .execute((
                    part, key.quarter, provider, &key.model, key.cause, key.wake, key.told,
                ))?;
            }
        }
        Ok(())
    }
}
