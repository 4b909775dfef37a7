//! `GET /api/admin/inbox`: threads for the person, or a look on a part's mail. Marks nothing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;

use super::scope;
use super::threads::listed;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::messaging::InboxArgs;
use crate::messaging::person;
use crate::messaging::person::PersonInboxArgs;

/// Most messages of a part that are looked on.
const LOOKED_ON: i64 = 50;

/// Whose inbox, and how much of it.
#[derive(Debug, Deserialize)]
pub(super) struct Filter {
    project: Option<String>,
    /// Look on this part's.
    part: Option<String>,
    /// Also what was read.
    #[serde(default)]
    all: bool,
}

/// The person's threads, flagged ones first; with `part` that part's messages, newest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(filter): Params<Filter>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let answer = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, filter.project.as_deref())?;
            let Some(name) = &filter.part else {
                let args = PersonInboxArgs {
                    all: filter.all,
                    before: None,
                };
                let threads = person::inbox(connection, project.seq, &args)?;
                return Ok(listed("items", threads));
            };
            let part = scope::part(connection, &project, name)?;
            let args = InboxArgs {
                unread_only: !filter.all,
                limit: Some(LOOKED_ON),
                before: None,
            };
            let messages = person::look_on(connection, part.seq, &args, now)?;
            Ok(listed("items", messages))
        })
        .await?;
    Ok(Json(answer))
}
