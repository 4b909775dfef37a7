//! `/api/admin/*`: what the person's own commands do, for the holder of the admin token on this machine (access.md 2 and 6).
//!
//! Each file is one resource. Handlers take [`super::extract::Admin`], call a rule, and render; they hold none.

mod status;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use super::app::App;

/// The routes under `/api/admin`.
pub fn router() -> Router<Arc<App>> {
    Router::new().route("/api/admin/status", get(status::status))
}
