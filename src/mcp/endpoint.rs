//! `/mcp/{code}`: the checks of tools.md 2 in their order, then the messages one by one. No session: nothing here outlives a request.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Path;
use axum::extract::Request;
use axum::extract::State;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use http::HeaderMap;
use http::HeaderValue;
use http::Method;
use http::StatusCode;
use http::header;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::accept;
use super::answer::Answer;
use super::answer::RpcError;
use super::answer::accepted;
use super::message;
use super::message::Message;
use super::revision;
use super::seat::Seat;
use super::seat::Visitor;
use super::service;
use super::words;
use crate::http::App;
use crate::http::Failure;
use crate::http::body;

/// Most messages of a batch.
const BATCH: usize = 16;

/// Serves one HTTP request; the host and the origin were judged by the door.
pub(super) async fn endpoint(
    State(app): State<Arc<App>>,
    code: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, Failure> {
    if *request.method() == Method::DELETE {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    if *request.method() != Method::POST {
        return Err(wrong_method());
    }
    let (parts, body) = request.into_parts();
    // What is no text is nobody's code.
    let code = code.map(|Path(code)| code).unwrap_or_default();
    let visitor = Visitor::ask(&app, &parts, code).await?;
    body::require_json(&parts.headers)?;
    let form = accept::form(&parts.headers).ok_or_else(|| {
        Failure::new(
            StatusCode::NOT_ACCEPTABLE,
            "accept",
            "the Accept header allows neither JSON nor an event stream",
            "send Accept: application/json, text/event-stream",
        )
    })?;
    let bytes = body::read(body, body::LARGE).await?;
    let answer = match message::read(&bytes) {
        None => Answer::unreadable(-32700, "the body is no JSON; nothing was done"),
        Some(message::Body::One(Message::Invalid)) => Answer::unreadable(
            -32600,
            "the body is no JSON-RPC 2.0 message, or repeats a member name; nothing was done",
        ),
        Some(message::Body::One(message)) => {
            let seat = Arc::new(visitor.sit(app, &parts, client(&message)).await?);
            match serve(&seat, &parts.headers, message).await {
                Some(answer) => answer,
                None => return Ok(accepted()),
            }
        }
        Some(message::Body::Batch(messages)) => {
            if messages.is_empty() || messages.len() > BATCH {
                Answer::unreadable(-32600, "a batch has 1 to 16 messages; nothing was done")
            } else if let Err(error) = revision::of_batch(&parts.headers) {
                Answer::error(StatusCode::BAD_REQUEST, &Value::Null, &error)
            } else {
                let named = messages.iter().find_map(client);
                let seat = Arc::new(visitor.sit(app, &parts, named).await?);
                let mut answers = Vec::new();
                for message in messages {
                    answers.extend(serve(&seat, &parts.headers, message).await);
                }
                if answers.is_empty() {
                    return Ok(accepted());
                }
                Answer::array(&answers)
            }
        }
    };
    Ok(answer.into_response(form))
}

fn wrong_method() -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "this address takes messages by POST; it has no stream of its own",
        "send POST",
    )
    .with_header(header::ALLOW, HeaderValue::from_static("POST, DELETE"))
}

/// What the client program calls itself, in a message that says so.
fn client(message: &Message) -> Option<String> {
    let Message::Request { params, .. } = message else {
        return None;
    };
    let info = params.get("clientInfo").or_else(|| {
        params
            .get("_meta")?
            .get("io.modelcontextprotocol/clientInfo")
    })?;
    let name = info.get("name")?.as_str()?;
    let version = info.get("version").and_then(Value::as_str);
    Some(match version {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    })
}

/// The answer to one message; `None` where none is due.
async fn serve(seat: &Arc<Seat>, headers: &HeaderMap, message: Message) -> Option<Answer> {
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Silent => return None,
        Message::Invalid => {
            return Some(Answer::unreadable(-32600, "no JSON-RPC 2.0 message"));
        }
    };
    if method == "initialize" {
        return Some(Answer::result(&id, &initialize(&params)));
    }
    let revision = match revision::of_request(headers, &method, &params) {
        Ok(revision) => revision,
        Err(error) => return Some(Answer::error(StatusCode::BAD_REQUEST, &id, &error)),
    };
    Some(match method.as_str() {
        "ping" if revision != revision::MODERN => Answer::result(&id, &json!({})),
        "server/discover" => Answer::result(&id, &discover()),
        "tools/list" => service::list(&id, revision).await,
        "tools/call" => service::call(Arc::clone(seat), &id, revision, params).await,
        _ => {
            let status = if revision == revision::MODERN {
                StatusCode::NOT_FOUND
            } else {
                StatusCode::OK
            };
            let shown: String = method.chars().take(40).collect();
            let error = RpcError::new(-32601, format!("Method not found: {shown}"));
            Answer::error(status, &id, &error)
        }
    })
}

fn initialize(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    json!({
        "protocolVersion": revision::negotiate(asked),
        "capabilities": {"tools": {}},
        "serverInfo": words::server_info(),
        "instructions": words::INSTRUCTIONS,
    })
}

fn discover() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": revision::ALL,
        "capabilities": {"tools": {}},
        "instructions": words::INSTRUCTIONS,
        "ttlMs": words::TTL_MS,
        "cacheScope": "public",
        "_meta": {words::SERVER_INFO: words::server_info()},
    })
}
