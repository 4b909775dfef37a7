//! What tokens cost (usage.md 9): a dated table, applied when a figure is read. What has no price has no cost, which is not a cost of 0.

mod table;

use super::usage::Tokens;

pub use table::BadPrices;
pub use table::Prices;

/// What some tokens cost. Sums of costs are exact; only what is shown is rounded, to whole millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of a millionth of a dollar, if anything has a price.
    exact: Option<i128>,
    /// Tokens without a price.
    pub unpriced: i64,
}

/// Millionths within one millionth of a dollar.
const FINE: i128 = 1_000_000;

impl Cost {
    /// What a provider itself said, in millionths of a dollar.
    #[must_use]
    pub fn told(micros: i64) -> Self {
        Self {
            exact: Some(i128::from(micros) * FINE),
            unpriced: 0,
        }
    }

    /// Of tokens nobody has a price for.
    #[must_use]
    pub fn unknown(tokens: &Tokens) -> Self {
        Self {
            exact: None,
            unpriced: tokens.total(),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            exact: match (self.exact, other.exact) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            },
            unpriced: self.unpriced + other.unpriced,
        }
    }

    /// In whole millionths of a dollar; `None` if nothing has a price.
    #[must_use]
    pub fn micros(&self) -> Option<i64> {
        let exact = self.exact?;
        i64::try_from((exact + FINE / 2).div_euclid(FINE)).ok()
    }

    /// In dollars.
    #[must_use]
    pub fn usd(&self) -> Option<f64> {
        // Whole millionths below 2^53 are read back as they were.
        self.micros().map(|micros| micros as f64 / 1e6)
    }
}

/// What a model's tokens cost, in millionths of a dollar per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Price {
    input: Option<i64>,
    output: Option<i64>,
    cache_read: Option<i64>,
    cache_write: Option<i64>,
    cache_write_1h: Option<i64>,
}

impl Price {
    /// What these tokens cost. Tokens of one kind without a price leave all of them without.
    #[must_use]
    pub fn of(&self, tokens: &Tokens) -> Cost {
        let kinds = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write - tokens.cache_write_1h, self.cache_write),
            (tokens.cache_write_1h, self.cache_write_1h),
        ];
        let mut exact = 0;
        for (count, price) in kinds {
            match price {
                Some(price) => exact += i128::from(count) * i128::from(price),
                None if count == 0 => {}
                None => return Cost::unknown(tokens),
            }
        }
        Cost {
            exact: Some(exact),
            unpriced: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: Some(3_000_000),
        output: Some(15_000_000),
        cache_read: None,
        cache_write: Some(3_750_000),
        cache_write_1h: Some(6_000_000),
    };

    #[test]
    fn usage_042_tokens_times_price_in_whole_micro_dollars() {
        let tokens = |input, output| Tokens {
            input,
            output,
            ..Tokens::default()
        };
        for (tokens, micros) in [
            (tokens(1_000_000, 100_000), Some(4_500_000)),
            (tokens(1, 0), Some(3)),
            (tokens(0, 0), Some(0)),
            (
                Tokens {
                    cache_write: 1_000_000,
                    cache_write_1h: 400_000,
                    ..Tokens::default()
                },
                Some(4_650_000),
            ),
            (
                Tokens {
                    cache_read: 1,
                    input: 1_000_000,
                    ..Tokens::default()
                },
                None,
            ),
        ] {
            assert_eq!(PRICE.of(&tokens).micros(), micros, "{tokens:?}");
        }
        assert_eq!(Cost::told(4_200).usd(), Some(0.0042));
        assert_eq!(PRICE.of(&tokens(1_000_000, 100_000)).usd(), Some(4.5));
    }

    #[test]
    fn a_sum_is_exact_and_says_what_has_no_price() {
        let third = Price {
            input: Some(333_333),
            ..Price::default()
        };
        let one = Tokens {
            input: 1,
            ..Tokens::default()
        };
        let sum = (0..3).fold(Cost::default(), |sum, _| sum.plus(third.of(&one)));
        assert_eq!(sum.micros(), Some(1));
        let unknown = Tokens {
            output: 7,
            cache_read: 5,
            ..Tokens::default()
        };
        let both = sum.plus(PRICE.of(&unknown));
        assert_eq!((both.micros(), both.unpriced), (Some(1), 12));
        assert_eq!(Cost::default().micros(), None);
    }
}
