//! What an answer says it cost.

use std::iter::Sum;

use super::request::Dialect;

/// Tokens of an answer. Those of no two answers are alike, so that one missed or counted twice shows in every sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read, without those from a cache.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Written, reasoning included.
    pub output: u64,
    pub reasoning: u64,
}

impl Usage {
    /// The usage of a server's answer of that number: of the kinds of tokens its dialect knows.
    pub fn of(dialect: Dialect, number: usize) -> Self {
        let number = number as u64;
        let anthropic = dialect == Dialect::Anthropic;
        Self {
            input: 100 + 7 * number,
            cache_read: 1_000 + 31 * number,
            cache_write: if anthropic { 50 + 3 * number } else { 0 },
            output: 40 + 5 * number,
            reasoning: if anthropic { 0 } else { 10 + number },
        }
    }

    /// What stands at the head of a stream: the model has read, and written one token.
    pub fn of_start(self) -> Self {
        Self {
            output: 1,
            reasoning: 0,
            ..self
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            input: sum.input + one.input,
            cache_read: sum.cache_read + one.cache_read,
            cache_write: sum.cache_write + one.cache_write,
            output: sum.output + one.output,
            reasoning: sum.reasoning + one.reasoning,
        })
    }
}
