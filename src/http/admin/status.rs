//! `GET /api/admin/status`: what runs here.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use serde_json::json;

use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::failure::Failure;

const COUNTS: &str = "SELECT (SELECT count(*) FROM project WHERE archived_at IS NULL),
    (SELECT count(*) FROM part WHERE deleted_at IS NULL),
    (SELECT count(*) FROM message)";

/// Version, file, addresses, counts, and who was turned away lately.
pub(super) async fn status(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
) -> Result<Json<Value>, Failure> {
    let (projects, parts, messages) = app
        .store
        .read(|connection| {
            let mut statement = connection.prepare_cached(COUNTS)?;
            let counts: (i64, i64, i64) =
                statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(counts)
        })
        .await?;
    let listen: Vec<String> = app.addresses.iter().map(ToString::to_string).collect();
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "instance": app.instance,
        "file": app.store.path().to_string_lossy(),
        "listen": listen,
        "public_url": app.settings.public_url,
        "started_at": app.started_at.rfc3339(),
        "person": person.name,
        "projects": projects,
        "parts": parts,
        "messages": messages,
        "queued_writes": app.store.queue_len(),
        "refusals": app.refusals.last(),
    })))
}
