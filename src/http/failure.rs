//! What a route answers when it does not serve. A handler returns a [`Failure`]; the door gives it the body its path speaks
//! (`access.md` 6, on `/mcp` `tools.md` 2) and the request's id. A fault's text goes to the log only.

use std::borrow::Cow;

use axum::body::Body;
use axum::response::IntoResponse;
use axum::response::Response;
use http::HeaderName;
use http::HeaderValue;
use http::StatusCode;
use http::header;
use serde_json::Map;
use serde_json::Value;

use super::trace::Trace;
use crate::api::ErrorBody;
use crate::identity::Denial;
use crate::identity::Reason;
use crate::store::Error;
use crate::store::Fault;
use crate::store::Refusal;

/// A request that is not served: status, reason, cause and cure.
#[derive(Debug, Clone)]
pub struct Failure {
    /// HTTP status.
    pub status: StatusCode,
    /// Reason code.
    pub reason: &'static str,
    /// What was wrong.
    pub message: Cow<'static, str>,
    /// What to do.
    pub hint: Cow<'static, str>,
    /// Further headers, such as `Allow`.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether a credential failed: then it counts against the peer (access.md 7, rates).
    pub counts: bool,
    /// Further fields of a refusal, for programs.
    pub details: Option<Box<Map<String, Value>>>,
}

impl Failure {
    /// A failure with any status.
    #[must_use]
    pub fn new(
        status: StatusCode,
        reason: &'static str,
        message: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            status,
            reason,
            message: message.into(),
            hint: hint.into(),
            headers: Vec::new(),
            counts: status == StatusCode::UNAUTHORIZED,
            details: None,
        }
    }

    /// 400.
    #[must_use]
    pub fn bad_request(
        reason: &'static str,
        message: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason, message, hint)
    }

    /// 403.
    #[must_use]
    pub fn forbidden(
        reason: &'static str,
        message: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(StatusCode::FORBIDDEN, reason, message, hint)
    }

    /// 404 for whatever is not there, or not for this caller.
    #[must_use]
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "not_found",
            message,
            "check the address",
        )
    }

    /// 503 while the relay is not able to serve.
    #[must_use]
    pub fn unavailable(reason: &'static str, message: &'static str) -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            reason,
            message,
            "send the same request again in a moment",
        )
    }

    /// The body its path speaks.
    pub(super) fn body(&self, trace: &Trace, path: &str) -> Vec<u8> {
        if path.starts_with("/mcp/") {
            return crate::mcp::refused(self);
        }
        let body = ErrorBody {
            error: self.reason.to_owned(),
            message: self.message.clone().into_owned(),
            hint: self.hint.clone().into_owned(),
            request_id: trace.id.clone(),
            details: self.details.as_deref().cloned().unwrap_or_default(),
        };
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// The whole answer; `allow` is the router's, where the method was wrong.
    pub(super) fn render(
        &self,
        trace: &Trace,
        path: &str,
        allow: Option<&HeaderValue>,
    ) -> Response {
        let mut response = Response::new(Body::from(self.body(trace, path)));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        if let Some(allow) = allow {
            headers.insert(header::ALLOW, allow.clone());
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        response
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.code {
            "unauthorized" | "not_participant" | "urgent_not_granted" => StatusCode::FORBIDDEN,
            "conflict" | "ambiguous" | "thread_done" | "key_reused" => StatusCode::CONFLICT,
            "rate_limited" | "repeated" => StatusCode::TOO_MANY_REQUESTS,
            "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
            code if code.ends_with("not_found") => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        Self {
            details: Some(Box::new(refusal.fields)).filter(|fields| !fields.is_empty()),
            hint: command_in(&refusal.message).to_owned().into(),
            ..Self::new(status, refusal.code, refusal.message, "")
        }
    }
}

/// The command a refusal names at its end: `… (relayroom part list)`.
fn command_in(message: &str) -> &str {
    message
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
        .map(|(_, command)| command)
        .filter(|command| command.starts_with("relayroom "))
        .unwrap_or_default()
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Busy => Self::unavailable("busy", "too many writes are waiting"),
            Fault::Stopped => Self::unavailable("stopping", "the relay is stopping"),
            fault => {
                tracing::error!(%fault, "a request failed");
                Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "fault",
                    "the relay could not do this; nothing was stored",
                    "send the same request again; the relay's log has the cause under this request id",
                )
            }
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Refusal(refusal) => (*refusal).into(),
            Error::Fault(fault) => fault.into(),
        }
    }
}

impl From<Denial> for Failure {
    fn from(denial: Denial) -> Self {
        let status = match denial.reason {
            Reason::TokenMissing
            | Reason::TokenEmpty
            | Reason::TokenUnexpanded
            | Reason::TokenUnknown
            | Reason::TokenExpired => StatusCode::UNAUTHORIZED,
            Reason::Part => StatusCode::BAD_REQUEST,
            Reason::Code => StatusCode::NOT_FOUND,
            Reason::OtherProject
            | Reason::OtherPart
            | Reason::NotMember
            | Reason::Banned
            | Reason::PartTaken
            | Reason::PartDeleted => StatusCode::FORBIDDEN,
        };
        let failure = Self::new(status, denial.reason.as_str(), denial.message, "");
        if status != StatusCode::UNAUTHORIZED {
            return failure;
        }
        // `error` only if a token was sent (access.md 3).
        let challenge = match denial.reason {
            Reason::TokenMissing | Reason::TokenEmpty => "Bearer realm=\"relayroom\"",
            _ => "Bearer realm=\"relayroom\", error=\"invalid_token\"",
        };
        failure.with_header(
            header::WWW_AUTHENTICATE,
            HeaderValue::from_static(challenge),
        )
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
