//! `POST /api/admin/messages`: the person writes, as `human`: a new thread, or into one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::scope;
use super::scope::InProject;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::messaging;
use crate::messaging::Author;
use crate::messaging::ReplyArgs;
use crate::messaging::SendArgs;

/// A message; with `threadId` it is a reply, else it needs a subject and recipients.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct New {
    #[serde(default)]
    thread_id: Option<String>,
    #[serde(default)]
    subject: String,
    body: String,
    /// A reply without any goes to all live participants.
    #[serde(default)]
    to: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    urgent: bool,
    #[serde(default)]
    fyi: bool,
    /// A reply leaves the needs-human flag standing.
    #[serde(default)]
    keep_flag: bool,
}

/// Stores it, and says per recipient what happens next.
pub(super) async fn write(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(scope): Params<InProject>,
    JsonBody(new): JsonBody<New>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let user = person.seq;
    let answer = app
        .store
        .write(move |tx| match new.thread_id {
            Some(typed) => {
                let (project, thread_id) = scope::thread(tx, &typed)?;
                let args = ReplyArgs {
                    thread_id,
                    body: new.body,
                    to: new.to,
                    urgent: new.urgent,
                    fyi: new.fyi,
                    keep_flag: new.keep_flag,
                    ..ReplyArgs::default()
                };
                let replied = messaging::reply(tx, &Author::Person { user, project }, &args, now)?;
                Ok(json!(replied))
            }
            None => {
                let project = scope.find(tx)?.seq;
                let args = SendArgs {
                    subject: new.subject,
                    body: new.body,
                    to: new.to,
                    tags: new.tags,
                    urgent: new.urgent,
                    fyi: new.fyi,
                    ..SendArgs::default()
                };
                let sent = messaging::send(tx, &Author::Person { user, project }, &args, now)?;
                Ok(json!(sent))
            }
        })
        .await?;
    Ok(Json(answer))
}
