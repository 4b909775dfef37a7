//! `POST /api/admin/backup`: a copy of the file, made by the relay itself while it goes on.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::failure::Failure;
use crate::store::backup;
use crate::store::backup::Cause;
use crate::store::backup::NotMade;

/// Where the backup is to be.
#[derive(Debug, Deserialize)]
pub(super) struct To {
    /// Absolute: the relay's own folder means nothing to the person.
    path: PathBuf,
}

/// Makes it.
pub(super) async fn make(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    JsonBody(to): JsonBody<To>,
) -> Result<Json<Value>, Failure> {
    if !to.path.is_absolute() {
        return Err(Failure::bad_request(
            "invalid_argument",
            "path must be absolute",
            "name the whole path",
        ));
    }
    let from = app.store.path().to_owned();
    let made = tokio::task::spawn_blocking(move || backup::make(&from, &to.path))
        .await
        .map_err(|_| Failure::unavailable("stopping", "the relay is stopping"))?;
    let made = made.map_err(refused)?;
    Ok(Json(json!({
        "path": made.path.to_string_lossy(),
        "bytes": made.bytes,
        "messages": made.contents.messages,
    })))
}

/// The cause is for the person, who is on this machine and named the path.
fn refused(not_made: NotMade) -> Failure {
    let message = not_made.to_string();
    match not_made.cause {
        Cause::Name | Cause::Busy => Failure::new(StatusCode::CONFLICT, "conflict", message, ""),
        Cause::Failed => {
            tracing::error!(%message, "a backup was not made");
            Failure::new(StatusCode::INSUFFICIENT_STORAGE, "fault", message, "")
        }
    }
}
