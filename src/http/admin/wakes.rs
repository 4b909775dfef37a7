//! `GET /api/admin/wakes`: the ledger's newest rows, with the three facts of each wake.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::Value;
use serde_json::json;

use super::scope::InProject;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::store::Time;
use crate::wake::look;

/// Rows of one answer.
const ROWS: u32 = 200;

/// The project's wakes, newest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(scope): Params<InProject>,
) -> Result<Json<Value>, Failure> {
    let rows = app
        .store
        .read(move |connection| look::ledger(connection, scope.find(connection)?.seq, ROWS))
        .await?;
    let wakes: Vec<Value> = rows.into_iter().map(view).collect();
    Ok(Json(json!({ "wakes": wakes })))
}

fn view(row: look::Row) -> Value {
    json!({
        "id": row.id,
        "part": row.part,
        "lane": row.lane,
        "state": row.state,
        "nudges": row.nudges,
        "storedAt": row.stored_at.rfc3339(),
        "presentedAt": row.presented_at.map(Time::rfc3339),
        "consumedAt": row.consumed_at.map(Time::rfc3339),
        "outcome": row.outcome,
    })
}
