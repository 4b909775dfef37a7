//! What a machine's hook asks and reports: `/api/playbook` (access.md 6). Rules are the capabilities'; here requests are read and answers
//! rendered.

mod playbook;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use super::app::App;

/// The routes of the hook.
pub(super) fn router() -> Router<Arc<App>> {
    Router::new().route("/api/playbook", get(playbook::playbook))
}
