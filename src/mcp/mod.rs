//! The MCP edge (tools.md).

use serde_json::json;

use crate::http::Failure;

/// The JSON-RPC body of a request that was turned away (tools.md 2).
#[must_use]
pub fn refused(failure: &Failure) -> Vec<u8> {
    let message = if failure.hint.is_empty() {
        failure.message.clone().into_owned()
    } else {
        format!("{}: {}", failure.message, failure.hint)
    };
    json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": -32000, "message": message, "data": {"reason": failure.reason}},
    })
    .to_string()
    .into_bytes()
}
