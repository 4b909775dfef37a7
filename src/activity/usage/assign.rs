//! Which turn a row belongs to (usage.md 7): the turn it names, if known; else the session's last turn that began at or before it; else
//! the turn it was posted with; else a new one that nobody saw begin.

use std::collections::HashMap;

use rusqlite::Connection;

use super::Reply;
use crate::activity::turn::Prompt;
use crate::activity::turn::Session;
use crate::activity::turn::row;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::TurnSeq;
use crate::store::Tx;

/// The turns one post may belong to.
pub(super) struct Turns<'a> {
    of: &'a Session<'a>,
    posted: Option<&'a str>,
    /// By name, once looked for.
    named: HashMap<String, Option<TurnSeq>>,
    /// By begin, those the post's times may fall into.
    begun: Vec<(Time, TurnSeq)>,
    prompts: HashMap<TurnSeq, Prompt>,
}

pub(in crate::activity) const BEGUN: &str = "SELECT started_at, seq FROM turn
      WHERE part = ?1 AND provider = ?2 AND session = ?3 AND started_at BETWEEN ?4 AND ?5 ORDER BY started_at, seq";

impl<'a> Turns<'a> {
    /// Those of a session that matter to these replies.
    pub fn of(
        connection: &Connection,
        of: &'a Session<'a>,
        posted: Option<&'a str>,
        replies: &[Reply],
    ) -> Outcome<Self> {
        let times = replies.iter().map(|reply| reply.at);
        let mut begun = Vec::new();
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            let before = row::last(connection, of, first)?.and_then(|turn| turn.started_at);
            let mut statement = connection.prepare_cached(BEGUN)?;
            let key = (of.part, of.provider, of.name, before.unwrap_or(first), last);
            let rows = statement.query_map(key, |row| Ok((row.get(0)?, row.get(1)?)))?;
            begun = rows.collect::<rusqlite::Result<_>>()?;
        }
        Ok(Self {
            of,
            posted,
            named: HashMap::new(),
            begun,
            prompts: HashMap::new(),
        })
    }

    /// The turn of one reply, and what began it.
    pub fn assign(&mut self, tx: &Tx<'_>, reply: &Reply) -> Outcome<(TurnSeq, Prompt)> {
        let turn = self.turn(tx, reply)?;
        if let Some(prompt) = self.prompts.get(&turn) {
            return Ok((turn, *prompt));
        }
        let prompt = row::prompt(tx, turn)?;
        self.prompts.insert(turn, prompt);
        Ok((turn, prompt))
    }

    fn turn(&mut self, tx: &Tx<'_>, reply: &Reply) -> Outcome<TurnSeq> {
        if let Some(name) = &reply.turn
            && let Some(known) = self.known(tx, name)?
        {
            return Ok(known);
        }
        let before = self.begun.partition_point(|(began, _)| *began <= reply.at);
        if let Some((_, turn)) = before.checked_sub(1).and_then(|last| self.begun.get(last)) {
            return Ok(*turn);
        }
        if let Some(name) = self.posted
            && let Some(known) = self.known(tx, name)?
        {
            return Ok(known);
        }
        // Under the name that a later report of it has, if any.
        let name = reply.turn.as_deref().or(self.posted);
        let new = row::New {
            name,
            started_at: None,
            ended: None,
            prompt: Prompt::HUMAN,
            shifted: reply.shifted,
        };
        let made = row::make(tx, self.of, &new)?;
        if let Some(name) = name {
            self.named.insert(name.to_owned(), Some(made));
        }
        Ok(made)
    }

    fn known(&mut self, connection: &Connection, name: &str) -> Outcome<Option<TurnSeq>> {
        if let Some(known) = self.named.get(name) {
            return Ok(*known);
        }
        let known = row::named(connection, self.of, name)?.map(|turn| turn.seq);
        self.named.insert(name.to_owned(), known);
        Ok(known)
    }
}
