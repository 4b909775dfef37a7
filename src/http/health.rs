//! `GET /health`: whether the relay can do what it is there for, which is to write.

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use tokio::sync::Mutex;

use super::app::App;
use crate::api;
use crate::identity;

/// How long the writer may take, and how long its answer is believed.
const SPAN: Duration = Duration::from_secs(1);

/// The last proof, and when it was made.
#[derive(Debug, Default)]
pub struct Health {
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl Health {
    /// Proves it, or repeats a proof of the last second. Who comes meanwhile waits for the same proof.
    async fn prove(&self, app: &App) -> Result<(), String> {
        let mut last = self.last.lock().await;
        if let Some((at, outcome)) = &*last
            && at.elapsed() < SPAN
        {
            return outcome.clone();
        }
        let now = app.now();
        let written = app.store.write(move |tx| identity::prove_writable(tx, now));
        let outcome = match tokio::time::timeout(SPAN, written).await {
            Ok(written) => written.map_err(|error| error.to_string()),
            Err(_) => Err("no write was done within a second".to_owned()),
        };
        *last = Some((Instant::now(), outcome.clone()));
        outcome
    }
}

/// 200 or 503.
pub(super) async fn health(State(app): State<Arc<App>>) -> (StatusCode, Json<api::Health>) {
    let proof = app.health.prove(&app).await;
    let status = if proof.is_ok() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let body = api::Health {
        ok: proof.is_ok(),
        version: proof.is_ok().then(|| env!("CARGO_PKG_VERSION").to_owned()),
        cause: proof.err(),
    };
    (status, Json(body))
}
