//! All routes, grouped by who calls them. Host, Origin, sizes and times are the door's business, not theirs.

use std::sync::Arc;

use axum::Router;
use axum::extract::MatchedPath;
use axum::extract::Request;
use axum::middleware;
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::get;
use http::StatusCode;

use super::admin;
use super::app::App;
use super::failure::Failure;
use super::health;
use super::hook;
use super::metrics;
use super::pager;
use super::trace::Trace;
use crate::mcp;

/// The routes of access.md 6.
pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(mcp::router())
        .merge(pager::router())
        .merge(hook::router())
        .merge(admin::router())
        .route("/health", get(health::health))
        .route("/metrics", get(metrics::metrics))
        .route_layer(middleware::from_fn(note_route))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app)
}

async fn note_route(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    if let (Some(trace), Some(path)) = (
        extensions.get::<Arc<Trace>>(),
        extensions.get::<MatchedPath>(),
    ) {
        trace.set_route(path.as_str());
    }
    next.run(request).await
}

async fn unknown() -> Failure {
    Failure::not_found("there is nothing at this address")
}

async fn wrong_method() -> Failure {
    Failure::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "this address does not take this method",
        "use a method of the Allow header",
    )
}
