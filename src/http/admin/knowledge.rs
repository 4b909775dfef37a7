//! `/api/admin/knowledge`: what a person writes down and vouches for.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::extract::State;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::scope;
use super::scope::InProject;
use super::scope::Kind;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::identity::Project;
use crate::knowledge;
use crate::knowledge::NewEntry;
use crate::store::Outcome;
use crate::store::Refusal;

/// Which entries to list.
#[derive(Debug, Deserialize)]
pub(super) struct Filter {
    project: Option<String>,
    /// `candidate`, `trusted`, `contradicted` or `retired`.
    state: Option<String>,
}

/// A new entry.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct New {
    kind: String,
    title: String,
    body: String,
    /// Vouched for at once.
    #[serde(default)]
    confirm: bool,
}

/// The entries of a project, oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(filter): Params<Filter>,
) -> Result<Json<Value>, Failure> {
    let entries = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, filter.project.as_deref())?;
            knowledge::list(connection, project.seq, filter.state.as_deref())
        })
        .await?;
    Ok(Json(json!({ "entries": entries })))
}

/// Writes one down.
pub(super) async fn add(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(scope): Params<InProject>,
    JsonBody(new): JsonBody<New>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let added = app
        .store
        .write(move |tx| {
            let project = scope.find(tx)?;
            let entry = NewEntry::check(&new.kind, &new.title, &new.body)?;
            let id = knowledge::add(tx, project.seq, person.seq, &entry, new.confirm, now)?;
            one(tx, &project, &id)
        })
        .await?;
    Ok(Json(added))
}

/// Vouches for one.
pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(scope): Params<InProject>,
    Path(typed): Path<String>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let confirmed = app
        .store
        .write(move |tx| {
            let project = scope.find(tx)?;
            let id = scope::id(tx, Kind::Knowledge, &typed)?;
            knowledge::confirm(tx, project.seq, &id, person.seq, now)?;
            one(tx, &project, &id)
        })
        .await?;
    Ok(Json(confirmed))
}

fn one(connection: &Connection, project: &Project, id: &str) -> Outcome<Value> {
    let entry = knowledge::list(connection, project.seq, None)?
        .into_iter()
        .find(|entry| entry.id == id)
        .ok_or_else(|| Refusal::new("not_found", "no such entry (relayroom knowledge list)"))?;
    Ok(json!(entry))
}
