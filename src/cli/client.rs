//! The person's door to the relay: `/api/admin/*` with the admin token beside the database (access.md 2, 6).

use std::path::PathBuf;
use std::time::Duration;

use http::Method;
use http::Uri;
use serde_json::Value;

use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::text;
use crate::api::Health;
use crate::config;

/// Connecting to a relay on the same machine takes no longer than this.
const CONNECT: Duration = Duration::from_millis(800);

/// The longest any work of a relay takes.
const WORK: Duration = Duration::from_secs(6 * 3_600);

/// A caller of admin routes.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token_file: PathBuf,
    token: Result<String, String>,
    project: Option<String>,
}

impl Client {
    /// A caller for the relay the context names. The token is only ever sent to this machine, whatever a settings file of some
    /// repository says.
    ///
    /// # Errors
    /// Exit 2 for an address that is none, exit 3 for one on another machine.
    pub fn new(context: &Context) -> Result<Self, Failure> {
        let base = context.server();
        if !is_loopback(&base)? {
            return Err(Failure::new(
                Exit::Refused,
                "local_only",
                format!(
                    "{} is not on this machine; a person's commands go to a relay on the same machine",
                    text::line(&base)
                ),
            )
            .fix(format!("--server {}", config::DEFAULT_SERVER)));
        }
        let token_file = config::admin_token_file(&context.db());
        let mut client = Self::at(&base, token_file, context.timeout())?;
        client.project = context.project();
        Ok(client)
    }

    /// A caller for the relay at `base`, which is on this machine, with the token in that file.
    ///
    /// # Errors
    /// A fault of the TLS library.
    pub fn at(base: &str, token_file: PathBuf, limit: Duration) -> Result<Self, Failure> {
        Ok(Self {
            http: http_client(limit)?,
            token: config::read_secret(&token_file),
            token_file,
            base: base.to_owned(),
            project: None,
        })
    }

    /// The same caller for work that takes the relay as long as it takes: whether it answers at all is known at once, when it is done
    /// is not.
    ///
    /// # Errors
    /// As [`Client::at`].
    pub fn patient(self) -> Result<Self, Failure> {
        Ok(Self {
            http: http_client(WORK)?,
            ..self
        })
    }

    /// Where the relay is.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The project that was named, for the query of a call.
    #[must_use]
    pub fn project(&self) -> Vec<(&'static str, String)> {
        self.project
            .iter()
            .map(|name| ("project", name.clone()))
            .collect()
    }

    /// Reads.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn get(
        &self,
        path: &str,
        query: &[(&'static str, String)],
    ) -> Result<Value, Failure> {
        self.call(Method::GET, path, query, None).await
    }

    /// One call; the answer's JSON.
    ///
    /// # Errors
    /// Exit 4 if the relay does not answer; otherwise what its refusal means (cli.md 1).
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let mut response = self.send(method, path, query, body).await?;
        let mut bytes = Vec::new();
        while let Some(piece) = response.piece().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    /// A read whose answer comes piece by piece.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn stream(
        &self,
        path: &str,
        query: &[(&'static str, String)],
    ) -> Result<Answer<'_>, Failure> {
        self.send(Method::GET, path, query, None).await
    }

    /// Sends one call; its answer if it is no refusal.
    async fn send(
        &self,
        method: Method,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&Value>,
    ) -> Result<Answer<'_>, Failure> {
        let mut url = format!("{}/api/admin/{path}", self.base);
        if !query.is_empty() {
            let pairs: Vec<String> = query
                .iter()
                .map(|(name, value)| format!("{name}={}", encode(value)))
                .collect();
            url = format!("{url}?{}", pairs.join("&"));
        }
        let mut request = self.http.request(method, url);
        if let Ok(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| self.silent(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Answer {
                client: self,
                response,
            });
        }
        let bytes = response
            .bytes()
            .await
            .map_err(|error| self.silent(&error))?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status == http::StatusCode::UNAUTHORIZED {
            return Err(self.token_refused());
        }
        Err(refused(status.as_u16(), &answer))
    }

    fn silent(&self, error: &reqwest::Error) -> Failure {
        let why = if error.is_timeout() && !error.is_connect() {
            "did not answer in time"
        } else {
            "is not reachable"
        };
        Failure::new(
            Exit::Unreachable,
            "unreachable",
            format!("the relay at {} {why}", text::line(&self.base)),
        )
        .fix("relayroom up")
    }

    fn token_refused(&self) -> Failure {
        let file = self.token_file.display();
        let message = match &self.token {
            Ok(_) => format!(
                "the relay at {} does not know the admin token in {file}: that is another relay's database",
                text::line(&self.base)
            ),
            Err(why) => format!("no admin token: {}", text::line(why)),
        };
        Failure::new(Exit::Refused, "token_unknown", message)
            .fix("--db FILE names the relay's database")
    }
}

/// A relay's answer on its way.
#[derive(Debug)]
pub struct Answer<'a> {
    client: &'a Client,
    response: reqwest::Response,
}

impl Answer<'_> {
    /// What came next; `None` after the whole answer.
    ///
    /// # Errors
    /// Exit 4 if it broke off.
    pub async fn piece(&mut self) -> Result<Option<bytes::Bytes>, Failure> {
        let piece = self.response.chunk().await;
        piece.map_err(|error| {
            let mut failure = self.client.silent(&error);
            if !error.is_timeout() {
                let base = text::line(&self.client.base);
                failure.message = format!("the relay at {base} broke off its answer");
            }
            failure
        })
    }
}

/// What the relay says of its own health, if one answers there.
pub async fn health(base: &str, limit: Duration) -> Option<Health> {
    let http = http_client(limit).ok()?;
    let response = http.get(format!("{base}/health")).send().await.ok()?;
    response.json().await.ok()
}

/// A client that follows no redirect and no proxy: it talks to one address of this machine.
///
/// # Errors
/// A fault of the TLS library.
pub fn http_client(limit: Duration) -> Result<reqwest::Client, Failure> {
    // Already installed is fine: whoever came first installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(concat!("relayroom/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .tls_certs_only(std::iter::empty())
        .connect_timeout(CONNECT.min(limit))
        .timeout(limit)
        .build()
        .map_err(|error| Failure::fault(error.to_string()))
}

/// Whether an address is plain HTTP on this machine.
///
/// # Errors
/// Exit 2 for what is no address.
pub fn is_loopback(base: &str) -> Result<bool, Failure> {
    let bad = || {
        Failure::usage(format!(
            "{} is no address such as {}",
            text::line(base),
            config::DEFAULT_SERVER
        ))
    };
    let uri: Uri = base.parse().map_err(|_| bad())?;
    let (Some("http"), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return match uri.scheme_str() {
            Some("https") => Ok(false),
            _ => Err(bad()),
        };
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Ok(host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback()))
}

/// A refusal of the relay as a failure of the command.
pub(super) fn refused(status: u16, body: &Value) -> Failure {
    let word = |name: &str| body[name].as_str().unwrap_or_default();
    let code = match word("error") {
        "" => "fault",
        code => code,
    };
    let exit = match (status, code) {
        (_, "bad_recipients" | "no_recipients" | "broadcast_cap") => Exit::Refused,
        (_, "ambiguous") | (404, _) => Exit::Missing,
        (503, _) => Exit::Unreachable,
        (500.., _) => Exit::Fault,
        (400 | 413 | 415, _) => Exit::Usage,
        _ => Exit::Refused,
    };
    let message = match code {
        "bad_recipients" => unknown_names(&body["details"]["bad"]),
        _ => text::block(word("message")),
    };
    let (message, fix) = split_fix(&message);
    let hint = Some(text::block(word("hint"))).filter(|hint| !hint.is_empty());
    let mut failure = Failure::new(exit, code, message);
    failure.fix = fix.or(hint);
    failure
}

/// Names that cannot be written to, each with its cure.
fn unknown_names(bad: &Value) -> String {
    let each = bad.as_array().into_iter().flatten().map(|entry| {
        let name = text::line(entry["name"].as_str().unwrap_or_default());
        match entry["why"].as_str().unwrap_or_default() {
            "deleted" => format!("part {name} was deleted (relayroom part revive {name})"),
            "no_main" => "no part is main (relayroom part main PART)".to_owned(),
            "malformed" => format!("\"{name}\" is no part's name"),
            _ => {
                let near = entry["near"][0]
                    .as_str()
                    .map(|near| format!("; did you mean {near}?"))
                    .unwrap_or_default();
                format!("part \"{name}\" does not exist{near} (relayroom part list)")
            }
        }
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Takes the command off the end of a message: `… (relayroom part list)`.
fn split_fix(message: &str) -> (String, Option<String>) {
    let found = message
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" (relayroom "));
    match found {
        Some((message, command)) => (message.to_owned(), Some(format!("relayroom {command}"))),
        None => (message.to_owned(), None),
    }
}

/// A value in a query, or a name in a path.
#[must_use]
pub fn encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_admin_token_stays_on_this_machine() {
        for (address, stays) in [
            ("http://127.0.0.1:48801", true),
            ("http://localhost", true),
            ("http://[::1]:1", true),
            ("http://127.0.0.1.evil.example", false),
            ("http://192.168.1.5:48801", false),
            ("https://relay.example", false),
        ] {
            assert_eq!(is_loopback(address), Ok(stays), "{address}");
        }
        for bad in ["relay", "ftp://x", ""] {
            assert_eq!(is_loopback(bad).unwrap_err().exit, Exit::Usage, "{bad}");
        }
    }

    #[test]
    fn cli_017_an_unknown_name_comes_with_the_nearest_one() {
        let body = json!({"error": "bad_recipients", "message": "…",
            "details": {"bad": [{"name": "wbe", "why": "unknown", "near": ["web"]}]}});
        let failure = refused(400, &body);
        assert_eq!(failure.exit, Exit::Refused);
        assert_eq!(
            failure.to_line(),
            "part \"wbe\" does not exist; did you mean web? (relayroom part list)"
        );
    }

    #[test]
    fn refusals_have_the_exit_codes_of_the_contract() {
        for (status, code, exit) in [
            (400, "invalid_argument", Exit::Usage),
            (403, "unauthorized", Exit::Refused),
            (404, "thread_not_found", Exit::Missing),
            (409, "ambiguous", Exit::Missing),
            (409, "conflict", Exit::Refused),
            (429, "rate_limited", Exit::Refused),
            (500, "fault", Exit::Fault),
            (503, "stopping", Exit::Unreachable),
        ] {
            let body = json!({"error": code, "message": "x"});
            assert_eq!(refused(status, &body).exit, exit, "{code}");
        }
    }

    #[test]
    fn queries_are_encoded() {
        assert_eq!(encode("a b&c=é"), "a%20b%26c%3D%C3%A9");
    }
}
