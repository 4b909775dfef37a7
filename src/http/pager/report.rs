//! `POST /api/pager/report`: what became of a line.

use std::sync::Arc;

use axum::Json;
use axum::extract::Request;
use axum::extract::State;

use crate::api::ReportAnswer;
use crate::api::ReportRequest;
use crate::http::app::App;
use crate::http::failure::Failure;
use crate::http::machine::Credentials;
use crate::identity::access;
use crate::wake;

/// What a refused pager is to do.
const HINT: &str = "type nothing for it; the next poll says what is to be served";

/// Applies a report once, however often it comes.
pub(super) async fn report(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<ReportAnswer>, Failure> {
    let (parts, body) = request.into_parts();
    let credentials = Credentials::of(&parts, &app);
    let caller = credentials.enter(&app, &parts).await?;
    let report: ReportRequest = super::read(&parts.headers, body).await?;
    super::check_pager(&report.pager)?;
    let now = app.now();
    let result = app
        .store
        .write(move |tx| {
            let part = match access::pager_part(tx, &caller, &report.code, &report.part)? {
                Ok(part) => part,
                Err(denied) => return Ok(Err(denied)),
            };
            let holder = wake::poll::holder(&report.pager, &report.part);
            wake::report::apply(tx, &report, part.seq, &holder, now).map(Ok)
        })
        .await?
        .map_err(|denied| credentials.denied(denied, HINT))?;
    Ok(Json(ReportAnswer { result }))
}
