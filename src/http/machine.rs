//! Who speaks for a machine: its pager and its hook, by a token or, on loopback, by the connect code alone (access.md 3).

use std::sync::Arc;

use http::HeaderMap;
use http::StatusCode;
use http::header;
use http::request::Parts;
use rusqlite::Connection;

use super::app::App;
use super::extract::authorization;
use super::failure::Failure;
use super::host;
use super::peer;
use super::peer::Peer;
use super::trace::Trace;
use crate::identity::Denial;
use crate::identity::access;
use crate::identity::access::PagerCaller;
use crate::identity::access::PartDenied;
use crate::identity::token;
use crate::store::Outcome;
use crate::store::Time;

/// What a request says of who sent it. Asked again for as long as the request lasts: a revoked token ends an open poll.
#[derive(Debug, Clone)]
pub(super) struct Credentials {
    authorization: Option<Vec<u8>>,
    code_alone: Result<(), &'static str>,
}

impl Credentials {
    pub(super) fn of(parts: &Parts, app: &App) -> Self {
        let local = parts
            .extensions
            .get::<Peer>()
            .is_some_and(Peer::is_loopback);
        Self {
            authorization: authorization(parts),
            code_alone: code_alone(&parts.headers, local, app.only_loopback()),
        }
    }

    /// Who it is, as of `now`.
    pub(super) fn ask(
        &self,
        connection: &Connection,
        now: Time,
    ) -> Outcome<Result<PagerCaller, Denial>> {
        access::pager(
            connection,
            self.authorization.as_deref(),
            self.code_alone,
            now,
        )
    }

    /// Asks for a request that just came, and notes that its token was used.
    ///
    /// # Errors
    /// 401.
    pub(super) async fn enter(&self, app: &App, parts: &Parts) -> Result<PagerCaller, Failure> {
        let now = app.now();
        let asking = self.clone();
        let caller = app
            .store
            .glance(move |connection| asking.ask(connection, now))
            .await??;
        if let (Some(trace), Some(user)) = (parts.extensions.get::<Arc<Trace>>(), caller.user) {
            trace.set_actor(format!("user {}", user.0));
        }
        if let Some((seq, last)) = caller.token
            && token::due_for_use(last, now)
        {
            let remote = parts.extensions.get::<Peer>().map(|peer| peer.remote.ip());
            let remote = remote.map_or_else(String::new, |remote| remote.to_string());
            let client = parts
                .headers
                .get(header::USER_AGENT)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            app.store
                .post(move |tx| token::used(tx, seq, &remote, client.as_deref(), now));
        }
        Ok(caller)
    }

    /// The answer to a request about a part that the sender may not speak for.
    pub(super) fn denied(&self, denied: PartDenied, hint: &'static str) -> Failure {
        let (status, message) = match denied {
            PartDenied::UnknownCode => (StatusCode::NOT_FOUND, "no project has this connect code"),
            PartDenied::UnknownPart => (StatusCode::NOT_FOUND, "the project has no such part"),
            PartDenied::NotYours => (StatusCode::FORBIDDEN, "the part is another person's"),
            PartDenied::Banned => (StatusCode::FORBIDDEN, "the part's owner is banned here"),
        };
        let mut failure = Failure::new(status, denied.as_str(), message, hint);
        failure.counts = denied == PartDenied::UnknownCode && self.is_code_alone();
        failure
    }

    /// Whether there is no token: then a code nobody has counts against the peer.
    pub(super) fn is_code_alone(&self) -> bool {
        self.authorization.is_none()
    }
}

/// Whether the code alone would do, or which condition failed.
fn code_alone(
    headers: &HeaderMap,
    local_peer: bool,
    only_loopback: bool,
) -> Result<(), &'static str> {
    let local_host = headers
        .get(header::HOST)
        .and_then(|value| value.to_str().ok())
        .and_then(host::name)
        .is_some_and(|name| host::is_loopback(&name));
    if !local_peer {
        Err("the request comes from another machine")
    } else if !local_host {
        Err("the Host header is no loopback name")
    } else if peer::forwarding_header(headers).is_some() {
        Err("a proxy passed the request on")
    } else if headers.contains_key(header::ORIGIN) {
        Err("the request has an Origin header")
    } else if !only_loopback {
        Err("the relay listens on more than loopback")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use http::HeaderValue;

    use super::*;

    #[test]
    fn access_012_access_013_each_condition_of_the_code_rule_is_named() {
        let headers = |extra: Option<(&'static str, &'static str)>, host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            if let Some((name, value)) = extra {
                headers.insert(
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                );
            }
            headers
        };
        let local = "127.0.0.1:48801";
        assert_eq!(code_alone(&headers(None, local), true, true), Ok(()));
        for (headers, peer, only, word) in [
            (headers(None, local), false, true, "machine"),
            (headers(None, "relay.example"), true, true, "Host"),
            (
                headers(Some(("x-forwarded-for", "1.2.3.4")), local),
                true,
                true,
                "proxy",
            ),
            (
                headers(Some(("x-forwarded-proto", "https")), local),
                true,
                true,
                "proxy",
            ),
            (
                headers(Some(("forwarded", "for=1.2.3.4")), local),
                true,
                true,
                "proxy",
            ),
            (headers(Some(("via", "1.1 x")), local), true, true, "proxy"),
            (
                headers(Some(("origin", "http://localhost")), local),
                true,
                true,
                "Origin",
            ),
            (headers(None, local), true, false, "listens"),
        ] {
            let why = code_alone(&headers, peer, only).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
    }
}
