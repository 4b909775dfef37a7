//! The MCP edge (tools.md): fourteen tools at `/mcp/{code}`, for clients of five revisions of the protocol at once.
//!
//! What this folder promises:
//!
//! - **No session.** Every request stands alone and proves its caller anew; a restart of the relay between any two is invisible.
//! - **The checks of tools.md 2 in their order**, each with its reason and its cure (`endpoint`); a request that fails one leaves no row.
//! - **Arguments are read as meant** and what stays unclear is refused (`args`); what could not be used is named in the answer.
//! - **A refusal is a result the model reads**, a fault is an error of the protocol, and neither stored anything (`render`).
//! - **Answers cost the reader little**: compact JSON, one block, texts counted in bytes by tests (`schema`).

mod accept;
mod answer;
mod args;
mod catalogue;
mod endpoint;
mod message;
mod render;
mod revision;
mod schema;
mod seat;
mod service;
mod tools;
mod words;

use std::sync::Arc;

use axum::Router;
use axum::routing::any;
use serde_json::json;

use crate::http::App;
use crate::http::Failure;

/// Both spellings of the endpoint.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/mcp/{code}", any(endpoint::endpoint))
        .route("/mcp/{code}/", any(endpoint::endpoint))
}

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
