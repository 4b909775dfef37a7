//! Posts to the relay, each within its time, and what the answer means for the report (usage.md 1, step 4; 5).

use std::time::Duration;

use reqwest::StatusCode;
use serde::Deserialize;
use serde::Serialize;

use super::find::Joined;
use super::playbook::Served;
use crate::api::hook::ActivityReport;
use crate::api::hook::UsageAnswer;
use crate::api::hook::UsageReport;
use crate::config::loopback::is_loopback;
use crate::store::Time;

/// Longest a connection may take, name look-up included.
const CONNECT: Duration = Duration::from_millis(200);

/// Longest an answer may take.
pub const ANSWER: Duration = Duration::from_millis(800);

/// What is told to the relay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// An event.
    Activity(Box<ActivityReport>),
    /// Replies.
    Usage(Box<UsageReport>),
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It was taken; with what is to be logged, if anything.
    Taken(Option<String>),
    /// It will never be taken: with the status, to be logged.
    Ended(u16),
    /// It is to be sent again later: with the reason.
    Kept(String),
}

/// One relay, as one part.
#[derive(Debug, Clone)]
pub struct Door {
    http: reqwest::Client,
    server: String,
    code: String,
    token: Option<String>,
}

impl Door {
    /// A door to the part's relay.
    ///
    /// # Errors
    /// If no HTTP client can be made.
    pub fn new(joined: &Joined) -> Result<Self, String> {
        Self::built(joined, reqwest::Client::builder())
    }

    fn built(joined: &Joined, builder: reqwest::ClientBuilder) -> Result<Self, String> {
        // A second installation only says that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = builder
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .user_agent(concat!("relayroom-hook/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&joined.server) {
            builder = builder.no_proxy();
        }
        if !joined.server.starts_with("https:") {
            // Reading the system's certificates takes longer than all the rest of a run.
            builder = builder.tls_certs_only([]);
        }
        Ok(Self {
            http: builder.build().map_err(|error| error.to_string())?,
            server: joined.server.clone(),
            code: joined.code.clone(),
            token: joined.token.clone(),
        })
    }

    /// Posts a report and waits at most `limit` for its answer. `now` is the sender's present time.
    pub async fn post(&self, report: &Report, now: Time, limit: Duration) -> Answer {
        let sent_at = Some(now.rfc3339());
        let request = match report.clone() {
            Report::Activity(mut body) => {
                body.sent_at = sent_at;
                self.request("/api/activity").json(&body)
            }
            Report::Usage(mut body) => {
                body.sent_at = sent_at;
                self.request("/api/usage").json(&body)
            }
        };
        let answer = match self.bearing(request).timeout(limit).send().await {
            Ok(answer) => answer,
            Err(error) => return Answer::Kept(unreached(&error).to_owned()),
        };
        let status = answer.status();
        let body = match answer.bytes().await {
            Ok(body) => body,
            Err(error) => return Answer::Kept(unreached(&error).to_owned()),
        };
        if status.is_success() {
            return Answer::Taken(refused(&body));
        }
        match status.as_u16() {
            ended @ (400 | 404 | 413) => Answer::Ended(ended),
            status => Answer::Kept(format!("HTTP {status}")),
        }
    }

    /// Asks for the playbook of `part`; `None` if it is the one named by `etag`, or cannot be had within `limit`.
    pub async fn playbook(
        &self,
        part: &str,
        etag: Option<&str>,
        limit: Duration,
    ) -> Option<Served> {
        let place = format!("{}/api/playbook", self.server);
        let place = reqwest::Url::parse_with_params(&place, [("part", part)]).ok()?;
        let mut request = self
            .http
            .get(place)
            .header("x-relayroom-code", &self.code)
            .timeout(limit);
        if let Some(etag) = etag {
            request = request.header(reqwest::header::IF_NONE_MATCH, format!("\"{etag}\""));
        }
        let answer = self.bearing(request).send().await.ok()?;
        if answer.status() != StatusCode::OK {
            return None;
        }
        let header = |name: &str| {
            let value = answer.headers().get(name)?.to_str().ok()?;
            Some(value.trim_matches('"').to_owned())
        };
        Some(Served {
            hash: header("x-relayroom-playbook-hash")?,
            etag: header("etag")?,
            text: answer.text().await.ok()?,
        })
    }

    fn request(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(format!("{}{path}", self.server))
    }

    fn bearing(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }
}

fn unreached(error: &reqwest::Error) -> &'static str {
    if error.is_connect() {
        "no connection"
    } else if error.is_timeout() {
        "no answer in time"
    } else {
        "connection lost"
    }
}

/// Rows the relay took none of, in words.
fn refused(body: &[u8]) -> Option<String> {
    let answer: UsageAnswer = serde_json::from_slice(body).ok()?;
    let first = answer.refused.first()?;
    Some(format!(
        "{} rows refused, the first ({}): {}",
        answer.refused.len(),
        first.key,
        first.why
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name service that does not answer.
    struct Silent;

    impl reqwest::dns::Resolve for Silent {
        fn resolve(&self, _: reqwest::dns::Name) -> reqwest::dns::Resolving {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn usage_018_a_name_that_is_not_found_in_time_is_given_up() {
        let joined = Joined {
            server: "http://relay.example".to_owned(),
            code: "C".to_owned(),
            part: "web".to_owned(),
            token: None,
            joined_at: None,
            config: None,
            excerpts: false,
        };
        let builder = reqwest::Client::builder()
            .no_proxy()
            .dns_resolver(std::sync::Arc::new(Silent));
        let door = Door::built(&joined, builder).unwrap();
        let report = Report::Usage(Box::new(UsageReport {
            code: "C".to_owned(),
            part: "web".to_owned(),
            provider: "claude".to_owned(),
            session: "s".to_owned(),
            sent_at: None,
            turn: None,
            skipped: Default::default(),
            rows: Vec::new(),
            usage: None,
            key: None,
        }));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        // Far longer than a connection may take: what ends it is the limit of that.
        let limit = Duration::from_secs(600);
        let answer = runtime.block_on(door.post(&report, Time(0), limit));
        assert!(matches!(answer, Answer::Kept(_)), "{answer:?}");
    }

    #[test]
    fn refused_rows_are_named_once() {
        let body = br#"{"ok":true,"refused":[{"key":"k","why":"at is in two days"},{"key":"l","why":"x"}]}"#;
        assert_eq!(
            refused(body).as_deref(),
            Some("2 rows refused, the first (k): at is in two days")
        );
        assert_eq!(refused(br#"{"ok":true,"new":3}"#), None);
        assert_eq!(refused(br#"{"ok":true,"turn":"t"}"#), None);
    }
}
