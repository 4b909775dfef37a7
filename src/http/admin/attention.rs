//! `GET /api/admin/attention`: what needs the person. The facts come from their tables; what they mean and how they rank is
//! [`crate::activity::attention`]'s to say.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;

use super::scope::InProject;
use super::status;
use crate::activity::attention;
use crate::activity::attention::Class;
use crate::activity::attention::Item;
use crate::activity::pane;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::identity::Project;
use crate::identity::part;
use crate::knowledge;
use crate::messaging::person;
use crate::messaging::person::PersonInboxArgs;
use crate::store::Outcome;
use crate::store::Time;
use crate::wake::look;

/// The items of the project asked for, or of all live ones.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(scope): Params<InProject>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let items = app
        .store
        .read(move |connection| {
            let projects = status::asked_for(connection, &scope)?;
            items(connection, &projects, now)
        })
        .await?;
    Ok(Json(json!({"count": items.len(), "items": items})))
}

/// What needs the person in these projects, worst first.
pub(super) fn items(
    connection: &Connection,
    projects: &[Project],
    now: Time,
) -> Outcome<Vec<Item>> {
    let mut items = Vec::new();
    for project in projects {
        for part in part::live(connection, project.seq)? {
            let facts = facts(connection, project, &part, now)?;
            items.extend(attention::of_part(&facts, now));
        }
        items.extend(mail(connection, project)?);
        for entry in knowledge::list(connection, project.seq, Some("contradicted"))? {
            items.push(Item {
                class: Class::Contradiction,
                urgent: false,
                project: project.slug.clone(),
                part: None,
                thread: None,
                what: format!("an entry was contradicted: {}", entry.title),
                fix: None,
                since: Time::parse(&entry.created_at).unwrap_or_default(),
            });
        }
    }
    attention::rank(&mut items);
    Ok(items)
}

fn facts(
    connection: &Connection,
    project: &Project,
    part: &part::Part,
    now: Time,
) -> Outcome<attention::Part> {
    let open = look::open(connection, part.seq)?;
    let pane = pane::of(connection, part.seq)?;
    Ok(attention::Part {
        project: project.slug.clone(),
        name: part.slug.clone(),
        pager_silent: pane::pager_silent(connection, part.seq, now)?,
        wake: open
            .as_ref()
            .map(|open| (open.issued_at, open.state == "unconfirmed")),
        blocked: open.and_then(|open| open.hold),
        dialog: pane
            .filter(|pane| pane.state == "dialog")
            .and_then(|pane| pane.since),
        unanswered: look::unanswered(connection, part.seq)?,
        holds: look::holds(connection, part.seq)?,
        limited_until: part.limited_until.filter(|until| *until > now),
    })
}

/// Threads that wait for the person.
fn mail(connection: &Connection, project: &Project) -> Outcome<Vec<Item>> {
    let waiting = person::inbox(connection, project.seq, &PersonInboxArgs::default())?;
    let items = waiting.items.into_iter().map(|thread| Item {
        class: Class::NeedsPerson,
        urgent: thread.needs_human,
        project: project.slug.clone(),
        part: None,
        fix: Some(format!("relayroom show {}", thread.thread_id)),
        since: Time::parse(&thread.at).unwrap_or_default(),
        what: format!("{} writes: {}", thread.from, thread.subject),
        thread: Some(thread.thread_id),
    });
    Ok(items.collect())
}
