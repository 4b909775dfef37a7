//! What the hook of an agent CLI asks and reports: `/api/playbook`, `/api/activity`, `/api/usage` (access.md 6, usage.md 6). Rules are the
//! capabilities'; here requests are read and bounded, and what a turn proves of a wake is handed on to `wake`.

mod activity;
mod playbook;
mod usage;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use axum::routing::post;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::app::App;
use super::body;
use super::failure::Failure;
use super::machine::Credentials;
use crate::identity::access::PagerCaller;

/// The routes of a hook.
pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/api/activity", post(activity::activity))
        .route("/api/usage", post(usage::usage))
        .route("/api/playbook", get(playbook::playbook))
}

/// What a refused hook is to do.
const HINT: &str = "report nothing for it; relayroom join makes a part and its token";

/// Who sends the request, and its JSON body of at most `limit` bytes. A connect code that the body leaves out is taken from
/// `X-Relayroom-Code`.
async fn enter<T: DeserializeOwned>(
    app: &App,
    request: Request,
    limit: usize,
) -> Result<(Credentials, PagerCaller, T), Failure> {
    let (parts, body) = request.into_parts();
    let credentials = Credentials::of(&parts, app);
    let caller = credentials.enter(app, &parts).await?;
    body::require_json(&parts.headers)?;
    let bytes = body::read(body, limit).await?;
    let mut value: Value = serde_json::from_slice(&bytes).map_err(malformed)?;
    fill_in(&mut value, &parts);
    let report = serde_json::from_value(value).map_err(malformed)?;
    Ok((credentials, caller, report))
}

fn malformed(error: serde_json::Error) -> Failure {
    Failure::bad_request(
        "malformed",
        format!("the body is not what this route reads: {error}"),
        "use the hook of this relay's version",
    )
}

fn fill_in(value: &mut Value, parts: &Parts) {
    let code = parts.headers.get("x-relayroom-code");
    if let (Some(members), Some(code)) = (
        value.as_object_mut(),
        code.and_then(|code| code.to_str().ok()),
    ) {
        members.entry("code").or_insert_with(|| code.into());
    }
}
