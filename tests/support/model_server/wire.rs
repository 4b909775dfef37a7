//! Answers in the three dialects: as events of a stream, or whole.

use serde_json::Value;
use serde_json::json;

use super::request::Dialect;
use super::script::Block;
use super::usage::Usage;

/// An answer before it is put into a dialect.
#[derive(Debug)]
pub struct Answer {
    pub id: String,
    pub model: String,
    pub blocks: Vec<Block>,
    pub usage: Usage,
}

/// A piece of a stream, and whether it is one of the words that a slow answer spreads out.
pub type Piece = (bool, String);

/// The words of a block, each with the blank after it.
fn words(block: &Block) -> Vec<&str> {
    match block {
        Block::Text(text) => text.split_inclusive(' ').collect(),
        Block::Call { .. } => Vec::new(),
    }
}

impl Answer {
    /// Words that a slow answer spreads out.
    pub fn words(&self) -> usize {
        self.blocks.iter().map(|block| words(block).len()).sum()
    }

    pub fn stream(&self, dialect: Dialect) -> Vec<Piece> {
        match dialect {
            Dialect::Anthropic => self.anthropic(),
            Dialect::OpenAi => self.openai(),
            Dialect::Gemini => self.gemini(),
        }
    }

    /// The whole answer as one object.
    pub fn whole(&self, dialect: Dialect) -> Value {
        match dialect {
            Dialect::Anthropic => {
                let mut message = self.message();
                message["content"] = (0..self.blocks.len()).map(|at| self.content(at)).collect();
                message["stop_reason"] = self.stop_reason();
                message["usage"] = anthropic_usage(self.usage);
                message
            }
            Dialect::OpenAi => self.response(
                "completed",
                (0..self.blocks.len()).map(|at| self.output(at)).collect(),
            ),
            Dialect::Gemini => {
                let parts = (0..self.blocks.len())
                    .map(|at| self.part(at, None))
                    .collect();
                self.candidate(parts, true)
            }
        }
    }

    fn stop_reason(&self) -> Value {
        let calls = self
            .blocks
            .iter()
            .any(|block| matches!(block, Block::Call { .. }));
        json!(if calls { "tool_use" } else { "end_turn" })
    }

    fn message(&self) -> Value {
        json!({"id": format!("msg_{}", self.id), "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": anthropic_usage(self.usage.of_start())})
    }

    fn content(&self, at: usize) -> Value {
        match &self.blocks[at] {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::Call { name, args, .. } => {
                json!({"type": "tool_use", "id": format!("toolu_{}b{at}", self.id), "name": name, "input": args})
            }
        }
    }

    fn anthropic(&self) -> Vec<Piece> {
        let event = |kind: &str, mut fields: Value| {
            fields["type"] = kind.into();
            format!("event: {kind}\ndata: {fields}\n\n")
        };
        let mut pieces = vec![(
            false,
            event("message_start", json!({"message": self.message()})),
        )];
        for (at, block) in self.blocks.iter().enumerate() {
            let mut blank = self.content(at);
            let (field, nothing) = match block {
                Block::Text(_) => ("text", json!("")),
                Block::Call { .. } => ("input", json!({})),
            };
            blank[field] = nothing;
            let start = json!({"index": at, "content_block": blank});
            pieces.push((false, event("content_block_start", start)));
            if let Block::Call { args, .. } = block {
                let delta = json!({"type": "input_json_delta", "partial_json": args.to_string()});
                let delta = json!({"index": at, "delta": delta});
                pieces.push((false, event("content_block_delta", delta)));
            }
            for word in words(block) {
                let delta = json!({"index": at, "delta": {"type": "text_delta", "text": word}});
                pieces.push((true, event("content_block_delta", delta)));
            }
            pieces.push((false, event("content_block_stop", json!({"index": at}))));
        }
        let end = json!({"delta": {"stop_reason": self.stop_reason(), "stop_sequence": null},
            "usage": anthropic_usage(self.usage)});
        pieces.push((false, event("message_delta", end)));
        pieces.push((false, event("message_stop", json!({}))));
        pieces
    }

    fn response(&self, status: &str, output: Value) -> Value {
        let usage = self.usage;
        let input = usage.input + usage.cache_read;
        json!({"id": format!("resp_{}", self.id), "object": "response", "created_at": 1_700_000_000, "model": self.model,
            "status": status, "output": output, "usage": {"input_tokens": input, "input_tokens_details": {"cached_tokens": usage.cache_read},
            "output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": input + usage.output}})
    }

    fn output(&self, at: usize) -> Value {
        let key = format!("{}b{at}", self.id);
        match &self.blocks[at] {
            Block::Text(text) => {
                json!({"type": "message", "id": format!("msg_{key}"), "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]})
            }
            Block::Call { name, space, args } => {
                let mut item = json!({"type": "function_call", "id": format!("fc_{key}"), "call_id": format!("call_{key}"),
                    "name": name, "arguments": args.to_string(), "status": "completed"});
                if let Some(space) = space {
                    item["namespace"] = space.as_str().into();
                }
                item
            }
        }
    }

    fn openai(&self) -> Vec<Piece> {
        let event = |kind: &str, mut fields: Value| {
            fields["type"] = kind.into();
            format!("event: {kind}\ndata: {fields}\n\n")
        };
        let created = json!({"response": self.response("in_progress", json!([]))});
        let mut pieces = vec![(false, event("response.created", created))];
        for (at, block) in self.blocks.iter().enumerate() {
            let item = self.output(at);
            let mut blank = item.clone();
            match block {
                Block::Text(_) => blank["content"] = json!([]),
                Block::Call { .. } => blank["arguments"] = json!(""),
            }
            let added = json!({"output_index": at, "item": blank});
            pieces.push((false, event("response.output_item.added", added)));
            for word in words(block) {
                let delta = json!({"output_index": at, "content_index": 0, "item_id": item["id"], "delta": word});
                pieces.push((true, event("response.output_text.delta", delta)));
            }
            let done = json!({"output_index": at, "item": item});
            pieces.push((false, event("response.output_item.done", done)));
        }
        let done = json!({"response": self.whole(Dialect::OpenAi)});
        pieces.push((false, event("response.completed", done)));
        pieces
    }

    fn part(&self, at: usize, word: Option<&str>) -> Value {
        match &self.blocks[at] {
            Block::Text(text) => json!({"text": word.unwrap_or(text)}),
            Block::Call { name, args, .. } => {
                json!({"functionCall": {"name": name, "args": args, "id": format!("{}b{at}", self.id)}})
            }
        }
    }

    fn candidate(&self, parts: Value, last: bool) -> Value {
        let usage = self.usage;
        let input = usage.input + usage.cache_read;
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        if last {
            candidate["finishReason"] = "STOP".into();
        }
        json!({"candidates": [candidate], "responseId": self.id, "modelVersion": self.model,
            "usageMetadata": {"promptTokenCount": input, "cachedContentTokenCount": usage.cache_read,
            "candidatesTokenCount": usage.output - usage.reasoning, "thoughtsTokenCount": usage.reasoning,
            "totalTokenCount": input + usage.output}})
    }

    fn gemini(&self) -> Vec<Piece> {
        let mut parts = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            match block {
                Block::Text(_) => {
                    let said = words(block);
                    parts.extend(
                        said.into_iter()
                            .map(|word| (true, self.part(at, Some(word)))),
                    );
                }
                Block::Call { .. } => parts.push((false, self.part(at, None))),
            }
        }
        let last = parts.len();
        let chunks = parts.into_iter().enumerate().map(|(at, (paced, part))| {
            let chunk = self.candidate(json!([part]), at + 1 == last);
            (paced, format!("data: {chunk}\n\n"))
        });
        chunks.collect()
    }
}

fn anthropic_usage(usage: Usage) -> Value {
    json!({"input_tokens": usage.input, "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write, "output_tokens": usage.output})
}
