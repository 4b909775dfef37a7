//! `/api/admin/people`: who is known here, and what they pay for.

use std::sync::Arc;

use axum::Json;
use axum::extract::Path;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::scope;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::JsonBody;
use crate::http::failure::Failure;
use crate::identity::people;
use crate::identity::people::Person;
use crate::wake;

/// Wakes per hour and lane; what is left out stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(default)]
    wakes: Option<u32>,
    #[serde(default)]
    urgent: Option<u32>,
}

/// All people by name.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
) -> Result<Json<Value>, Failure> {
    let all = app.store.read(people::list).await?;
    let people: Vec<Value> = all.iter().map(view).collect();
    Ok(Json(json!({ "people": people })))
}

/// Sets what a person pays for; parts that waited for it are considered at once.
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
            let all = people::list(tx)?;
            let person = all
                .iter()
                .find(|person| person.name == name || person.id == name)
                .ok_or_else(|| {
                    let known = all.iter().map(|person| person.name.as_str());
                    scope::missing("person", &name, known, "names are case-sensitive")
                })?;
            people::set_budget(tx, person.seq, change.wakes, change.urgent)?;
            wake::consider_owner(tx, person.seq, now)?;
            let after = people::list(tx)?;
            Ok(after
                .into_iter()
                .find(|after| after.seq == person.seq)
                .unwrap_or_else(|| person.clone()))
        })
        .await?;
    Ok(Json(view(&changed)))
}

fn view(person: &Person) -> Value {
    json!({
        "id": person.id,
        "name": person.name,
        "wakes": person.normal_budget,
        "urgent": person.urgent_budget,
    })
}
