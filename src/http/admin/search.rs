//! `GET /api/admin/search`: threads by their text.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::scope;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::messaging;
use crate::messaging::SearchArgs;

/// Threads of one answer (cli.md 5).
const ROWS: usize = 50;

/// Most threads one search of the rule gives.
const AT_ONCE: i64 = 20;

/// What to find.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    project: Option<String>,
    query: String,
    before: Option<String>,
}

/// Threads in which every word occurs, newest first.
pub(super) async fn search(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(query): Params<Query>,
) -> Result<Json<Value>, Failure> {
    let threads = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, query.project.as_deref())?;
            let mut args = SearchArgs {
                query: query.query,
                limit: Some(AT_ONCE),
                before: match &query.before {
                    Some(typed) => Some(scope::thread(connection, typed)?.1),
                    None => None,
                },
            };
            let mut threads = Vec::new();
            loop {
                let page = messaging::search(connection, project.seq, &args)?;
                let found = page.items.len();
                threads.extend(page.items);
                args.before = threads.last().map(|hit| hit.thread_id.clone());
                let cut = page.note.is_some_and(|note| note.more);
                if threads.len() >= ROWS || found == 0 || (found < AT_ONCE as usize && !cut) {
                    threads.truncate(ROWS);
                    return Ok(threads);
                }
            }
        })
        .await?;
    Ok(Json(json!({ "threads": threads })))
}
