//! `/api/admin/threads`: list, read, and give any status.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::extract::State;
use serde::Deserialize;
use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use super::scope;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::messaging;
use crate::messaging::Author;
use crate::messaging::List;
use crate::messaging::ShowArgs;
use crate::messaging::Status;
use crate::messaging::ThreadsArgs;
use crate::messaging::person;

/// Which threads to list.
#[derive(Debug, Deserialize)]
pub(super) struct Filter {
    project: Option<String>,
    status: Option<String>,
    part: Option<String>,
    q: Option<String>,
    before: Option<String>,
}

/// Where to go on in a thread.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    after: Option<String>,
}

/// A new status.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    status: String,
    /// The status it is thought to have; another one is a conflict.
    #[serde(default)]
    expected: Option<String>,
}

/// A project's threads, newest first, 50 at most.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(filter): Params<Filter>,
) -> Result<Json<Value>, Failure> {
    let threads = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, filter.project.as_deref())?;
            let part = match &filter.part {
                Some(name) => Some(scope::part(connection, &project, name)?.seq),
                None => None,
            };
            let before = match &filter.before {
                Some(typed) => Some(scope::thread(connection, typed)?.1),
                None => None,
            };
            let args = ThreadsArgs {
                status: filter.status,
                q: filter.q,
                before,
                part,
            };
            messaging::threads(connection, project.seq, &args)
        })
        .await?;
    Ok(Json(listed("threads", threads)))
}

/// A page of one thread. What was shown of it is read: the person opened it.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Admin(admin): Admin,
    Path(typed): Path<String>,
    Params(After { after }): Params<After>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let (project, page) = app
        .store
        .read(move |connection| {
            let (project, thread_id) = scope::thread(connection, &typed)?;
            let reader = Author::Person {
                user: admin.seq,
                project,
            };
            let page = messaging::show(connection, &reader, &ShowArgs { thread_id, after }, now)?;
            Ok((project, page))
        })
        .await?;
    if !page.shown.is_empty() {
        let shown = page.shown.clone();
        app.store
            .post(move |tx| person::opened(tx, project, &shown, now));
    }
    Ok(Json(json!(page)))
}

/// Gives a thread any status.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(admin): Admin,
    Path(typed): Path<String>,
    JsonBody(change): JsonBody<Change>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let thread = app
        .store
        .write(move |tx| {
            let (project, thread_id) = scope::thread(tx, &typed)?;
            let author = Author::Person {
                user: admin.seq,
                project,
            };
            let status = Status::read(&change.status)?;
            let expected = change.expected.as_deref().map(Status::read).transpose()?;
            person::set_status(tx, &author, &thread_id, status, expected, now)
        })
        .await?;
    Ok(Json(json!(thread)))
}

/// A list under its name; where it was cut, with what goes on from there.
pub(super) fn listed<T: Serialize>(name: &str, list: List<T>) -> Value {
    let mut answer = json!({ name: list.items });
    if let Some(note) = list.note {
        answer["more"] = note.more.into();
        answer["before"] = json!(note.before);
    }
    answer
}
