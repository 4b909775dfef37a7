//! JSON-RPC answers and the HTTP they travel in (tools.md 2).

use axum::body::Body;
use axum::response::Response;
use http::HeaderValue;
use http::StatusCode;
use http::header;
use serde_json::Value;
use serde_json::json;

use super::accept::Form;

/// An error on the level of JSON-RPC: what was sent cannot be routed to a tool, or we are at fault.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
    data: Option<Value>,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

/// The answer to one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// Status of the request, if this is its only answer.
    pub(super) status: StatusCode,
    /// One JSON object.
    pub(super) json: Vec<u8>,
}

impl Answer {
    /// A result.
    pub(super) fn result(id: &Value, result: &Value) -> Self {
        Self::ok(
            json!({"jsonrpc": "2.0", "id": id, "result": result})
                .to_string()
                .into_bytes(),
        )
    }

    /// An object that is complete already.
    pub(super) fn ok(json: Vec<u8>) -> Self {
        Self {
            status: StatusCode::OK,
            json,
        }
    }

    /// An error; `id` is null where the message's own is not known.
    pub(super) fn error(status: StatusCode, id: &Value, error: &RpcError) -> Self {
        let mut body = json!({"code": error.code, "message": error.message});
        if let Some(data) = &error.data {
            body["data"] = data.clone();
        }
        let json = json!({"jsonrpc": "2.0", "id": id, "error": body});
        Self {
            status,
            json: json.to_string().into_bytes(),
        }
    }

    /// What is no JSON, or no message of JSON-RPC.
    pub(super) fn unreadable(code: i32, message: &str) -> Self {
        let error = RpcError::new(code, message).with_data(json!({"reason": "malformed"}));
        Self::error(StatusCode::BAD_REQUEST, &Value::Null, &error)
    }

    /// The answers to a batch, as one array.
    pub(super) fn array(answers: &[Self]) -> Self {
        let mut json = vec![b'['];
        for (index, answer) in answers.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            json.extend_from_slice(&answer.json);
        }
        json.push(b']');
        Self::ok(json)
    }

    /// The HTTP answer. Errors of HTTP are JSON whatever the client takes.
    pub(super) fn into_response(self, form: Form) -> Response {
        let (kind, body) = match form {
            Form::EventStream if self.status == StatusCode::OK => {
                let mut event = b"event: message\ndata: ".to_vec();
                event.extend(self.json);
                event.extend(b"\n\n");
                ("text/event-stream", event)
            }
            _ => ("application/json", self.json),
        };
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}

/// The answer where none is due: 202, empty.
pub(super) fn accepted() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}
