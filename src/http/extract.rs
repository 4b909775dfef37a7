//! What handlers ask of a request, with refusals in our own form.

use std::sync::Arc;

use axum::extract::FromRequest;
use axum::extract::FromRequestParts;
use axum::extract::Request;
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::app::App;
use super::body;
use super::failure::Failure;
use super::peer;
use super::peer::Peer;
use super::trace::Trace;
use crate::identity::access;
use crate::identity::people::Person;
use crate::identity::token;

/// The person behind the admin token: from loopback, and not passed on by a proxy (access.md 2).
pub struct Admin(pub Person);

impl FromRequestParts<Arc<App>> for Admin {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        if !is_local(parts) {
            return Err(Failure::forbidden(
                "local_only",
                "the admin routes are open to this machine only",
                "run relayroom on the machine the relay runs on",
            ));
        }
        person(parts, app).await.map(Self)
    }
}

/// Whether the request comes from this machine and was not passed on by a proxy (access.md 3).
#[must_use]
pub fn is_local(parts: &Parts) -> bool {
    let peer = parts.extensions.get::<Peer>();
    peer.is_some_and(Peer::is_loopback) && peer::forwarding_header(&parts.headers).is_none()
}

/// The person behind the admin token of the request, wherever it comes from.
///
/// # Errors
/// 401 without a good token.
pub(super) async fn person(parts: &Parts, app: &App) -> Result<Person, Failure> {
    let authorization = authorization(parts);
    let now = app.now();
    let (person, token) = app
        .store
        .read(move |connection| access::admin(connection, authorization.as_deref(), now))
        .await??;
    if let Some(trace) = parts.extensions.get::<Arc<Trace>>() {
        trace.set_actor(format!("user {}", person.seq.0));
    }
    if token::due_for_use(token.last_used_at, now) {
        let remote = parts.extensions.get::<Peer>();
        let remote = remote.map(|peer| peer.remote.ip().to_string());
        let (seq, peer) = (token.seq, remote.unwrap_or_default());
        let client = user_agent(parts);
        app.store
            .post(move |tx| token::used(tx, seq, &peer, client.as_deref(), now));
    }
    Ok(person)
}

/// The client program, as it calls itself.
fn user_agent(parts: &Parts) -> Option<String> {
    let value = parts.headers.get(http::header::USER_AGENT)?;
    Some(value.to_str().ok()?.to_owned())
}

/// The `Authorization` header as sent.
#[must_use]
pub fn authorization(parts: &Parts) -> Option<Vec<u8>> {
    parts
        .headers
        .get(http::header::AUTHORIZATION)
        .map(|value| value.as_bytes().to_vec())
}

/// A JSON body of at most 256 KiB, read as `T`.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &Arc<App>) -> Result<Self, Failure> {
        body::require_json(request.headers())?;
        let bytes = body::read(request.into_body(), body::SMALL).await?;
        let value = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::bad_request(
                "malformed",
                format!("the body is not what this route reads: {error}"),
                "correct the body",
            )
        })?;
        Ok(Self(value))
    }
}

/// The query of the URL, read as `T`.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Failure> {
        axum::extract::Query::<T>::try_from_uri(&parts.uri)
            .map(|query| Self(query.0))
            .map_err(|error| {
                Failure::bad_request(
                    "malformed",
                    format!("the query is not what this route reads: {error}"),
                    "correct the query",
                )
            })
    }
}
