//! MCP as agents meet it (tools.md), over HTTP.

mod checks;
mod clients;
mod events;
mod large;
mod listing;
mod receipts;
mod revisions;

use serde_json::Value;
use serde_json::json;

use crate::support::http::Reply;

/// A whole call of the cheapest tool.
fn whoami() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami"}})
}

/// Status and reason of a request that failed a check, whose body must have the promised form.
fn refused(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    assert_eq!(body["jsonrpc"], "2.0");
    assert_eq!(body["id"], Value::Null);
    assert_eq!(body["error"]["code"], -32000);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    (reply.status, reply.reason())
}

/// Status and JSON-RPC code of an error.
fn code(reply: &Reply) -> (u16, i64) {
    let code = reply.json()["error"]["code"].as_i64();
    (reply.status, code.unwrap_or(0))
}
