//! `/api/admin/playbook`: what a person tells a project's agents (knowledge.md 10).

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
use crate::knowledge::playbook;
use crate::store::Refusal;

/// Which text.
#[derive(Debug, Deserialize)]
pub(super) struct Which {
    project: Option<String>,
}

/// A text to save, or a version to save again.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    rollback: Option<u32>,
}

/// The text in force, what agents get, and all versions.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(which): Params<Which>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let shown = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, which.project.as_deref())?;
            let own = playbook::own(connection, project.seq, None)?;
            let own = own.filter(|text| !text.is_empty());
            let served = playbook::served(connection, &project, now)?;
            Ok(json!({
                "project": project.slug,
                "builtIn": own.is_none(),
                "text": own.as_deref().unwrap_or(playbook::BUILT_IN),
                "served": served.text,
                "hash": served.hash,
                "versions": playbook::history(connection, project.seq)?,
            }))
        })
        .await?;
    Ok(Json(shown))
}

/// Saves a text, or an earlier version once more.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(scope): Params<InProject>,
    JsonBody(change): JsonBody<Change>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let saved = app
        .store
        .write(move |tx| {
            let project = scope.find(tx)?;
            let (version, removed) = match (&change.text, change.rollback) {
                (Some(text), None) => {
                    let saved = playbook::save(tx, &project, person.seq, text, now)?;
                    (saved.version, saved.removed)
                }
                (None, Some(version)) => {
                    let version = playbook::roll_back(tx, project.seq, person.seq, version, now)?;
                    (version, 0)
                }
                _ => {
                    return Err(Refusal::new(
                        "invalid_argument",
                        "the body holds text, or rollback with a version",
                    )
                    .into());
                }
            };
            Ok(json!({"project": project.slug, "version": version, "removed": removed}))
        })
        .await?;
    Ok(Json(saved))
}
