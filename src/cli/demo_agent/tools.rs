//! A scripted agent's way to its tools: MCP over HTTP, one JSON-RPC call after the other (tools.md 2 and 4).

use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use crate::cli::client;
use crate::cli::failure::Failure;

/// How long one call may take.
const LIMIT: Duration = Duration::from_secs(10);

/// The tools of one part.
pub(super) struct Tools {
    http: reqwest::Client,
    url: String,
    token: String,
    calls: u64,
}

impl Tools {
    /// The tools behind an endpoint.
    ///
    /// # Errors
    /// A fault of the HTTP client.
    pub(super) fn new(url: &str, token: String) -> Result<Self, Failure> {
        Ok(Self {
            http: client::http_client(LIMIT)?,
            url: url.to_owned(),
            token,
            calls: 0,
        })
    }

    /// Calls a tool; the JSON of its result.
    ///
    /// # Errors
    /// What the relay refused with, or that it did not answer, in words.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        self.calls += 1;
        let request = json!({
            "jsonrpc": "2.0",
            "id": self.calls,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        });
        let response = self
            .http
            .post(&self.url)
            .bearer_auth(&self.token)
            .header(http::header::ACCEPT, "application/json, text/event-stream")
            .json(&request)
            .send()
            .await
            .map_err(|error| error.to_string())?;
        let answer: Value = response.json().await.map_err(|error| error.to_string())?;
        read(&answer)
    }
}

/// The JSON in an answer: the last block; where the result is a list, a line for people stands before it.
fn read(answer: &Value) -> Result<Value, String> {
    if let Some(message) = answer["error"]["message"].as_str() {
        return Err(message.to_owned());
    }
    let text = answer["result"]["content"]
        .as_array()
        .and_then(|blocks| blocks.last())
        .and_then(|block| block["text"].as_str())
        .ok_or("the answer holds no text")?;
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if answer["result"]["isError"] == json!(true) {
        return Err(value["message"].as_str().unwrap_or(text).to_owned());
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stands_in_the_second_block_and_a_refusal_is_told() {
        let list = json!({"result": {"content": [
            {"type": "text", "text": "1 message"},
            {"type": "text", "text": "[{\"from\":\"api\"}]"}]}});
        assert_eq!(read(&list).unwrap()[0]["from"], "api");
        let refusal = json!({"result": {"isError": true, "content": [
            {"type": "text", "text": "{\"error\":\"x\",\"message\":\"no such part\"}"}]}});
        assert_eq!(read(&refusal).unwrap_err(), "no such part");
        let fault = json!({"error": {"code": -32000, "message": "bad token"}});
        assert_eq!(read(&fault).unwrap_err(), "bad token");
    }
}
