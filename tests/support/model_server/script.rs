//! What the model says. A prompt decides:
//!
//! - the pager's line: `inbox`, then `ack` or `reply` to at most [`ANSWERS`] unread messages, then the end of the turn;
//! - `who are you`: `whoami`, then the part that it named;
//! - `run: COMMAND`: that shell command, so that the CLI asks for permission;
//! - anything else: its echo; with `line by line` in it a word a line, for CLIs that show no line before its end.
//!
//! `think=MS` in a prompt makes its answer wait so long, then stream for as long again.

use regex::Regex;
use serde_json::Value;
use serde_json::json;

use super::request::Item;
use super::request::Request;
use super::request::Tool;

/// How the pager's line begins.
const WAKE: &str = "relayroom:";

/// What asks for an answer of many lines.
const LINES: &str = "line by line";

/// What asks for the part's name.
const WHO: &str = "who are you";

/// Messages answered in one turn.
const ANSWERS: usize = 2;

/// What the first answer to a wake takes, in milliseconds.
const FIRST_WORD_MS: u64 = 1_500;

/// The CLIs' own tools that run a command.
const SHELLS: [&str; 4] = ["Bash", "exec_command", "shell_command", "run_shell_command"];

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text(String),
    Call {
        name: String,
        space: Option<String>,
        args: Value,
    },
}

/// Whether a request belongs to a turn that a wake began.
pub fn is_mail(request: &Request) -> bool {
    !request.is_side() && request.turn().0.contains(WAKE)
}

/// How long the answer takes before its first word, and again while it streams, in milliseconds.
pub fn think_ms(request: &Request) -> u64 {
    let (prompt, turn) = request.turn();
    if request.is_side() {
        return 0;
    }
    // No model answers at once: a wake is seen to have left the composer before the mail is fetched.
    if prompt.contains(WAKE) {
        return if turn.is_empty() { FIRST_WORD_MS } else { 0 };
    }
    let asked = prompt.split_once("think=").map(|(_, rest)| {
        let digits = rest.chars().take_while(char::is_ascii_digit);
        digits.collect::<String>()
    });
    asked.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// The answer to a request.
pub fn decide(request: &Request) -> Vec<Block> {
    if request.is_side() {
        let said = request
            .schema
            .as_ref()
            .map_or_else(|| "Mail".to_owned(), |schema| smallest(schema).to_string());
        return vec![Block::Text(said)];
    }
    let (prompt, turn) = request.turn();
    let calls: Vec<&str> = turn
        .iter()
        .filter_map(|item| match item {
            Item::Call(name) => Some(name.as_str()),
            _ => None,
        })
        .collect();
    if let Some((_, command)) = prompt.split_once("run: ")
        && calls.is_empty()
    {
        return vec![shell(&request.tools, command.trim())];
    }
    if prompt.contains(WHO) {
        return vec![who(request, turn, &calls)];
    }
    if prompt.contains(WAKE) {
        return vec![mail(request, turn, &calls)];
    }
    let echo = format!("echo: {prompt}");
    vec![Block::Text(match prompt.contains(LINES) {
        true => echo.replace(' ', " \n\n"),
        false => echo,
    })]
}

/// `whoami`, and what it said.
fn who(request: &Request, turn: &[Item], calls: &[&str]) -> Block {
    if !calls.iter().any(|name| name.ends_with("whoami")) {
        return call(request, calls, "whoami", json!({}));
    }
    let told = turn.iter().rev().find_map(|item| match item {
        Item::Result(text) => Some(text.as_str()),
        _ => None,
    });
    let named = Regex::new(r#"\\?"part\\?"\s*:\s*\\?"([a-z]+)"#);
    let part = named.ok().and_then(|named| {
        let found = named.captures(told?)?;
        Some(found[1].to_owned())
    });
    Block::Text(format!("I am {}.", part.as_deref().unwrap_or("nobody")))
}

/// The next step of a turn that a wake began.
fn mail(request: &Request, turn: &[Item], calls: &[&str]) -> Block {
    let made: Vec<&&str> = calls.iter().filter(|name| **name != "ToolSearch").collect();
    if made.is_empty() {
        return call(request, calls, "inbox", json!({"unreadOnly": true}));
    }
    let results = turn.iter().filter_map(|item| match item {
        Item::Result(text) => Some(text.as_str()),
        _ => None,
    });
    let inbox = calls
        .iter()
        .zip(results)
        .filter(|(name, _)| name.ends_with("inbox"))
        .map(|(_, text)| messages(text))
        .last()
        .unwrap_or_default();
    let answered = made.len() - 1;
    let unread: Vec<&Value> = inbox.iter().filter(|mail| mail["unread"] == true).collect();
    match unread.get(answered).filter(|_| answered < ANSWERS) {
        Some(mail)
            if mail["subject"]
                .as_str()
                .is_some_and(|text| text.contains("ack")) =>
        {
            call(
                request,
                calls,
                "ack",
                json!({"messageId": mail["messageId"]}),
            )
        }
        Some(mail) => {
            let args = json!({"threadId": mail["threadId"], "body": "Done."});
            call(request, calls, "reply", args)
        }
        None => Block::Text("DONE".to_owned()),
    }
}

/// The messages in a tool's result, however the CLI wrapped it.
fn messages(text: &str) -> Vec<Value> {
    text.match_indices('[')
        .filter_map(|(at, _)| {
            serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<Vec<Value>>()
                .next()?
                .ok()
        })
        .map(|all| {
            all.into_iter()
                .filter(|mail| mail["threadId"].is_string())
                .collect::<Vec<_>>()
        })
        .find(|all| !all.is_empty())
        .unwrap_or_default()
}

/// A call of the relay's tool `name` under the name this CLI gives it. Claude Code may hold it back until it is searched for.
fn call(request: &Request, calls: &[&str], name: &str, args: Value) -> Block {
    let suffix = format!("_{name}");
    let offered = request.tools.iter().find(|tool| {
        let group = tool.space.as_ref().unwrap_or(&tool.name);
        group.starts_with("mcp_") && (tool.name == name || tool.name.ends_with(&suffix))
    });
    if let Some(tool) = offered {
        return Block::Call {
            name: tool.name.clone(),
            space: tool.space.clone(),
            args,
        };
    }
    let named = Regex::new(&format!(r"\bmcp__\w+__{name}\b"))
        .ok()
        .and_then(|pattern| {
            pattern
                .find(&request.raw)
                .map(|found| found.as_str().to_owned())
        });
    let searchable = request.tools.iter().any(|tool| tool.name == "ToolSearch");
    let searched = calls.iter().filter(|call| **call == "ToolSearch").count();
    if searchable && searched < 2 {
        let query = named.map_or_else(|| name.to_owned(), |named| format!("select:{named}"));
        return Block::Call {
            name: "ToolSearch".to_owned(),
            space: None,
            args: json!({"query": query, "max_results": 5}),
        };
    }
    match named {
        Some(name) => Block::Call {
            name,
            space: None,
            args,
        },
        None => Block::Text(format!("there is no tool {name}")),
    }
}

fn shell(tools: &[Tool], command: &str) -> Block {
    let Some(tool) = tools
        .iter()
        .find(|tool| SHELLS.contains(&tool.name.as_str()))
    else {
        return Block::Text("there is no shell".to_owned());
    };
    let argument = if tool.name == "exec_command" {
        "cmd"
    } else {
        "command"
    };
    let mut args = json!({argument: command});
    if !tool.properties["description"].is_null() {
        args["description"] = "Run the command".into();
    }
    // Codex asks only for what leaves its sandbox.
    if !tool.properties["sandbox_permissions"].is_null() {
        args["sandbox_permissions"] = "require_escalated".into();
        args["justification"] = "Run this command?".into();
    }
    Block::Call {
        name: tool.name.clone(),
        space: None,
        args,
    }
}

/// A smallest value of a JSON schema.
fn smallest(schema: &Value) -> Value {
    if let Some(properties) = schema["properties"].as_object() {
        let fields = properties
            .iter()
            .map(|(name, schema)| (name.clone(), smallest(schema)));
        return Value::Object(fields.collect());
    }
    if let Some(last) = schema["enum"].as_array().and_then(|all| all.last()) {
        return last.clone();
    }
    let kind = schema["type"].as_str().unwrap_or_default();
    match kind.to_ascii_lowercase().as_str() {
        "string" => json!("Mail"),
        "number" | "integer" => json!(1),
        "boolean" => json!(false),
        "array" => json!([]),
        _ => json!({}),
    }
}
