//! `GET /api/admin/status`: what runs here, what needs the person, and every part.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::attention;
use super::parts;
use super::scope::InProject;
use crate::activity::pane;
use crate::activity::zone::Zone;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::identity::Project;
use crate::identity::project;
use crate::store::Outcome;
use crate::store::Time;

const COUNTS: &str = "SELECT (SELECT count(*) FROM project WHERE archived_at IS NULL),
    (SELECT count(*) FROM part WHERE deleted_at IS NULL),
    (SELECT count(*) FROM thread WHERE status IN ('open', 'answered', 'holding')),
    (SELECT coalesce(max(seq), 0) FROM message),
    (SELECT count(*) FROM wake WHERE ended_at IS NULL)";

const PAGERS: &str = "SELECT machine, version, tmux, max(heard_at) AS heard FROM pane
    WHERE heard_at >= ?1 GROUP BY pager ORDER BY machine, heard";

/// Which parts to show.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    project: Option<String>,
    /// Whose today it is; UTC unless named.
    zone: Option<String>,
}

/// Version, file, addresses, counts, pagers heard lately, who was turned away, attention, and the parts of the project asked for, or
/// of all live ones.
pub(super) async fn status(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(query): Params<Query>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let heard = Arc::clone(&app.heard);
    let scope = InProject {
        project: query.project,
    };
    let mut status = app
        .store
        .read(move |connection| {
            let projects = asked_for(connection, &scope)?;
            let zone = Zone::find(query.zone.as_deref())?;
            let mut all = Vec::new();
            for project in &projects {
                all.extend(parts::views(
                    connection, project, &heard, false, &zone, now,
                )?);
            }
            let items = attention::items(connection, &projects, now)?;
            Ok(json!({
                "counts": counts(connection)?,
                "pagers": pagers(connection, now)?,
                "attention": {"count": items.len(), "items": items},
                "parts": all,
            }))
        })
        .await?;
    let listen: Vec<String> = app.addresses.iter().map(ToString::to_string).collect();
    status["version"] = env!("CARGO_PKG_VERSION").into();
    status["instance"] = app.instance.as_str().into();
    status["file"] = app.store.path().to_string_lossy().into();
    status["listen"] = listen.into();
    status["publicUrl"] = json!(app.settings.public_url);
    status["startedAt"] = app.started_at.rfc3339().into();
    status["person"] = person.name.into();
    status["queuedWrites"] = app.store.queue_len().into();
    status["refusals"] = json!(app.refusals.last());
    Ok(Json(status))
}

/// The project that was named, or all live ones.
pub(super) fn asked_for(connection: &Connection, scope: &InProject) -> Outcome<Vec<Project>> {
    if scope.project.is_some() {
        return Ok(vec![scope.find(connection)?]);
    }
    let mut all = project::list(connection)?;
    all.retain(|project| project.archived_at.is_none());
    Ok(all)
}

fn counts(connection: &Connection) -> Outcome<Value> {
    let mut statement = connection.prepare_cached(COUNTS)?;
    Ok(statement.query_row([], |row| {
        Ok(json!({
            "projects": row.get::<_, i64>(0)?,
            "parts": row.get::<_, i64>(1)?,
            "liveThreads": row.get::<_, i64>(2)?,
            "messages": row.get::<_, i64>(3)?,
            "openWakes": row.get::<_, i64>(4)?,
        }))
    })?)
}

fn pagers(connection: &Connection, now: Time) -> Outcome<Vec<Value>> {
    let mut statement = connection.prepare_cached(PAGERS)?;
    let rows = statement.query_map([now.0 - pane::PAGER_SILENT_MS], |row| {
        Ok(json!({
            "machine": row.get::<_, String>(0)?,
            "version": row.get::<_, String>(1)?,
            "tmux": row.get::<_, String>(2)?,
            "heardAt": row.get::<_, Time>(3)?.rfc3339(),
        }))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
