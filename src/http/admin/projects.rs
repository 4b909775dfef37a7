//! `/api/admin/projects`: make, show and change projects.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::extract::State;
use rusqlite::Connection;
use serde::Deserialize;
use serde::Deserializer;
use serde_json::Value;
use serde_json::json;

use super::scope;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::failure::Failure;
use crate::identity::Project;
use crate::identity::part;
use crate::identity::project;
use crate::store::Outcome;
use crate::store::Time;
use crate::wake;

/// A new project.
#[derive(Debug, Deserialize)]
pub(super) struct New {
    name: String,
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Change {
    /// `null`: back to the default.
    #[serde(default, deserialize_with = "given")]
    max_broadcast_recipients: Option<Option<u32>>,
    #[serde(default)]
    distill_on_close: Option<bool>,
    #[serde(default)]
    archived: Option<bool>,
}

/// Tells a `null` from a field that is not there.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<u32>>, D::Error> {
    Option::deserialize(value).map(Some)
}

/// All projects by name, with their codes.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
) -> Result<Json<Value>, Failure> {
    let projects = app
        .store
        .read(|connection| {
            let all = project::list(connection)?;
            all.iter()
                .map(|project| view(connection, project))
                .collect::<Outcome<Vec<Value>>>()
        })
        .await?;
    Ok(Json(json!({ "projects": projects })))
}

/// Makes one.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    JsonBody(new): JsonBody<New>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let made = app
        .store
        .write(move |tx| {
            let made = project::create(tx, person.seq, &new.name, now)?;
            view(tx, &made)
        })
        .await?;
    Ok(Json(made))
}

/// One, by name or id; `-` is the only one.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Path(name): Path<String>,
) -> Result<Json<Value>, Failure> {
    let shown = app
        .store
        .read(move |connection| view(connection, &scope::project(connection, Some(&name))?))
        .await?;
    Ok(Json(shown))
}

/// Changes settings, archives, takes back.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Path(name): Path<String>,
    JsonBody(change): JsonBody<Change>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let changed = app
        .store
        .write(move |tx| {
            let seq = scope::project(tx, Some(&name))?.seq;
            if let Some(cap) = change.max_broadcast_recipients {
                project::set_max_broadcast(tx, seq, cap)?;
            }
            if let Some(on) = change.distill_on_close {
                project::set_distill_on_close(tx, seq, on)?;
            }
            if let Some(archived) = change.archived {
                project::set_archived(tx, seq, archived, now)?;
                wake::consider_project(tx, seq, now)?;
            }
            view(tx, &project::get(tx, seq)?)
        })
        .await?;
    Ok(Json(changed))
}

/// Gives it a new connect code.
pub(super) async fn rotate_code(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Path(name): Path<String>,
) -> Result<Json<Value>, Failure> {
    let rotated = app
        .store
        .write(move |tx| {
            let seq = scope::project(tx, Some(&name))?.seq;
            project::rotate_code(tx, seq)?;
            view(tx, &project::get(tx, seq)?)
        })
        .await?;
    Ok(Json(rotated))
}

fn view(connection: &Connection, project: &Project) -> Outcome<Value> {
    let parts = part::live(connection, project.seq)?;
    let main = parts
        .iter()
        .find(|part| Some(part.seq) == project.main_part)
        .map(|part| part.slug.as_str());
    Ok(json!({
        "id": project.id,
        "slug": project.slug,
        "name": project.name,
        "code": project.connect_code,
        "main": main,
        "parts": parts.len(),
        "maxBroadcastRecipients": project.max_broadcast,
        "distillOnClose": project.distill_on_close,
        "createdAt": project.created_at.rfc3339(),
        "archivedAt": project.archived_at.map(Time::rfc3339),
    }))
}
