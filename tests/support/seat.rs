//! An agent's side of MCP: one part's place at a relay process.

use std::net::SocketAddr;

use serde_json::Value;
use serde_json::json;

use super::http::Call;
use super::process::ask;

/// Where and as whom an agent calls.
pub struct Seat {
    pub address: SocketAddr,
    pub code: String,
    pub part: String,
    pub token: String,
}

impl Seat {
    /// A JSON-RPC request of its agent.
    pub fn request(&self, method: &str, params: &Value) -> Call {
        let path = format!("/mcp/{}?part={}", self.code, self.part);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        Call::new(self.address, "POST", &path)
            .bearer(&self.token)
            .header("accept", "application/json")
            .json(&body)
    }

    /// A tool called.
    pub fn call(&self, tool: &str, arguments: &Value) -> Call {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The JSON a tool answers, refusals too.
    pub fn tool(&self, tool: &str, arguments: &Value) -> Value {
        let answer = ask(&self.call(tool, arguments)).unwrap().json();
        let blocks = answer["result"]["content"].as_array();
        let text = blocks.and_then(|blocks| blocks.last()?["text"].as_str());
        serde_json::from_str(text.unwrap_or_else(|| panic!("{tool}: {answer}"))).unwrap()
    }
}
