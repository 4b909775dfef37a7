//! Gemini CLI's transcript lines, and its older form of one document (usage.md 4).

use std::fmt;

use serde::Deserialize;
use serde::Deserializer;
use serde::Serialize;
use serde::de::SeqAccess;
use serde::de::Visitor;

use super::Context;
use super::Rows;
use super::Transcript;
use super::lenient::Count;
use super::lenient::Object;
use super::lenient::Text;
use crate::api::hook::UsageRow;

/// Messages of every kind: the newest says whether its turn is over.
pub(super) const NEEDLE: &str = r#""type"|"tokens"|"messages""#;

/// What the lines so far come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Whether the newest message ended its turn.
    ended: bool,
}

impl State {
    pub(super) fn is_settled(&self) -> bool {
        self.ended
    }
}

/// A line: a message, a change that repeats messages, or the whole of an older file. What a rewind takes back was paid for, so it is not
/// looked at.
#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    id: Text,
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    tokens: Object<Tokens>,
    #[serde(rename = "$set", default)]
    set: Object<Set>,
    #[serde(default)]
    messages: Replies,
}

#[derive(Deserialize)]
struct Set {
    #[serde(default)]
    messages: Replies,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Text,
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    tokens: Object<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input: Count,
    #[serde(default)]
    output: Count,
    #[serde(default)]
    cached: Count,
    #[serde(default)]
    thoughts: Count,
    #[serde(default)]
    tool: Count,
    #[serde(default)]
    total: Count,
}

/// The messages with tokens of a list that may be as long as a file.
#[derive(Default)]
struct Replies(Vec<Message>);

struct Sift;

impl<'de> Visitor<'de> for Sift {
    type Value = Replies;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_unit<E>(self) -> Result<Replies, E> {
        Ok(Replies::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Replies, A::Error> {
        let mut replies = Vec::new();
        while let Some(message) = items.next_element::<Object<Message>>()? {
            replies.extend(message.0.filter(|message| message.tokens.0.is_some()));
        }
        Ok(Replies(replies))
    }
}

impl<'de> Deserialize<'de> for Replies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Sift)
    }
}

impl Transcript for State {
    type Record = Record;

    fn take(&mut self, record: Record, context: &Context, rows: &mut Rows) {
        let repeated = record.set.0.map(|set| set.messages.0).unwrap_or_default();
        for message in repeated.into_iter().chain(record.messages.0) {
            add(message, context, rows);
        }
        match record.kind.as_str() {
            "gemini" => self.ended = record.tokens.0.is_some(),
            "user" => self.ended = false,
            "" => {}
            _ => self.ended = true,
        }
        if record.tokens.0.is_some() {
            let message = Message {
                id: record.id,
                kind: record.kind,
                timestamp: record.timestamp,
                model: record.model,
                tokens: record.tokens,
            };
            add(message, context, rows);
        }
    }
}

fn add(message: Message, context: &Context, rows: &mut Rows) {
    let (Some(tokens), Some(key)) = (message.tokens.0, message.id.filled()) else {
        return rows.skip("unknown");
    };
    if message.kind.as_str() != "gemini" {
        return rows.skip("unknown");
    }
    let shown = tokens.input.0 + tokens.output.0 + tokens.thoughts.0;
    let apart = if tokens.total.0 == shown + tokens.tool.0 {
        tokens.tool.0
    } else {
        0
    };
    let row = UsageRow {
        key,
        at: message.timestamp.filled().unwrap_or_default(),
        model: message.model.filled().unwrap_or_default(),
        input_tokens: tokens.input.0.saturating_sub(tokens.cached.0) + apart,
        cache_read_tokens: tokens.cached.0,
        output_tokens: tokens.output.0 + tokens.thoughts.0,
        reasoning_tokens: tokens.thoughts.0,
        sidechain: context.sidechain,
        ..UsageRow::default()
    };
    rows.add(row, &context.now);
}
