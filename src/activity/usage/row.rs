//! The rows of replies: put once, raised afterwards.

use rusqlite::Connection;

use super::Reply;
use super::Tokens;
use super::sum::Changes;
use super::sum::Counted;
use crate::activity::Cause;
use crate::activity::turn::Prompt;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::TurnSeq;
use crate::store::Tx;

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    New,
    Raised,
    Same,
}

/// A row that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub at: Time,
    pub model: String,
    pub tokens: Tokens,
    pub cost: Option<i64>,
}

const COLUMNS: &str = "r.seq, r.at, r.model, r.input, r.output, r.cache_read, r.cache_write, r.cache_write_1h, r.reasoning, r.cost";

fn kept(row: &rusqlite::Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept {
        at: row.get(1)?,
        model: row.get(2)?,
        tokens: Tokens {
            input: row.get(3)?,
            output: row.get(4)?,
            cache_read: row.get(5)?,
            cache_write: row.get(6)?,
            cache_write_1h: row.get(7)?,
            reasoning: row.get(8)?,
        },
        cost: row.get(9)?,
    })
}

/// Stores a reply of `turn`, or raises the row that has its key, wherever that belongs; `changes` follow.
pub(super) fn put(
    tx: &Tx<'_>,
    part: PartSeq,
    provider: &str,
    turn: Option<TurnSeq>,
    prompt: Prompt,
    reply: &Reply,
    changes: &mut Changes,
) -> Outcome<Change> {
    let tokens = reply.tokens;
    let made = tx
        .prepare_cached(
            "INSERT INTO usage_row (part, provider, key, turn, at, shifted, model, input, output, cache_read, cache_write,
                                    cache_write_1h, reasoning, cost, sidechain)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) ON CONFLICT DO NOTHING",
        )?
        .execute((
            part,
            provider,
            &reply.key,
            turn,
            reply.at,
            reply.shifted,
            &reply.model,
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_write,
            tokens.cache_write_1h,
            tokens.reasoning,
            reply.cost,
            reply.sidechain,
        ))?;
    if made == 0 {
        return raise(tx, part, provider, reply, changes);
    }
    changes.add(&Counted {
        at: reply.at,
        model: &reply.model,
        tokens,
        cost: reply.cost,
        prompt,
    });
    Ok(Change::New)
}

fn raise(
    tx: &Tx<'_>,
    part: PartSeq,
    provider: &str,
    reply: &Reply,
    changes: &mut Changes,
) -> Outcome<Change> {
    let (seq, before, prompt) = tx
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, t.cause, t.wake FROM usage_row AS r LEFT JOIN turn AS t ON t.seq = r.turn
              WHERE r.part = ?1 AND r.provider = ?2 AND r.key = ?3"
        ))?
        .query_row((part, provider, &reply.key), |row| {
            let cause: Option<Cause> = row.get(10)?;
            let prompt = match cause {
                Some(cause) => Prompt {
                    cause,
                    wake: row.get(11)?,
                },
                None => Prompt::HUMAN,
            };
            Ok((row.get::<_, i64>(0)?, kept(row)?, prompt))
        })?;
    let after = Kept {
        at: before.at,
        model: match before.model.is_empty() {
            true => reply.model.clone(),
            false => before.model.clone(),
        },
        tokens: before.tokens.at_least(&reply.tokens),
        cost: before.cost.max(reply.cost),
    };
    if after == before {
        return Ok(Change::Same);
    }
    let tokens = after.tokens;
    tx.prepare_cached(
        "UPDATE usage_row SET model = ?2, input = ?3, output = ?4, cache_read = ?5, cache_write = ?6, cache_write_1h = ?7,
                              reasoning = ?8, cost = ?9 WHERE seq = ?1",
    )?
    .execute((
        seq,
        &after.model,
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
        tokens.cache_write_1h,
        tokens.reasoning,
        after.cost,
    ))?;
    let counted = |row: &Kept| -> (Time, String, Tokens, Option<i64>) {
        (row.at, row.model.clone(), row.tokens, row.cost)
    };
    for (row, there) in [(counted(&before), false), (counted(&after), true)] {
        let (at, model, tokens, cost) = row;
        let counted = Counted {
            at,
            model: &model,
            tokens,
            cost,
            prompt,
        };
        if there {
            changes.add(&counted);
        } else {
            changes.take(&counted);
        }
    }
    Ok(Change::Raised)
}

pub(in crate::activity) const OF_TURN: &str = "SELECT part, provider FROM turn WHERE seq = ?1";

/// Whose rows they are, and under which provider.
type Of = (PartSeq, String);

/// The rows of a turn, and whose they are.
pub(super) fn of_turn(connection: &Connection, turn: TurnSeq) -> Outcome<(Vec<Kept>, Option<Of>)> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM usage_row AS r WHERE r.turn = ?1 AND r.turn IS NOT NULL"
    ))?;
    let rows = statement.query_map([turn], kept)?;
    let rows: Vec<Kept> = rows.collect::<rusqlite::Result<_>>()?;
    if rows.is_empty() {
        return Ok((rows, None));
    }
    let of = connection
        .prepare_cached(OF_TURN)?
        .query_row([turn], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((rows, Some(of)))
}
