//! Codex's transcript lines (usage.md 4): a record per response where the version writes one, and running totals, which are turned into
//! differences.

use std::collections::HashSet;
use std::io::BufReader;
use std::io::Read;
use std::mem;

use serde::Deserialize;
use serde::Serialize;

use super::Context;
use super::Rows;
use super::Transcript;
use super::lenient::Count;
use super::lenient::Object;
use super::lenient::Text;
use crate::api::hook::UsageRow;

/// Usage, what names its model and turn, the ends of turns, and calls: a response without one is the last of its turn.
pub(super) const NEEDLE: &str =
    r#""token_|"turn_context"|"task_started"|"task_complete"|"turn_aborted"|"session_meta"|_call""#;

/// As much of a file as its first line is looked for in, in bytes.
const FIRST_LINE: u64 = 1 << 20;

/// Differences remembered within a turn, so that a record that repeats one is known; far more than a version writes before its record.
const COUNTED: usize = 64;

/// The numbers of a response, or their sums since a base.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Totals {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl Totals {
    fn since(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output.saturating_sub(earlier.output),
            reasoning: self.reasoning.saturating_sub(earlier.reasoning),
            total: self.total.saturating_sub(earlier.total),
        }
    }
}

/// A difference that became a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    usage: Totals,
    key: String,
}

/// What the lines so far come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The file's own session.
    session: Option<String>,
    /// The session whose lines it repeats.
    parent: Option<String>,
    /// Whether a child has begun lines of its own.
    own: bool,
    /// How often the totals began anew.
    base: u32,
    last: Totals,
    model: String,
    turn: Option<String>,
    /// Whether the file has records, so that totals count nothing any more.
    records: bool,
    counted: Vec<Counted>,
    /// Whether the response that is being written calls a tool.
    calls: bool,
    /// The turn that has ended, or whose last response was written.
    ended: Option<String>,
    open: bool,
}

impl State {
    pub(super) fn is_settled(&self, turn: Option<&str>) -> bool {
        match turn {
            Some(_) => self.ended.as_deref() == turn,
            None => !self.open,
        }
    }

    /// The session whose totals have to be known before the next line can be counted.
    #[must_use]
    pub fn needs_parent(&self) -> Option<&str> {
        self.parent.as_deref().filter(|_| !self.own)
    }
}

#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    payload: Object<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    id: Text,
    #[serde(default)]
    turn_id: Text,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    response_id: Text,
    #[serde(default)]
    usage: Object<Tokens>,
    #[serde(default)]
    info: Object<Info>,
    #[serde(default)]
    forked_from_id: Text,
    #[serde(default)]
    source: Object<Source>,
}

impl Payload {
    fn lineage(self) -> Option<Lineage> {
        let spawned = self
            .source
            .0
            .and_then(|source| source.subagent.0)
            .and_then(|subagent| subagent.thread_spawn.0)
            .and_then(|spawn| spawn.parent_thread_id.filled());
        Some(Lineage {
            session: self.id.filled()?,
            spawned: spawned.is_some(),
            parent: spawned.or(self.forked_from_id.filled())?,
        })
    }
}

#[derive(Deserialize)]
struct Source {
    #[serde(default)]
    subagent: Object<Subagent>,
}

#[derive(Deserialize)]
struct Subagent {
    #[serde(default)]
    thread_spawn: Object<Spawn>,
}

#[derive(Deserialize)]
struct Spawn {
    #[serde(default)]
    parent_thread_id: Text,
}

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    total_token_usage: Object<Tokens>,
    #[serde(default)]
    last_token_usage: Object<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    cached_input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    reasoning_output_tokens: Count,
    #[serde(default)]
    total_tokens: Option<Count>,
}

impl Tokens {
    fn totals(&self) -> Totals {
        let (input, output) = (self.input_tokens.0, self.output_tokens.0);
        Totals {
            input,
            cached: self.cached_input_tokens.0,
            output,
            reasoning: self.reasoning_output_tokens.0,
            total: self.total_tokens.map_or(input + output, |total| total.0),
        }
    }
}

impl Transcript for State {
    type Record = Record;

    fn take(&mut self, record: Record, context: &Context, rows: &mut Rows) {
        let at = record.timestamp.filled().unwrap_or_default();
        let payload = record.payload.0;
        match (record.kind.as_str(), payload) {
            ("session_meta", Some(payload)) => self.begin(payload),
            ("turn_context", Some(payload)) => {
                self.enter(payload.turn_id.filled());
                if let Some(model) = payload.model.filled() {
                    self.model = model;
                }
            }
            ("token_usage_record", Some(payload)) => self.record(payload, at, context, rows),
            ("event_msg", Some(payload)) => match payload.kind.as_str() {
                "token_count" => self.count(payload.info.0, at, context, rows),
                "task_started" => {
                    self.enter(payload.turn_id.filled());
                    self.open = true;
                }
                "task_complete" | "turn_aborted" => {
                    self.ended = payload.turn_id.filled();
                    self.open = false;
                }
                _ => {}
            },
            ("response_item", Some(payload)) => {
                self.calls |= payload.kind.as_str().ends_with("_call");
            }
            ("world_state" | "compacted", _) => {}
            _ => rows.skip("unknown"),
        }
    }
}

impl State {
    /// The first line. A child repeats its parent's, too: that is none of its own.
    fn begin(&mut self, meta: Payload) {
        if self.session.is_none() {
            self.session = meta.id.0.clone();
            self.parent = meta.lineage().map(|lineage| lineage.parent);
        }
    }

    fn enter(&mut self, turn: Option<String>) {
        if turn.is_some() && turn != self.turn {
            self.turn = turn;
            self.counted.clear();
        }
    }

    fn record(&mut self, payload: Payload, at: String, context: &Context, rows: &mut Rows) {
        self.records = true;
        let turn = payload.turn_id.filled().or(self.turn.clone());
        if !mem::take(&mut self.calls) {
            self.ended.clone_from(&turn);
        }
        let (Some(usage), Some(response)) = (payload.usage.0, payload.response_id.filled()) else {
            return rows.skip("unknown");
        };
        let usage = usage.totals();
        let known = self
            .counted
            .iter()
            .position(|counted| turn == self.turn && counted.usage == usage);
        let key = known.map_or(response, |place| self.counted.remove(place).key);
        rows.add(self.row(key, at, turn, usage, context), &context.now);
    }

    fn count(&mut self, info: Option<Info>, at: String, context: &Context, rows: &mut Rows) {
        let Some(info) = info else {
            return;
        };
        let Some(totals) = info.total_token_usage.0.map(|total| total.totals()) else {
            return rows.skip("unknown");
        };
        let before = self.last;
        if totals.total < before.total {
            self.base += 1;
            self.last = Totals::default();
        }
        let mut usage = totals.since(self.last);
        self.last = totals;
        if self.needs_parent().is_some() {
            match &context.parent {
                Some(parent) if parent.contains(&totals) => return,
                Some(_) => {}
                None => usage = info.last_token_usage.0.map_or(usage, |last| last.totals()),
            }
            self.own = true;
        }
        if self.records || totals.total == before.total {
            return;
        }
        let session = self.session.as_ref().unwrap_or(&context.session);
        let key = format!("{session}:{}:{}", self.base, totals.total);
        self.counted.push(Counted {
            usage,
            key: key.clone(),
        });
        if self.counted.len() > COUNTED {
            self.counted.remove(0);
        }
        rows.add(
            self.row(key, at, self.turn.clone(), usage, context),
            &context.now,
        );
    }

    fn row(
        &self,
        key: String,
        at: String,
        turn: Option<String>,
        usage: Totals,
        context: &Context,
    ) -> UsageRow {
        UsageRow {
            key,
            at,
            turn,
            model: self.model.clone(),
            input_tokens: usage.input.saturating_sub(usage.cached),
            cache_read_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            sidechain: context.sidechain,
            ..UsageRow::default()
        }
    }
}

/// Whose lines a file repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The file's own session.
    pub session: String,
    /// The session it came from.
    pub parent: String,
    /// Whether an agent started it; else a person went on from there.
    pub spawned: bool,
}

/// What the first line of a file says of its parent; `None` if it names none.
pub fn lineage(file: impl Read) -> Option<Lineage> {
    let start = BufReader::new(file.take(FIRST_LINE));
    let mut records = serde_json::Deserializer::from_reader(start).into_iter::<Record>();
    let record = records.next()?.ok()?;
    if record.kind.as_str() != "session_meta" {
        return None;
    }
    record.payload.0?.lineage()
}

/// The totals a line of a parent's file shows, if it shows any.
pub fn totals_of(line: &[u8], totals: &mut HashSet<Totals>) {
    let Ok(record) = serde_json::from_slice::<Record>(line) else {
        return;
    };
    let info = record.payload.0.and_then(|payload| payload.info.0);
    if let Some(total) = info.and_then(|info| info.total_token_usage.0) {
        totals.insert(total.totals());
    }
}
