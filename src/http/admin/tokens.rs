//! `/api/admin/tokens`: issue, list and revoke credentials. A secret is in one answer, once.

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
use crate::identity::project;
use crate::identity::token;
use crate::identity::token::Binding;
use crate::identity::token::Token;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;

/// A new credential.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct New {
    /// `agent` or `pager`.
    kind: String,
    #[serde(default)]
    part: Option<String>,
    #[serde(default)]
    machine: Option<String>,
    #[serde(default)]
    label: String,
    /// RFC 3339.
    #[serde(default)]
    expires_at: Option<String>,
}

/// All live credentials, oldest first.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let tokens = app
        .store
        .read(move |connection| {
            let all = token::list(connection)?;
            all.iter()
                .filter(|token| token.expires_at.is_none_or(|end| end > now))
                .map(|token| view(connection, token))
                .collect::<Outcome<Vec<Value>>>()
        })
        .await?;
    Ok(Json(json!({ "tokens": tokens })))
}

/// Issues one.
pub(super) async fn issue(
    State(app): State<Arc<App>>,
    Admin(person): Admin,
    Params(scope): Params<InProject>,
    JsonBody(new): JsonBody<New>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let issued = app
        .store
        .write(move |tx| {
            let ends = new.expires_at.as_deref().map(time).transpose()?;
            let (binding, user) = match (new.kind.as_str(), &new.part, &new.machine) {
                ("agent", Some(part), None) => {
                    let project = scope.find(tx)?;
                    let owner = match crate::identity::part::by_slug(tx, project.seq, part)? {
                        Some(known) if known.deleted_at.is_some() => {
                            return Err(Refusal::new(
                                "conflict",
                                format!("part {part} was deleted (relayroom part revive {part})"),
                            )
                            .into());
                        }
                        Some(known) => known.owner,
                        None => person.seq,
                    };
                    let binding = Binding::Agent {
                        project: project.seq,
                        part: part.clone(),
                    };
                    (binding, owner)
                }
                ("pager", None, Some(machine)) => {
                    let machine = machine.clone();
                    (Binding::Pager { machine }, person.seq)
                }
                _ => {
                    return Err(Refusal::new(
                        "invalid_argument",
                        "a token is of kind agent, with a part, or of kind pager, with a machine",
                    )
                    .into());
                }
            };
            let (secret, token) = token::issue(tx, user, &binding, &new.label, ends, now)?;
            with_secret(tx, &token, secret)
        })
        .await?;
    Ok(Json(issued))
}

/// When one ends.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Ending {
    /// RFC 3339.
    expires_at: String,
}

/// Lets one end by itself at a time, or earlier if it already would.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Path(typed): Path<String>,
    JsonBody(ending): JsonBody<Ending>,
) -> Result<Json<Value>, Failure> {
    let changed = app
        .store
        .write(move |tx| {
            let ends = time(&ending.expires_at)?;
            let known = live(tx, &typed)?;
            token::end(tx, known.seq, ends)?;
            view(tx, &live(tx, &known.id)?)
        })
        .await?;
    Ok(Json(changed))
}

/// Revokes one.
pub(super) async fn revoke(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Path(typed): Path<String>,
) -> Result<Json<Value>, Failure> {
    let now = app.now();
    let revoked = app
        .store
        .write(move |tx| {
            let known = live(tx, &typed)?;
            token::revoke(tx, &known.id, now)?;
            view(tx, &known)
        })
        .await?;
    Ok(Json(revoked))
}

/// The live token that was typed; the admin token is none of those that are ended one by one.
fn live(connection: &Connection, typed: &str) -> Outcome<Token> {
    let id = scope::id(connection, Kind::Token, typed)?;
    let known = token::list(connection)?
        .into_iter()
        .find(|token| token.id == id);
    let known = known.ok_or_else(|| {
        Refusal::new(
            "not_found",
            "no live token has that id (relayroom token list)",
        )
    })?;
    if known.kind == token::Kind::Admin {
        return Err(Refusal::new(
            "conflict",
            "the admin token is replaced, not revoked: remove its file and start the relay again",
        )
        .into());
    }
    Ok(known)
}

/// A credential with its secret, for the only time.
pub(super) fn with_secret(
    connection: &Connection,
    token: &Token,
    secret: String,
) -> Outcome<Value> {
    let mut shown = view(connection, token)?;
    if let Some(seq) = token.project {
        shown["code"] = project::get(connection, seq)?.connect_code.into();
    }
    shown["token"] = secret.into();
    Ok(shown)
}

fn view(connection: &Connection, token: &Token) -> Outcome<Value> {
    let project = match token.project {
        Some(seq) => Some(project::get(connection, seq)?.slug),
        None => None,
    };
    Ok(json!({
        "id": token.id,
        "kind": token.kind.as_str(),
        "lastFour": token.last_four,
        "label": token.label,
        "project": project,
        "part": token.part,
        "machine": token.machine,
        "createdAt": token.created_at.rfc3339(),
        "expiresAt": token.expires_at.map(Time::rfc3339),
        "lastUsedAt": token.last_used_at.map(Time::rfc3339),
        "lastPeer": token.last_peer,
        "lastClient": token.last_client,
    }))
}

fn time(text: &str) -> Result<Time, Refusal> {
    Time::parse(text).ok_or_else(|| {
        Refusal::new(
            "invalid_argument",
            "expiresAt is RFC 3339 with an offset, such as 2026-12-01T09:30:00Z",
        )
    })
}
