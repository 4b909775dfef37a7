//! `GET /api/playbook?part=`: the text of `RELAYROOM.md` (knowledge.md 10, access.md 6).

use std::sync::Arc;

use axum::extract::Request;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::Response;
use http::HeaderMap;
use http::HeaderName;
use http::StatusCode;
use http::header;
use rusqlite::Connection;
use serde::Deserialize;

use crate::http::app::App;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::http::machine::Credentials;
use crate::identity::access;
use crate::identity::access::PagerCaller;
use crate::identity::access::PartDenied;
use crate::identity::project;
use crate::knowledge::playbook;
use crate::knowledge::playbook::Served;
use crate::store::Outcome;
use crate::store::Time;

/// Where the code travels: never in a query.
const CODE: &str = "x-relayroom-code";

/// Names the text without the line on the main agent.
const HASH: HeaderName = HeaderName::from_static("x-relayroom-playbook-hash");

/// Whose file it is for.
#[derive(Debug, Deserialize)]
pub(in crate::http) struct Query {
    part: String,
}

/// Answers the text, or that the file holds it.
pub(in crate::http) async fn playbook(
    State(app): State<Arc<App>>,
    Params(query): Params<Query>,
    request: Request,
) -> Result<Response, Failure> {
    let (parts, _) = request.into_parts();
    let credentials = Credentials::of(&parts, &app);
    let caller = credentials.enter(&app, &parts).await?;
    let code = word(&parts.headers, CODE).to_owned();
    let now = app.now();
    let found = app
        .store
        .read(move |connection| find(connection, &caller, &code, &query.part, now))
        .await?;
    let served = found.map_err(|denied| {
        let mut failure = Failure::new(
            StatusCode::NOT_FOUND,
            denied.as_str(),
            "no such project or part is open to this caller",
            "join the part again with relayroom join",
        );
        failure.counts = denied == PartDenied::UnknownCode && credentials.is_code_alone();
        failure
    })?;
    Ok(answer(&served, &parts.headers))
}

fn find(
    connection: &Connection,
    caller: &PagerCaller,
    code: &str,
    part: &str,
    now: Time,
) -> Outcome<Result<Served, PartDenied>> {
    if let Err(denied) = access::pager_part(connection, caller, code, part)? {
        return Ok(Err(denied));
    }
    match project::by_code(connection, code)? {
        Some(project) => Ok(Ok(playbook::served(connection, &project, now)?)),
        None => Ok(Err(PartDenied::UnknownCode)),
    }
}

fn answer(served: &Served, headers: &HeaderMap) -> Response {
    let etag = format!("\"{}\"", served.whole());
    let known = word(headers, header::IF_NONE_MATCH.as_str())
        .split(',')
        .any(|known| known.trim().trim_start_matches("W/") == etag);
    let names = [(header::ETAG, etag), (HASH, served.hash.clone())];
    if known {
        return (StatusCode::NOT_MODIFIED, names).into_response();
    }
    let kind = [(header::CONTENT_TYPE, "text/markdown; charset=utf-8")];
    (names, kind, served.text.clone()).into_response()
}

fn word<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
