//! The clockwork: what the relay does by itself. Every 30 s, and once at start, the sweep looks again at whoever may need waking and
//! closes what has been quiet; every 15 s the times parts were heard are written (wake.md 4, tools.md 10, DESIGN 3).
//!
//! No state of it matters: a job that fails or is missed is made good by the next.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use crate::activity::heard;
use crate::http::App;
use crate::messaging;
use crate::store::Outcome;
use crate::wake;

/// How often the sweep runs.
const SWEEP: Duration = Duration::from_secs(30);

/// How often what was heard is written.
const HEARD: Duration = Duration::from_secs(15);

/// A write-ahead log over this size is folded back, in bytes.
const WAL_LIMIT: u64 = 64 << 20;

/// Runs until the relay stops, and writes what was heard a last time.
pub async fn run(app: Arc<App>) {
    let mut sweep = tokio::time::interval(SWEEP);
    let mut flush = tokio::time::interval(HEARD);
    for timer in [&mut sweep, &mut flush] {
        timer.set_missed_tick_behavior(MissedTickBehavior::Delay);
    }
    loop {
        let done = tokio::select! {
            () = app.stop.cancelled() => break,
            _ = sweep.tick() => sweep_once(&app).await,
            _ = flush.tick() => flush_heard(&app).await,
        };
        if let Err(error) = done {
            tracing::warn!(%error, "a job failed; the next run makes it good");
        }
    }
    if let Err(error) = flush_heard(&app).await {
        tracing::warn!(%error, "the times parts were last heard were not written");
    }
}

async fn sweep_once(app: &App) -> Outcome<()> {
    let now = app.now();
    let closed = app
        .store
        .write(move |tx| messaging::auto_close(tx, now))
        .await?;
    if closed > 0 {
        tracing::info!(threads = closed, "closed quiet threads");
    }
    app.store.write(move |tx| wake::sweep(tx, now)).await?;
    app.store.bound_wal(WAL_LIMIT).await
}

async fn flush_heard(app: &App) -> Outcome<()> {
    let rows = app.heard.take_dirty();
    if rows.is_empty() {
        return Ok(());
    }
    app.store.write(move |tx| heard::flush(tx, &rows)).await
}
