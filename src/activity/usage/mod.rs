//! Model replies: each one row, counted once per part (usage.md 7).
//!
//! - **Unique by its key**: a repeat raises single numbers to the larger, never adds, never lowers, and fills an empty model.
//! - **Rows and sums move together**, in one transaction and by the same difference.
//! - **A row belongs to the turn that made it**, found by `assign`, however late it comes.

mod assign;
mod check;
mod row;
mod sum;

use rusqlite::Connection;
use serde_json::Value;

use super::lost;
use super::lost::What;
use super::turn;
use super::turn::Prompt;
use super::turn::Session;
use super::turn::complete;
use super::turn::told;
use crate::api::hook::MAX_ROWS;
use crate::api::hook::RefusedRow;
use crate::api::hook::UsageAnswer;
use crate::api::hook::UsageReport;
use crate::identity::Part;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::TurnSeq;
use crate::store::Tx;

#[cfg(test)]
pub(super) use assign::BEGUN;

use assign::Turns;
use row::Change;
use sum::Changes;
use sum::Counted;

/// The provider an agent's own word is filed under (the `event` tool).
pub(super) const OWN_WORD: &str = "event";

/// Kinds of what was passed over that one post may name, and the longest name of one.
const KINDS: usize = 20;
const KIND: usize = 40;

/// Tokens of one reply or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read, without cached ones.
    pub input: i64,
    /// Written, reasoning included.
    pub output: i64,
    /// Read from the cache.
    pub cache_read: i64,
    /// Written to the cache.
    pub cache_write: i64,
    /// Of `cache_write`: for an hour.
    pub cache_write_1h: i64,
    /// Of `output`: reasoning.
    pub reasoning: i64,
}

impl Tokens {
    /// With others added `times`, which may be negative.
    #[must_use]
    pub fn plus(&self, other: &Self, times: i64) -> Self {
        self.zip(other, |a, b| a + times * b)
    }

    /// The larger of each.
    fn at_least(&self, other: &Self) -> Self {
        self.zip(other, i64::max)
    }

    fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> i64) -> Self {
        Self {
            input: f(self.input, other.input),
            output: f(self.output, other.output),
            cache_read: f(self.cache_read, other.cache_read),
            cache_write: f(self.cache_write, other.cache_write),
            cache_write_1h: f(self.cache_write_1h, other.cache_write_1h),
            reasoning: f(self.reasoning, other.reasoning),
        }
    }

    /// All of them, each once.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

/// A checked reply, its time on our clock.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reply {
    key: String,
    at: Time,
    /// The turn its transcript names.
    turn: Option<String>,
    model: String,
    tokens: Tokens,
    /// By its provider's word, in millionths of a dollar.
    cost: Option<i64>,
    sidechain: bool,
    shifted: bool,
}

/// Takes a post of replies of `part`. A bad row is refused alone.
///
/// # Errors
/// `too_large` for more than 500 rows, `invalid_argument` for a provider, session or turn that breaks its bounds; nothing is stored then.
pub fn take(
    tx: &Tx<'_>,
    part: &Part,
    report: &UsageReport<Value>,
    now: Time,
) -> Outcome<UsageAnswer> {
    if report.rows.len() > MAX_ROWS {
        let message = format!(
            "Nothing was stored: {} rows, the limit is {MAX_ROWS}. Send them in several posts.",
            report.rows.len()
        );
        return Err(Refusal::new("too_large", message).into());
    }
    told::provider(&report.provider)?;
    told::name("session", &report.session)?;
    if let Some(turn) = &report.turn {
        told::name("turn", turn)?;
    }
    let clock = told::clock(report.sent_at.as_deref(), now)?;
    for (why, count) in report.skipped.iter().take(KINDS) {
        let why: String = why.chars().filter(|c| !c.is_control()).take(KIND).collect();
        lost::count(tx, part.seq, now, What::Skipped, &why, *count)?;
    }
    let mut answer = UsageAnswer {
        ok: true,
        ..UsageAnswer::default()
    };
    let mut replies = Vec::with_capacity(report.rows.len());
    for row in &report.rows {
        match check::row(row, &clock) {
            Ok(reply) => replies.push(reply),
            Err(why) => answer.refused.push(refused(row["key"].as_str(), why)),
        }
    }
    if let Some(usage) = &report.usage {
        match check::object(usage, report.key.as_deref(), &clock) {
            Ok(Some(reply)) => replies.push(reply),
            Ok(None) if replies.is_empty() => answer.skipped = Some("empty".to_owned()),
            Ok(None) => {}
            Err(why) => answer.refused.push(refused(report.key.as_deref(), why)),
        }
    }
    let of = Session {
        part: part.seq,
        provider: &report.provider,
        name: &report.session,
    };
    turn::hear(tx, &of, now)?;
    store(tx, &of, report.turn.as_deref(), &replies, now, &mut answer)?;
    if answer.new + answer.raised > 0 {
        tx.signal(Signal {
            topic: Topic::Usage,
            project: Some(part.project),
            part: Some(part.seq),
            id: part.id.clone(),
        });
    }
    Ok(answer)
}

/// A refusal names its row as far as that can be shown.
fn refused(key: Option<&str>, why: String) -> RefusedRow {
    let shown = key.unwrap_or_default().chars();
    RefusedRow {
        key: shown.filter(|c| !c.is_control()).take(200).collect(),
        why,
    }
}

fn store(
    tx: &Tx<'_>,
    of: &Session<'_>,
    posted: Option<&str>,
    replies: &[Reply],
    now: Time,
    answer: &mut UsageAnswer,
) -> Outcome<()> {
    let mut turns = Turns::of(tx, of, posted, replies)?;
    let mut changes = Changes::default();
    let mut touched = Vec::new();
    for reply in replies {
        let (turn, prompt) = turns.assign(tx, reply)?;
        match row::put(
            tx,
            of.part,
            of.provider,
            Some(turn),
            prompt,
            reply,
            &mut changes,
        )? {
            Change::New => {
                answer.new += 1;
                if touched.last() != Some(&turn) {
                    touched.push(turn);
                }
            }
            Change::Raised => answer.raised += 1,
            Change::Same => answer.same += 1,
        }
    }
    changes.write(tx, of.part, of.provider)?;
    touched.sort_unstable();
    touched.dedup();
    for turn in touched {
        complete::settle(tx, turn, now)?;
    }
    Ok(())
}

/// An agent's own word on its cost (the `event` tool): it counts, under the event's id, only while no hook has counted for the part, and
/// only if one reply may say so.
pub(super) fn own_word(
    tx: &Tx<'_>,
    part: PartSeq,
    event: &str,
    tokens: Tokens,
    model: Option<&str>,
    cost: Option<f64>,
    now: Time,
) -> Outcome<()> {
    let nothing = tokens == Tokens::default() && cost.unwrap_or(0.0) == 0.0;
    if nothing || !check::is_reply(&tokens, cost) {
        return Ok(());
    }
    let hooked: bool = tx
        .prepare_cached(HOOKED)?
        .query_row((part, OWN_WORD), |row| row.get(0))?;
    if hooked {
        return Ok(());
    }
    let reply = Reply {
        key: event.to_owned(),
        at: now,
        turn: None,
        model: model.unwrap_or_default().to_owned(),
        tokens,
        cost: cost.map(|cost| (cost * 1e6).round() as i64),
        sidechain: false,
        shifted: false,
    };
    let mut changes = Changes::default();
    row::put(
        tx,
        part,
        OWN_WORD,
        None,
        Prompt::HUMAN,
        &reply,
        &mut changes,
    )?;
    changes.write(tx, part, OWN_WORD)
}

pub(super) const HOOKED: &str =
    "SELECT EXISTS (SELECT 1 FROM usage_row WHERE part = ?1 AND provider <> ?2)";

/// A turn has another cause than was thought: its rows move to the sums of that.
pub(super) fn recause(tx: &Tx<'_>, turn: TurnSeq, before: Prompt, after: Prompt) -> Outcome<()> {
    if before == after {
        return Ok(());
    }
    let (rows, of) = row::of_turn(tx, turn)?;
    let Some((part, provider)) = of else {
        return Ok(());
    };
    let mut changes = Changes::default();
    for row in &rows {
        let counted = |prompt| Counted {
            at: row.at,
            model: &row.model,
            tokens: row.tokens,
            cost: row.cost,
            prompt,
        };
        changes.take(&counted(before));
        changes.add(&counted(after));
    }
    changes.write(tx, part, &provider)
}

/// The usage of a turn: the sum of its rows.
///
/// # Errors
/// A fault of the store.
pub fn of_turn(connection: &Connection, turn: TurnSeq) -> Outcome<Tokens> {
    let (rows, _) = row::of_turn(connection, turn)?;
    let sum = |sum: Tokens, row: &row::Kept| sum.plus(&row.tokens, 1);
    Ok(rows.iter().fold(Tokens::default(), sum))
}
