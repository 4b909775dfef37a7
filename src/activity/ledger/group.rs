//! Grouping sums into the lines of a page.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::OptionalExtension;

use super::Figures;
use super::Grouping;
use super::Line;
use super::Page;
use super::sums::Sum;
use crate::activity::lost::QUARTER_MS;
use crate::activity::price::Cost;
use crate::activity::price::Price;
use crate::store::Outcome;
use crate::store::Time;

/// What lines are of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum By {
    /// A line per part.
    #[default]
    Part,
    /// Per model.
    Model,
    /// Per agent CLI.
    Provider,
    /// Per cause of the turn.
    Cause,
    /// Per wake.
    Wake,
    /// Per thread whose messages caused the wakes.
    Thread,
    /// One line for all.
    All,
}

impl By {
    /// The word of JSON and of the command.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Model => "model",
            Self::Provider => "provider",
            Self::Cause => "cause",
            Self::Wake => "wake",
            Self::Thread => "thread",
            Self::All => "all",
        }
    }
}

/// How long the times of lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// An hour.
    Hour,
    /// A day.
    Day,
}

/// What a line is of, by number: a row of the tables, or a word that was seen.
type Member = i64;

/// Lines in the making.
pub(super) struct Groups<'a> {
    connection: &'a Connection,
    grouping: &'a Grouping<'a>,
    lines: HashMap<(Option<Time>, Member), Figures>,
    total: Figures,
    words: Vec<String>,
    word_numbers: HashMap<String, Member>,
    /// The hour or day of a quarter hour.
    times: HashMap<i64, Time>,
    /// The price of a model's word on a day.
    prices: HashMap<(Member, i64), Option<Price>>,
    unpriced: BTreeSet<String>,
}

/// Quarter hours of a day.
const A_DAY: i64 = 24 * 4;

impl<'a> Groups<'a> {
    pub fn new(connection: &'a Connection, grouping: &'a Grouping<'a>) -> Self {
        Self {
            connection,
            grouping,
            lines: HashMap::new(),
            total: Figures::default(),
            words: Vec::new(),
            word_numbers: HashMap::new(),
            times: HashMap::new(),
            prices: HashMap::new(),
            unpriced: BTreeSet::new(),
        }
    }

    /// Adds one sum.
    pub fn add(&mut self, sum: &Sum<'_>) {
        let cost = self.cost(sum);
        let figures = Figures {
            replies: sum.replies,
            tokens: sum.tokens,
            cost,
        };
        let member = match self.grouping.by {
            By::All => 0,
            By::Part => sum.part.0,
            By::Model => self.word(sum.model),
            By::Provider => self.word(sum.provider),
            By::Cause => self.word(sum.cause.as_str()),
            By::Wake => sum.wake,
            By::Thread => sum.thread,
        };
        let at = self.grouping.unit.map(|unit| self.time(unit, sum.quarter));
        self.lines.entry((at, member)).or_default().add(&figures);
        self.total.add(&figures);
    }

    fn cost(&mut self, sum: &Sum<'_>) -> Cost {
        if let Some(told) = sum.told {
            return Cost::told(told);
        }
        let (model, day) = (self.word(sum.model), sum.quarter.div_euclid(A_DAY));
        let prices = self.grouping.prices;
        let price = self.prices.entry((model, day)).or_insert_with(|| {
            let at = Time(sum.quarter * QUARTER_MS);
            prices.find(sum.model, at).copied()
        });
        let cost = match price {
            Some(price) => price.of(&sum.tokens),
            None => Cost::unknown(&sum.tokens),
        };
        if cost.unpriced > 0 && !self.unpriced.contains(sum.model) {
            self.unpriced.insert(sum.model.to_owned());
        }
        cost
    }

    fn word(&mut self, word: &str) -> Member {
        if let Some(number) = self.word_numbers.get(word) {
            return *number;
        }
        let number = Member::try_from(self.words.len()).unwrap_or(Member::MAX);
        self.words.push(word.to_owned());
        self.word_numbers.insert(word.to_owned(), number);
        number
    }

    fn time(&mut self, unit: Unit, quarter: i64) -> Time {
        let zone = self.grouping.zone;
        *self.times.entry(quarter).or_insert_with(|| {
            let at = Time(quarter * QUARTER_MS);
            match unit {
                Unit::Hour => zone.hour(at),
                Unit::Day => zone.day(at),
            }
        })
    }

    /// The page. Only lines that stay are given their names.
    pub fn finish(self) -> Outcome<Page> {
        let mut kept: Vec<_> = self.lines.iter().collect();
        kept.sort_unstable_by_key(|((at, member), figures)| {
            (*at, Reverse(figures.tokens.total()), *member)
        });
        let limit = self.grouping.limit.unwrap_or(usize::MAX);
        let omitted = kept.len().saturating_sub(limit);
        kept.truncate(limit);
        let mut lines = Vec::with_capacity(kept.len());
        for ((at, member), figures) in kept {
            let (name, label) = self.name(*member)?;
            lines.push(Line {
                at: *at,
                name,
                label,
                figures: *figures,
            });
        }
        Ok(Page {
            lines,
            omitted,
            total: self.total,
            unpriced_models: self.unpriced.into_iter().collect(),
        })
    }

    /// What a line is of, and what that is in words.
    fn name(&self, member: Member) -> Outcome<(String, Option<String>)> {
        let sql = match self.grouping.by {
            By::All => return Ok(("all".to_owned(), None)),
            By::Model | By::Provider | By::Cause => {
                let word = usize::try_from(member)
                    .ok()
                    .and_then(|number| self.words.get(number));
                return Ok((word.cloned().unwrap_or_default(), None));
            }
            By::Part => "SELECT slug, NULL FROM part WHERE seq = ?1",
            By::Wake => "SELECT id, tag FROM wake WHERE seq = ?1",
            By::Thread => "SELECT id, subject FROM thread WHERE seq = ?1",
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([member], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?.unwrap_or_default())
    }
}
