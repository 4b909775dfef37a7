//! Claude Code's transcript lines (usage.md 4).

use serde::Deserialize;
use serde::Serialize;

use super::Context;
use super::Rows;
use super::Transcript;
use super::lenient::Count;
use super::lenient::Object;
use super::lenient::Text;
use crate::api::hook::UsageRow;

/// Usage of replies, the prompt they answer, and that one was broken off.
pub(super) const NEEDLE: &str = r#""usage"|"promptId"|"interruptedMessageId""#;

/// The model of lines that Claude writes in place of a reply.
const SYNTHETIC: &str = "<synthetic>";

/// What the lines so far come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The last `promptId`: the turn of the replies after it.
    prompt: Option<String>,
    /// The turn of the newest reply.
    turn: Option<String>,
    /// Whether that reply ended its turn.
    ended: bool,
}

impl State {
    pub(super) fn is_settled(&self, turn: Option<&str>) -> bool {
        self.ended && (turn.is_none() || self.turn.is_none() || self.turn.as_deref() == turn)
    }
}

#[derive(Deserialize)]
pub(super) struct Record {
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    uuid: Text,
    #[serde(default)]
    timestamp: Text,
    #[serde(rename = "promptId", default)]
    prompt: Text,
    #[serde(rename = "isSidechain", default)]
    sidechain: Option<bool>,
    #[serde(rename = "interruptedMessageId", default)]
    interrupted: Text,
    #[serde(rename = "costUSD", default)]
    cost: Option<f64>,
    #[serde(default)]
    message: Object<Message>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Text,
    #[serde(default)]
    model: Text,
    #[serde(default)]
    stop_reason: Text,
    #[serde(default)]
    usage: Object<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Option<Count>,
    #[serde(default)]
    cache_creation: Object<CacheCreation>,
}

#[derive(Deserialize)]
struct CacheCreation {
    #[serde(default)]
    ephemeral_5m_input_tokens: Count,
    #[serde(default)]
    ephemeral_1h_input_tokens: Count,
}

impl Transcript for State {
    type Record = Record;

    fn take(&mut self, record: Record, context: &Context, rows: &mut Rows) {
        let sidechain = context.sidechain || record.sidechain == Some(true);
        let kind = record.kind;
        if let Some(prompt) = record.prompt.filled() {
            self.prompt = Some(prompt);
        }
        if record.interrupted.filled().is_some() {
            self.ended = true;
        }
        let Some(message) = record.message.0 else {
            return;
        };
        let Some(usage) = message.usage.0 else {
            return;
        };
        if kind.as_str() != "assistant" {
            return rows.skip("unknown");
        }
        if context.sidechain || !sidechain {
            self.turn = self.prompt.clone();
            self.ended = !matches!(message.stop_reason.as_str(), "" | "tool_use");
        }
        if message.model.as_str() == SYNTHETIC {
            return;
        }
        let Some(key) = message.id.filled().or(record.uuid.filled()) else {
            return rows.skip("unknown");
        };
        let row = UsageRow {
            key,
            at: record.timestamp.filled().unwrap_or_default(),
            turn: self.prompt.clone(),
            model: message.model.filled().unwrap_or_default(),
            cost_usd: record.cost,
            sidechain,
            ..usage.counts()
        };
        rows.add(row, &context.now);
    }
}

impl Usage {
    fn counts(&self) -> UsageRow {
        let (short, long) = match &self.cache_creation.0 {
            Some(kept) => (
                kept.ephemeral_5m_input_tokens.0,
                kept.ephemeral_1h_input_tokens.0,
            ),
            None => (0, 0),
        };
        UsageRow {
            input_tokens: self.input_tokens.0,
            output_tokens: self.output_tokens.0,
            cache_read_tokens: self.cache_read_input_tokens.0,
            cache_write_tokens: match self.cache_creation_input_tokens {
                Some(count) => count.0,
                None => short + long,
            },
            cache_write_1h_tokens: long,
            ..UsageRow::default()
        }
    }
}
