//! The ledger: tokens and cost, grouped and filtered as asked (usage.md 8).
//!
//! Nothing is kept but rows and their sums: every figure is computed when asked, so that a late report corrects yesterday's page. A page
//! reads the sums of its parts and quarter hours once and groups them here; a model's price and a quarter's day are found once each.

mod group;
pub(super) mod sums;

use rusqlite::Connection;

pub use group::By;
pub use group::Unit;

use group::Groups;

use super::Cause;
use super::price::Cost;
use super::price::Prices;
use super::usage::Tokens;
use super::zone::Zone;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;

/// Which replies count. What is `None` does not matter; all that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of this project's parts, deleted ones too.
    pub project: ProjectSeq,
    /// Of this part.
    pub part: Option<PartSeq>,
    /// By this agent CLI.
    pub provider: Option<String>,
    /// By exactly this model.
    pub model: Option<String>,
    /// In turns begun so.
    pub cause: Option<Cause>,
    /// In turns of the wake with this outside id, or of those with this tag.
    pub wake: Option<String>,
    /// In turns of wakes that a message of the thread with this outside id caused.
    pub thread: Option<String>,
    /// From the quarter hour this is in.
    pub from: Time,
    /// Up to the end of the quarter hour before this, or of the one it is in.
    pub to: Time,
}

/// How to group.
#[derive(Debug, Clone)]
pub struct Grouping<'a> {
    /// By what.
    pub by: By,
    /// And by hour or day.
    pub unit: Option<Unit>,
    /// Whose hours and days.
    pub zone: &'a Zone,
    /// What tokens cost.
    pub prices: &'a Prices,
    /// At most so many lines: of each hour or day those with most tokens come first.
    pub limit: Option<usize>,
}

/// What some replies come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many.
    pub replies: i64,
    /// Their tokens.
    pub tokens: Tokens,
    /// Their cost.
    pub cost: Cost,
}

impl Figures {
    fn add(&mut self, other: &Self) {
        self.replies += other.replies;
        self.tokens = self.tokens.plus(&other.tokens, 1);
        self.cost = self.cost.plus(other.cost);
    }
}

/// One line of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Begin of its hour or day.
    pub at: Option<Time>,
    /// What it is of: a name, or an outside id; empty for what has none, such as the thread of turns without a wake.
    pub name: String,
    /// In words, where the name is an id: a wake's tag, a thread's subject.
    pub label: Option<String>,
    /// What it comes to.
    pub figures: Figures,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// By time, then by tokens, most first.
    pub lines: Vec<Line>,
    /// Lines beyond the limit; they are in the total.
    pub omitted: usize,
    /// All of them.
    pub total: Figures,
    /// Models that have tokens without a price, by name.
    pub unpriced_models: Vec<String>,
}

/// A page of the ledger.
///
/// # Errors
/// A fault of the store.
pub fn page(connection: &Connection, filter: &Filter, grouping: &Grouping<'_>) -> Outcome<Page> {
    let mut groups = Groups::new(connection, grouping);
    let by_thread = grouping.by == By::Thread;
    sums::each(connection, filter, by_thread, |sum| groups.add(sum))?;
    groups.finish()
}

/// Tokens of a part since the quarter hour that `from` is in.
///
/// # Errors
/// A fault of the store.
pub fn tokens_since(connection: &Connection, part: PartSeq, from: Time) -> Outcome<i64> {
    let mut statement = connection.prepare_cached(sums::SINCE)?;
    Ok(statement.query_row((part, super::lost::quarter(from)), |row| row.get(0))?)
}
