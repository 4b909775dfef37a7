//! `/api/pager/*`: what a pager asks and reports (pager.md 2). The rules are `wake`'s; here requests are read, bounded, and held open.

mod poll;
mod report;

use std::sync::Arc;

use axum::Router;
use axum::routing::post;
use http::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::app::App;
use super::body;
use super::failure::Failure;
use crate::api::MAX_TEXT;

/// The routes under `/api/pager`.
pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/api/pager/poll", post(poll::poll))
        .route("/api/pager/report", post(report::report))
}

/// Reads a JSON body whose texts are short and plain. A connect code that the body leaves out is taken from `X-Relayroom-Code`.
async fn read<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: axum::body::Body,
) -> Result<T, Failure> {
    body::require_json(headers)?;
    let bytes = body::read(body, body::SMALL).await?;
    let malformed = |error: serde_json::Error| {
        Failure::bad_request(
            "malformed",
            format!("the body is not what this route reads: {error}"),
            "use the pager of this relay's version",
        )
    };
    let mut value: Value = serde_json::from_slice(&bytes).map_err(malformed)?;
    if !is_plain(&value) {
        return Err(Failure::bad_request(
            "malformed",
            "a text of the body is over 200 characters or holds a control character",
            "shorten it",
        ));
    }
    let code = headers
        .get("x-relayroom-code")
        .and_then(|code| code.to_str().ok());
    if let Some(code) = code {
        fill_in(&mut value, code);
    }
    serde_json::from_value(value).map_err(malformed)
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text.chars().count() <= MAX_TEXT && !text.chars().any(char::is_control)
        }
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => members.values().all(is_plain),
        _ => true,
    }
}

fn fill_in(value: &mut Value, code: &str) {
    let Some(members) = value.as_object_mut() else {
        return;
    };
    match members.get_mut("parts").and_then(Value::as_array_mut) {
        Some(parts) => {
            for part in parts.iter_mut().filter_map(Value::as_object_mut) {
                part.entry("code").or_insert_with(|| code.into());
            }
        }
        None => {
            members.entry("code").or_insert_with(|| code.into());
        }
    }
}

/// Checks the name a pager has for itself.
fn check_pager(pager: &str) -> Result<(), Failure> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if (1..=64).contains(&pager.len()) && pager.bytes().all(plain) {
        return Ok(());
    }
    Err(Failure::bad_request(
        "malformed",
        "pager is not 1-64 letters, digits, - and _",
        "use the pager of this relay's version",
    ))
}
