//! `--as-part`: a command typed inside a worktree speaks as the part joined there, by its agent token over MCP (cli.md 1).

use serde_json::Value;
use serde_json::json;

use super::client;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::text;
use crate::config::loopback;

/// Fewest characters of an id's end that name a thread.
const SHORTEST: usize = 6;

/// Whose voice it is.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct AsPart {
    /// Speak as the part joined in this worktree, not as yourself
    #[arg(long)]
    pub as_part: bool,
}

impl AsPart {
    /// The part's door, if it is to speak.
    ///
    /// # Errors
    /// Exit 2 outside a joined worktree.
    pub fn door(self, context: &Context) -> Result<Option<Part>, Failure> {
        self.as_part.then(|| Part::of(context)).transpose()
    }
}

/// A part's door to the relay.
#[derive(Debug)]
pub struct Part {
    http: reqwest::Client,
    url: String,
    server: String,
    token: String,
}

impl Part {
    /// The part joined in the worktree the command was typed in.
    ///
    /// # Errors
    /// Exit 2 outside a joined worktree.
    pub fn of(context: &Context) -> Result<Self, Failure> {
        let file = &context.settings.worktree;
        let token = context.env.get("RELAYROOM_TOKEN").map(str::to_owned);
        let (Some(server), Some(code), Some(part), Some(token)) = (
            &file.server,
            &file.code,
            &file.part,
            token.or_else(|| file.agent_token.clone()),
        ) else {
            return Err(Failure::usage(
                "--as-part speaks as the part joined in a worktree, and none is joined here",
            )
            .fix("relayroom join PART"));
        };
        // As for the hook: a cloned repository must not get at a token by naming a server.
        if !loopback::is_loopback(server) && !context.settings.person.relays.contains(server) {
            return Err(Failure::new(
                Exit::Refused,
                "local_only",
                format!("{} is not among your relays", text::line(server)),
            )
            .fix(format!(
                "add relays = [\"{}\"] to config.toml",
                text::line(server)
            )));
        }
        Ok(Self {
            http: client::http_client(context.timeout())?,
            url: format!("{server}/mcp/{code}?part={part}"),
            server: server.clone(),
            token,
        })
    }

    /// Calls a tool; its result.
    ///
    /// # Errors
    /// What the tool refuses, in the exit codes of cli.md 1; exit 4 if the relay does not answer.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        let request = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let silent = |_| {
            Failure::new(
                Exit::Unreachable,
                "unreachable",
                format!("the relay at {} is not reachable", text::line(&self.server)),
            )
            .fix("relayroom up")
        };
        let response = self
            .http
            .post(&self.url)
            .bearer_auth(&self.token)
            .header(http::header::ACCEPT, "application/json, text/event-stream")
            .json(&request)
            .send()
            .await
            .map_err(silent)?;
        let answer: Value = response.json().await.map_err(silent)?;
        read(&answer)
    }

    /// Calls a tool whose result is a list; its entries, without a note behind them.
    ///
    /// # Errors
    /// As [`Part::call`].
    pub async fn list(&self, tool: &str, arguments: Value) -> Result<Vec<Value>, Failure> {
        let answer = self.call(tool, arguments).await?;
        let is_entry = |entry: &&Value| {
            ["threadId", "id", "part"]
                .iter()
                .any(|name| entry[*name].is_string())
        };
        let entries = answer.as_array().into_iter().flatten();
        Ok(entries.filter(is_entry).cloned().collect())
    }

    /// The whole id of a thread, or of another thing a list of `tool` names, that was typed by its end.
    ///
    /// # Errors
    /// Exit 5 for an end that names none, or several.
    pub async fn thread(&self, typed: &str) -> Result<String, Failure> {
        self.whole(typed, "threads", "id").await
    }

    /// The whole id of a message in the inbox that was typed by its end.
    ///
    /// # Errors
    /// As [`Part::thread`].
    pub async fn message(&self, typed: &str) -> Result<String, Failure> {
        self.whole(typed, "inbox", "messageId").await
    }

    async fn whole(&self, typed: &str, tool: &str, name: &str) -> Result<String, Failure> {
        if let Some(whole) = crate::store::parse_id(typed) {
            return Ok(whole);
        }
        let end = typed.to_ascii_lowercase();
        let all = match end.len() >= SHORTEST {
            true => self.list(tool, json!({})).await?,
            false => Vec::new(),
        };
        let found: Vec<&str> = all
            .iter()
            .map(|entry| field::word(entry, name))
            .filter(|id| id.ends_with(&end))
            .collect();
        match found.as_slice() {
            [one] => Ok((*one).to_owned()),
            [] => Err(Failure::new(
                Exit::Missing,
                "not_found",
                format!("nothing of late ends in {end}: give the whole id"),
            )),
            several => Err(Failure::new(
                Exit::Missing,
                "ambiguous",
                format!("several end in {end}: {}", several.join(", ")),
            )),
        }
    }
}

/// The JSON in an answer: the last block; where the result is a list, a line for people stands before it.
fn read(answer: &Value) -> Result<Value, Failure> {
    if answer["error"].is_object() {
        let error = &answer["error"];
        let code = error["data"]["reason"].as_str().unwrap_or("fault");
        let message = text::block(error["message"].as_str().unwrap_or_default());
        let exit = match code {
            "fault" => Exit::Fault,
            _ => Exit::Refused,
        };
        return Err(Failure::new(exit, code, message));
    }
    let block = answer["result"]["content"]
        .as_array()
        .and_then(|blocks| blocks.last()?["text"].as_str());
    let value: Option<Value> = block.and_then(|block| serde_json::from_str(block).ok());
    let Some(value) = value else {
        return Err(Failure::fault("the relay's answer holds no result"));
    };
    if answer["result"]["isError"] != json!(true) {
        return Ok(value);
    }
    let code = field::word(&value, "error");
    let status = match code {
        "invalid_argument" | "too_large" | "control_character" => 400,
        code if code.ends_with("not_found") => 404,
        _ => 403,
    };
    let mut body = value.clone();
    body["details"] = value;
    Err(client::refused(status, &body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str, refused: bool) -> Value {
        json!({"result": {"isError": refused, "content": [
            {"type": "text", "text": "1 message"}, {"type": "text", "text": text}]}})
    }

    #[test]
    fn results_are_read_and_refusals_have_the_exit_codes_of_the_contract() {
        let list = read(&answer("[{\"from\":\"api\"}]", false)).unwrap();
        assert_eq!(list[0]["from"], "api");
        for (refusal, exit) in [
            (
                r#"{"error":"thread_not_found","message":"x"}"#,
                Exit::Missing,
            ),
            (r#"{"error":"unauthorized","message":"x"}"#, Exit::Refused),
            (r#"{"error":"invalid_argument","message":"x"}"#, Exit::Usage),
        ] {
            assert_eq!(read(&answer(refusal, true)).unwrap_err().exit, exit);
        }
        let bad = r#"{"error":"bad_recipients","message":"x","bad":[{"name":"wbe","why":"unknown","near":["web"]}]}"#;
        let failure = read(&answer(bad, true)).unwrap_err();
        assert!(failure.to_line().contains("did you mean web?"));
        let denied = json!({"error": {"code": -32001, "message": "Revoked.", "data": {"reason": "token_unknown"}}});
        let failure = read(&denied).unwrap_err();
        assert_eq!(
            (failure.exit, failure.code.as_str()),
            (Exit::Refused, "token_unknown")
        );
    }
}
