//! `POST /api/activity`: one event of an agent CLI.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::extract::State;

use crate::activity::turn;
use crate::activity::turn::Activity;
use crate::api::hook::ActivityAnswer;
use crate::api::hook::ActivityReport;
use crate::http::app::App;
use crate::http::body;
use crate::http::failure::Failure;
use crate::identity::access;
use crate::wake;

/// Takes a report, and lets waking have what it proves.
pub(super) async fn activity(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<ActivityAnswer>, Failure> {
    let (credentials, caller, report) =
        super::enter::<ActivityReport>(&app, request, body::SMALL).await?;
    let now = app.now();
    let turn = app
        .store
        .write(move |tx| {
            let part = match access::pager_part(tx, &caller, &report.code, &report.part)? {
                Ok(part) => part,
                Err(denied) => return Ok(Err(denied)),
            };
            let activity = Activity::read(&report, now)?;
            let wake = match activity.tag() {
                Some(tag) => wake::tagged(tx, part.seq, tag)?,
                None => None,
            };
            let reported = turn::report(tx, &part, &activity, wake)?;
            if let (Some(wake), Some(at)) = (wake, reported.prompted_at) {
                wake::prompted(tx, wake, at, now)?;
            }
            if reported.changed {
                wake::consider(tx, part.seq, now)?;
            }
            Ok(Ok(reported.turn))
        })
        .await?
        .map_err(|denied| credentials.denied(denied, super::HINT))?;
    Ok(Json(ActivityAnswer { ok: true, turn }))
}
