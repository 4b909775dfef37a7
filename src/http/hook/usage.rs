//! `POST /api/usage`: the replies a hook read.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::extract::State;
use serde_json::Value;

use crate::activity::usage;
use crate::api::hook::UsageAnswer;
use crate::api::hook::UsageReport;
use crate::http::app::App;
use crate::http::body;
use crate::http::failure::Failure;
use crate::identity::access;

/// Takes a post of replies.
pub(super) async fn usage(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<UsageAnswer>, Failure> {
    let (credentials, caller, report) =
        super::enter::<UsageReport<Value>>(&app, request, body::LARGE).await?;
    let now = app.now();
    let answer = app
        .store
        .write(move |tx| {
            let part = match access::pager_part(tx, &caller, &report.code, &report.part)? {
                Ok(part) => part,
                Err(denied) => return Ok(Err(denied)),
            };
            usage::take(tx, &part, &report, now).map(Ok)
        })
        .await?
        .map_err(|denied| credentials.denied(denied, super::HINT))?;
    Ok(Json(answer))
}
