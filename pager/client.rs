//! Calls to the relay, and what a failed one means (pager.md 2, the table of classes).

use std::path::PathBuf;
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::ErrorBody;
use crate::api::PollAnswer;
use crate::api::PollRequest;
use crate::api::ReportAnswer;
use crate::api::ReportRequest;
use crate::api::ReportResult;
use crate::config;
use crate::config::loopback::is_loopback;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);
const POLL_LIMIT: Duration = Duration::from_secs(35);
const REPORT_LIMIT: Duration = Duration::from_secs(5);

/// What a failed call means for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It may work in a moment.
    Transient,
    /// The token is not taken.
    Auth,
    /// The code, the part or this version is not known.
    Gone,
    /// Another pager serves this.
    Conflict,
}

impl Class {
    /// In a word, for the log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Transient => "relay",
            Self::Auth => "auth",
            Self::Gone => "gone",
            Self::Conflict => "conflict",
        }
    }
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What it means.
    pub class: Class,
    /// What the relay or the system said.
    pub text: String,
    /// Delay the relay asked for.
    pub retry_after: Option<Duration>,
}

impl Failure {
    fn transient(text: String) -> Self {
        Self {
            class: Class::Transient,
            text,
            retry_after: None,
        }
    }
}

/// Where the bearer token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// Nowhere: a loopback relay takes the code alone.
    None,
    /// This file, read for each call, so that a new one counts at once.
    File(PathBuf),
}

/// One relay.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    server: String,
    token: Token,
}

impl Client {
    /// A client for the relay at `server`, a URL without a final `/`.
    ///
    /// # Errors
    /// If no HTTP client can be made.
    pub fn new(server: &str, token: Token) -> Result<Self, String> {
        // A second installation only says that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("relayroom-pager/", env!("CARGO_PKG_VERSION")));
        if is_loopback(server) {
            builder = builder.no_proxy();
        }
        Ok(Self {
            http: builder.build().map_err(|error| error.to_string())?,
            server: server.to_owned(),
            token,
        })
    }

    /// `POST /api/pager/poll`, given up after 35 s.
    ///
    /// # Errors
    /// [`Failure`] with its class.
    pub async fn poll(&self, request: &PollRequest) -> Result<PollAnswer, Failure> {
        self.post("/api/pager/poll", request, POLL_LIMIT).await
    }

    /// `POST /api/pager/report`, given up after 5 s.
    ///
    /// # Errors
    /// [`Failure`] with its class.
    pub async fn report(&self, request: &ReportRequest) -> Result<ReportResult, Failure> {
        let answer: ReportAnswer = self
            .post("/api/pager/report", request, REPORT_LIMIT)
            .await?;
        Ok(answer.result)
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<T, Failure> {
        let mut request = self
            .http
            .post(format!("{}{path}", self.server))
            .timeout(limit)
            .json(body);
        if let Token::File(path) = &self.token {
            let token = config::read_secret(path).map_err(|text| Failure {
                class: Class::Auth,
                text,
                retry_after: None,
            })?;
            request = request.bearer_auth(token);
        }
        let answer = request
            .send()
            .await
            .map_err(|error| self.unreached(&error))?;
        let status = answer.status();
        let retry_after = answer
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let bytes = answer
            .bytes()
            .await
            .map_err(|error| self.unreached(&error))?;
        if status.is_success() {
            return serde_json::from_slice(&bytes)
                .map_err(|_| Failure::transient("unreadable answer".to_owned()));
        }
        Err(Failure {
            class: class(status),
            text: said(status, &bytes),
            retry_after,
        })
    }

    fn unreached(&self, error: &reqwest::Error) -> Failure {
        let what = if error.is_connect() {
            "no connection to"
        } else if error.is_timeout() {
            "no answer in time from"
        } else {
            "connection lost to"
        };
        Failure::transient(format!("{what} {}", shown(&self.server)))
    }
}

fn class(status: StatusCode) -> Class {
    match status.as_u16() {
        401 | 403 => Class::Auth,
        404 | 410 | 426 => Class::Gone,
        409 => Class::Conflict,
        _ => Class::Transient,
    }
}

fn said(status: StatusCode, body: &[u8]) -> String {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(body) => format!("{}: {} {}", body.error, body.message, body.hint),
        Err(_) => format!("HTTP {}", status.as_u16()),
    }
}

/// A URL without user, query and fragment, for people.
#[must_use]
pub fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host.rsplit('@').next().unwrap_or(host);
            let slash = if path.is_empty() { "" } else { "/" };
            format!("{scheme}://{host}{slash}{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_status_has_its_class() {
        for (status, expected) in [
            (401, Class::Auth),
            (403, Class::Auth),
            (404, Class::Gone),
            (410, Class::Gone),
            (426, Class::Gone),
            (409, Class::Conflict),
            (429, Class::Transient),
            (500, Class::Transient),
            (302, Class::Transient),
        ] {
            assert_eq!(
                class(StatusCode::from_u16(status).unwrap()),
                expected,
                "{status}"
            );
        }
    }

    #[test]
    fn a_url_is_shown_without_its_secrets() {
        for (url, expected) in [
            ("http://127.0.0.1:48801", "http://127.0.0.1:48801"),
            (
                "https://u:p@relay.example/x?token=1#f",
                "https://relay.example/x",
            ),
            ("relay?x", "relay"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }
}
