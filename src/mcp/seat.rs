//! Who sits at the other end: checks 4–7 of tools.md 2, and what follows once all checks have passed.

use std::sync::Arc;

use axum::extract::Query;
use http::header;
use http::request::Parts;

use crate::http::App;
use crate::http::Failure;
use crate::http::extract::authorization;
use crate::http::peer::Peer;
use crate::http::trace::Trace;
use crate::identity::Caller;
use crate::identity::access;
use crate::identity::access::Entry;
use crate::identity::access::McpRequest;
use crate::identity::token;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;

/// A request that may come in, but has not yet passed every check.
pub(super) struct Visitor {
    request: McpRequest,
    entry: Entry,
}

/// The caller of a request that passed every check.
pub(super) struct Seat {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    request: McpRequest,
}

impl Visitor {
    /// Asks who is calling. Leaves no trace.
    ///
    /// # Errors
    /// The failure of the first check that does not pass.
    pub(super) async fn ask(app: &App, parts: &Parts, code: String) -> Result<Self, Failure> {
        let request = McpRequest {
            authorization: authorization(parts),
            code,
            part: part_of(parts),
        };
        let now = app.now();
        let (request, entry) = app
            .store
            .glance(move |connection| {
                let entry = access::mcp(connection, &request, now)?;
                Ok((request, entry))
            })
            .await?;
        Ok(Self {
            request,
            entry: entry?,
        })
    }

    /// Takes a seat: the part begins if its name was free, and counts as heard. `client` is the program's own name for itself.
    ///
    /// # Errors
    /// As [`Visitor::ask`]: what it found may have changed.
    pub(super) async fn sit(
        self,
        app: Arc<App>,
        parts: &Parts,
        client: Option<String>,
    ) -> Result<Seat, Failure> {
        let now = app.now();
        let request = self.request;
        let (request, caller) = match self.entry {
            Entry::Caller(caller) => (request, caller),
            Entry::Begins => {
                let (request, begun) = app
                    .store
                    .write(move |tx| {
                        let begun = access::begin(tx, &request, now)?;
                        Ok((request, begun))
                    })
                    .await?;
                (request, begun?)
            }
        };
        app.heard.note(caller.part, now);
        if let Some(trace) = parts.extensions.get::<Arc<Trace>>() {
            trace.set_actor(format!("part {}", caller.part.0));
        }
        if token::due_for_use(caller.token_used_at, now) {
            let seq = caller.token;
            let peer = parts
                .extensions
                .get::<Peer>()
                .map_or_else(String::new, |peer| peer.remote.ip().to_string());
            let client = client.or_else(|| user_agent(parts));
            app.store
                .post(move |tx| token::used(tx, seq, &peer, client.as_deref(), now));
        }
        Ok(Seat {
            app,
            caller,
            request,
        })
    }
}

impl Seat {
    /// The caller, asked again inside the transaction that acts for it: between the door and the write it may have been banned.
    ///
    /// # Errors
    /// A refusal with the reason, if it may no longer come in.
    pub(super) fn again(request: &McpRequest, tx: &Tx<'_>, now: Time) -> Outcome<Caller> {
        match access::mcp(tx, request, now)? {
            Ok(Entry::Caller(caller)) => Ok(caller),
            Ok(Entry::Begins) => Err(Refusal::new("part", "the part is gone").into()),
            Err(denial) => Err(Refusal::new(denial.reason.as_str(), denial.message).into()),
        }
    }

    /// Runs a rule that writes, for the caller as it is at that moment.
    ///
    /// # Errors
    /// What the rule returned.
    pub(super) async fn write<T, F>(&self, rule: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>, &Caller, Time) -> Outcome<T> + Send + 'static,
    {
        let now = self.app.now();
        let request = self.request.clone();
        self.app
            .store
            .write(move |tx| {
                let caller = Self::again(&request, tx, now)?;
                rule(tx, &caller, now)
            })
            .await
    }

    /// Runs a rule that reads a few indexed rows.
    ///
    /// # Errors
    /// What the rule returned.
    pub(super) async fn glance<T, F>(&self, rule: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Connection, &Caller) -> Outcome<T> + Send + 'static,
    {
        let caller = self.caller.clone();
        self.app
            .store
            .glance(move |connection| rule(connection, &caller))
            .await
    }

    /// Runs a rule that reads.
    ///
    /// # Errors
    /// What the rule returned.
    pub(super) async fn read<T, F>(&self, rule: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&rusqlite::Connection, &Caller) -> Outcome<T> + Send + 'static,
    {
        let caller = self.caller.clone();
        self.app
            .store
            .read(move |connection| rule(connection, &caller))
            .await
    }
}

/// `?part=`; two of them make a name that no part has.
fn part_of(parts: &Parts) -> Option<String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).ok()?;
    let named: Vec<String> = pairs
        .into_iter()
        .filter(|(name, _)| name == "part")
        .map(|(_, value)| value)
        .collect();
    (!named.is_empty()).then(|| named.join(","))
}

fn user_agent(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(header::USER_AGENT)?;
    Some(value.to_str().ok()?.to_owned())
}
