//! `/api/admin/*`: what the person's own commands do, for the holder of the admin token on this machine (access.md 2 and 6).
//!
//! Each file is one resource. Handlers take [`super::extract::Admin`], call a rule in one transaction, and render; they hold none.
//! Names in JSON are those of tools.md: camelCase.

mod attention;
mod backup;
mod csv;
mod export;
mod inbox;
mod knowledge;
mod messages;
mod parts;
mod people;
mod playbook;
mod projects;
mod scope;
mod search;
mod status;
mod threads;
mod tokens;
mod usage;
mod wakes;

use std::sync::Arc;

use axum::Router;
use axum::routing::delete;
use axum::routing::get;
use axum::routing::patch;
use axum::routing::post;

use super::app::App;

/// The routes under `/api/admin`.
pub fn router() -> Router<Arc<App>> {
    let routes = Router::new()
        .route("/status", get(status::status))
        .route("/attention", get(attention::list))
        .route("/projects", get(projects::list).post(projects::create))
        .route(
            "/projects/{id}",
            get(projects::show).patch(projects::change),
        )
        .route("/projects/{id}/rotate-code", post(projects::rotate_code))
        .route("/parts", get(parts::list).post(parts::add))
        .route("/parts/{id}", patch(parts::change))
        .route("/parts/{id}/wake", post(parts::wake))
        .route("/tokens", get(tokens::list).post(tokens::issue))
        .route("/tokens/{id}", delete(tokens::revoke).patch(tokens::change))
        .route("/people", get(people::list))
        .route("/people/{id}", patch(people::change))
        .route("/messages", post(messages::write))
        .route("/threads", get(threads::list))
        .route("/threads/{id}", get(threads::show).patch(threads::change))
        .route("/inbox", get(inbox::list))
        .route("/backup", post(backup::make))
        .route("/export", get(export::export))
        .route("/search", get(search::search))
        .route("/wakes", get(wakes::list))
        .route("/usage", get(usage::list))
        .route("/playbook", get(playbook::show).put(playbook::change))
        .route("/knowledge", get(knowledge::list).post(knowledge::add))
        .route("/knowledge/{id}/confirm", post(knowledge::confirm));
    Router::new().nest("/api/admin", routes)
}
