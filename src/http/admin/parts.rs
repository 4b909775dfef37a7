//! `/api/admin/parts`: the parts of a project as a person sees them, and what a person changes about them.

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
use super::tokens;
use crate::activity::Heard;
use crate::activity::ledger;
use crate::activity::pane;
use crate::activity::roster;
use crate::activity::turn;
use crate::activity::zone::Zone;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::identity::Part;
use crate::identity::Project;
use crate::identity::part;
use crate::identity::people;
use crate::identity::project;
use crate::identity::token;
use crate::identity::token::Binding;
use crate::messaging;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::Tx;
use crate::wake;
use crate::wake::look;

/// Which parts to list.
#[derive(Debug, Deserialize)]
pub(super) struct Filter {
    project: Option<String>,
    /// Deleted ones too.
    #[serde(default)]
    all: bool,
    /// Whose today it is; UTC unless named.
    zone: Option<String>,
}

/// A new part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct New {
    part: String,
}

/// What is to change; what is left out stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    main: Option<bool>,
    /// Blank: none.
    #[serde(default)]
    nickname: Option<String>,
    #[serde(default)]
    colour: Option<String>,
    #[serde(default)]
    paused: Option<bool>,
    #[serde(default)]
    deleted: Option<bool>,
}

/// The parts of a project by name.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(filter): Params<Filter>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let heard = Arc::clone(&app.heard);
    let parts = app
        .store
        .read(move |connection| {
            let project = scope::project(connection, filter.project.as_deref())?;
            let zone = Zone::find(filter.zone.as_deref())?;
            views(connection, &project, &heard, filter.all, &zone, now)
        })
        .await?;
    Ok(Json(json!({ "parts": parts })))
}

/// Adds one, with its first token.
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
            let made = part::add(tx, project.seq, &new.part, person.seq, now)?;
            let binding = Binding::Agent {
                project: project.seq,
                part: made.slug,
            };
            let (secret, token) = token::issue(tx, person.seq, &binding, "", None, now)?;
            tokens::with_secret(tx, &token, secret)
        })
        .await?;
    Ok(Json(added))
}

/// Changes one; what it holds up or lets go is considered at once.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(scope): Params<InProject>,
    Path(name): Path<String>,
    JsonBody(change): JsonBody<Change>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let heard = Arc::clone(&app.heard);
    let changed = app
        .store
        .write(move |tx| {
            let project = scope.find(tx)?;
            let part = scope::part(tx, &project, &name)?;
            apply(tx, &project, &part, &change, now)?;
            let project = project::get(tx, project.seq)?;
            let all = views(tx, &project, &heard, true, &Zone::find(None)?, now)?;
            let after = all.into_iter().find(|view| view["part"] == part.slug);
            Ok(after.unwrap_or_default())
        })
        .await?;
    Ok(Json(changed))
}

fn apply(tx: &Tx<'_>, project: &Project, part: &Part, change: &Change, now: Time) -> Outcome<()> {
    if let Some(deleted) = change.deleted {
        if deleted {
            part::delete(tx, part.seq, now)?;
            wake::cancel(tx, part.seq, now)?;
        } else {
            part::revive(tx, part.seq)?;
        }
    }
    match change.main {
        Some(true) => project::set_main(tx, project.seq, Some(part.seq))?,
        Some(false) if project.main_part == Some(part.seq) => {
            project::set_main(tx, project.seq, None)?;
        }
        _ => {}
    }
    if let Some(nickname) = &change.nickname {
        part::set_nickname(tx, part.seq, nickname)?;
    }
    if let Some(colour) = &change.colour {
        part::set_colour(tx, part.seq, colour)?;
    }
    if let Some(paused) = change.paused {
        part::set_paused(tx, part.seq, paused, now)?;
    }
    if change.paused == Some(false) || change.deleted == Some(false) {
        wake::consider(tx, part.seq, now)?;
    }
    Ok(())
}

/// Wakes one now for its open mail.
pub(super) async fn wake(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(scope): Params<InProject>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let answer = app
        .store
        .write(move |tx| {
            let project = scope.find(tx)?;
            let part = scope::part(tx, &project, &name)?;
            let decision = wake::again(tx, part.seq, now)?;
            Ok(json!({"part": part.slug, "wake": decision.as_str(), "reason": decision.reason()}))
        })
        .await?;
    Ok(Json(answer))
}

/// The parts of a project: what agents see in the roster, and what only the person is told.
pub(super) fn views(
    connection: &Connection,
    project: &Project,
    heard: &Heard,
    deleted_too: bool,
    zone: &Zone,
    now: Time,
) -> Outcome<Vec<Value>> {
    let rows = roster::rows(connection, project.seq, heard, None, now)?;
    let mut views = Vec::new();
    for part in part::all(connection, project.seq)? {
        let row = rows.iter().find(|row| row.part == part.slug);
        if row.is_none() && !deleted_too {
            continue;
        }
        let mut view = view(connection, &part, row, heard, now)?;
        view["project"] = project.slug.as_str().into();
        view["tokensToday"] = ledger::tokens_since(connection, part.seq, zone.day(now))?.into();
        views.push(view);
    }
    Ok(views)
}

fn view(
    connection: &Connection,
    part: &Part,
    row: Option<&roster::Row>,
    heard: &Heard,
    now: Time,
) -> Outcome<Value> {
    let mut view = match row {
        Some(row) => json!(row),
        None => json!({"part": part.slug, "isMain": false, "state": "deleted"}),
    };
    if let Value::Object(fields) = &mut view {
        fields.remove("you");
    }
    let pane = pane::of(connection, part.seq)?;
    let seen = pane
        .as_ref()
        .filter(|pane| now.since(pane.heard_at) <= pane::PAGER_SILENT_MS);
    let hook = match turn::of(connection, part.seq)?.state == view["state"] {
        true => turn::told_at(connection, part.seq)?,
        false => None,
    };
    let (source, at) = match (hook, seen, &view["lastSeen"]) {
        (Some(at), _, _) => ("hook", Some(at.rfc3339())),
        (None, Some(pane), _) => ("screen", Some(pane.heard_at.rfc3339())),
        (None, None, Value::String(last)) => ("call", Some(last.clone())),
        (None, None, _) => ("none", None),
    };
    view["id"] = part.id.as_str().into();
    view["calledAt"] = json!(part.heard_at.max(heard.last(part.seq)).map(Time::rfc3339));
    view["hookAt"] = json!(turn::heard(connection, part.seq)?.map(Time::rfc3339));
    view["source"] = source.into();
    view["sourceAt"] = at.into();
    view["cli"] = json!(pane.as_ref().and_then(|pane| pane.cli.as_deref()));
    view["cliVersion"] = json!(pane.as_ref().and_then(|pane| pane.cli_version.as_deref()));
    view["pager"] = json!(pane.as_ref().map(|pane| json!({
        "machine": pane.machine,
        "heardAt": pane.heard_at.rfc3339(),
        "state": pane.state,
        "detail": pane.detail,
    })));
    view["lastReport"] = json!(turn::heard(connection, part.seq)?.map(Time::rfc3339));
    view["lastSession"] = json!(turn::last(connection, part.seq)?.map(
        |(provider, session)| json!({
            "provider": provider,
            "session": session,
        })
    ));
    view["unread"] = messaging::unread(connection, part.seq)?.into();
    view["wake"] = json!(look::open(connection, part.seq)?.map(|open| json!({
        "state": open.state,
        "since": open.presented_at.unwrap_or(open.issued_at).rfc3339(),
        "reason": open.hold.as_ref().map(|(reason, _)| reason),
    })));
    view["holds"] = json!(
        look::holds(connection, part.seq)?
            .into_iter()
            .map(|(reason, since)| json!({"reason": reason, "since": since.rfc3339()}))
            .collect::<Vec<Value>>()
    );
    view["owner"] = people::list(connection)?
        .into_iter()
        .find(|person| person.seq == part.owner)
        .map(|person| person.name)
        .into();
    view["colour"] = json!(part.colour);
    view["createdAt"] = part.created_at.rfc3339().into();
    view["limitedUntil"] = json!(
        part.limited_until
            .filter(|until| *until > now)
            .map(Time::rfc3339)
    );
    Ok(view)
}
