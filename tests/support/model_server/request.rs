//! A request of any of the three dialects as one list of what was said, and the tools on offer.

use serde_json::Value;

/// Whose protocol a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages: Claude Code.
    Anthropic,
    /// OpenAI Responses: Codex.
    OpenAi,
    /// Gemini generateContent: Gemini CLI.
    Gemini,
}

impl Dialect {
    /// The dialect spoken at a path, if it is one that asks for an answer of the model.
    pub fn of(path: &str) -> Option<Self> {
        let path = path.to_ascii_lowercase();
        if path.ends_with("/v1/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with("/responses") {
            Some(Self::OpenAi)
        } else if path.ends_with("generatecontent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }
}

/// One thing said so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    User(String),
    Model,
    Call(String),
    Result(String),
}

/// A tool the model may call.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    /// The namespace Codex keeps an MCP server's tools in.
    pub space: Option<String>,
    pub properties: Value,
}

/// A request, read.
#[derive(Debug)]
pub struct Request {
    /// The body as it came: deferred tools are named in it only.
    pub raw: String,
    pub model: String,
    pub stream: bool,
    pub items: Vec<Item>,
    pub tools: Vec<Tool>,
    /// The form of a structured answer, where one is asked for.
    pub schema: Option<Value>,
}

impl Request {
    pub fn read(path: &str, raw: String) -> Self {
        let body: Value = serde_json::from_str(&raw).unwrap_or_default();
        let config = &body["generationConfig"];
        let schema = [
            &body["output_config"]["format"]["schema"],
            &config["responseJsonSchema"],
            &config["responseSchema"],
        ]
        .into_iter()
        .find(|schema| !schema.is_null())
        .cloned();
        let of_path = path
            .rsplit('/')
            .next()
            .and_then(|last| last.split(':').next());
        Self {
            model: body["model"]
                .as_str()
                .or(of_path)
                .unwrap_or_default()
                .to_owned(),
            stream: body["stream"] == true || path.contains("stream"),
            items: items(&body),
            tools: tools(&body),
            schema,
            raw,
        }
    }

    /// Titles, summaries, routing: what a CLI asks beside its turns.
    pub fn is_side(&self) -> bool {
        self.tools.is_empty() || self.schema.is_some()
    }

    /// What was said after the newest words of the model: the prompts of a turn that begins now, several where they were queued. A
    /// prompt whose turn was broken off may be among them again.
    pub fn newest_prompts(&self) -> Vec<String> {
        let after = self
            .items
            .iter()
            .rposition(|item| !matches!(item, Item::User(_)))
            .map_or(0, |at| at + 1);
        self.items[after..].iter().filter_map(user).collect()
    }

    /// How often a prompt was said so far.
    pub fn times_said(&self, prompt: &str) -> usize {
        let users = self.items.iter().filter_map(user);
        users.filter(|said| said == prompt).count()
    }

    /// The prompt that is being answered, and what happened since.
    pub fn turn(&self) -> (String, &[Item]) {
        let at = self.items.iter().rposition(|item| user(item).is_some());
        match at {
            Some(at) => (
                user(&self.items[at]).unwrap_or_default(),
                &self.items[at + 1..],
            ),
            None => (String::new(), &[]),
        }
    }
}

fn user(item: &Item) -> Option<String> {
    match item {
        Item::User(text) => Some(text.clone()),
        _ => None,
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn items(body: &Value) -> Vec<Item> {
    let mut said = Vec::new();
    for message in list(&body["messages"]) {
        let role = message["role"].as_str().unwrap_or_default();
        let content = &message["content"];
        if content.is_string() {
            said.extend(item(role, content));
            continue;
        }
        // Text beside a tool's result is the CLI's own word, unless the person broke the turn off: then it is the next prompt.
        let told = list(content).any(|block| block["type"] == "tool_result")
            && !list(content).any(|block| text(block).starts_with("[Request interrupted"));
        let blocks = list(content).filter(|block| !told || block["type"] != "text");
        said.extend(blocks.filter_map(|block| item(role, block)));
    }
    for block in list(&body["input"]) {
        said.extend(item(block["role"].as_str().unwrap_or("assistant"), block));
    }
    for content in list(&body["contents"]) {
        let role = content["role"].as_str().unwrap_or_default();
        said.extend(list(&content["parts"]).filter_map(|part| item(role, part)));
    }
    said
}

fn item(role: &str, block: &Value) -> Option<Item> {
    let kind = block["type"].as_str().unwrap_or_default();
    if matches!(kind, "tool_use" | "function_call" | "custom_tool_call")
        || !block["functionCall"].is_null()
    {
        let name = block["name"]
            .as_str()
            .or(block["functionCall"]["name"].as_str())
            .unwrap_or_default();
        return Some(Item::Call(name.to_owned()));
    }
    if kind == "tool_result"
        || kind.ends_with("_call_output")
        || !block["functionResponse"].is_null()
    {
        let told = ["content", "output", "functionResponse"]
            .into_iter()
            .map(|field| &block[field])
            .find(|value| !value.is_null());
        return Some(Item::Result(told.map(text).unwrap_or_default()));
    }
    if matches!(role, "assistant" | "model") {
        return Some(Item::Model);
    }
    let said = text(match block {
        Value::String(_) => block,
        _ if block["text"].is_string() => &block["text"],
        _ => &block["content"],
    });
    // What the CLI adds by itself stands in tags or in brackets.
    let own = said.trim_start().starts_with(['<', '[']) || said.trim().is_empty();
    (role == "user" && !own).then_some(Item::User(said))
}

/// All text of a value, however it is wrapped.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match fields.get("text") {
            Some(inner) => text(inner),
            None => fields.values().map(text).collect::<Vec<_>>().join("\n"),
        },
        _ => String::new(),
    }
}

fn tools(body: &Value) -> Vec<Tool> {
    let mut all = Vec::new();
    for group in list(&body["tools"]) {
        let inner = [&group["tools"], &group["functionDeclarations"]]
            .into_iter()
            .find(|inner| inner.is_array());
        let members: Vec<&Value> = match inner {
            Some(inner) => list(inner).collect(),
            None => vec![group],
        };
        for member in members {
            let schema = ["input_schema", "parameters", "parametersJsonSchema"]
                .into_iter()
                .map(|field| &member[field])
                .find(|schema| !schema.is_null());
            let word = |value: &Value| value.as_str().map(str::to_owned);
            all.push(Tool {
                name: word(&member["name"])
                    .or(word(&member["type"]))
                    .unwrap_or_default(),
                space: group["tools"]
                    .is_array()
                    .then(|| word(&group["name"]))
                    .flatten(),
                properties: schema
                    .map(|schema| schema["properties"].clone())
                    .unwrap_or_default(),
            });
        }
    }
    all
}
