//! The clockwork: what the relay does by itself. Every 30 s, at start, and when a park ends, the sweep looks again at whoever may need
//! waking and closes what has been quiet; every 15 s the times parts were heard are written (wake.md 4 and 7, tools.md 10, DESIGN 3).
//!
//! No state of it matters: a job that fails or is missed is made good by the next.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::MissedTickBehavior;

use crate::activity::heard;
use crate::activity::park;
use crate::activity::turn;
use crate::http::App;
use crate::messaging;
use crate::store::Outcome;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
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
    let mut signals = app.store.signals();
    loop {
        let done = tokio::select! {
            () = app.stop.cancelled() => break,
            _ = sweep.tick() => sweep_once(&app).await,
            _ = flush.tick() => flush_heard(&app).await,
            () = park_over(&app, &mut signals) => sweep_once(&app).await,
        };
        if let Err(error) = done {
            tracing::warn!(%error, "a job failed; the next run makes it good");
        }
    }
    if let Err(error) = flush_heard(&app).await {
        tracing::warn!(%error, "the times parts were last heard were not written");
    }
}

/// Returns once the park that ends first is over, whichever that is meanwhile.
async fn park_over(app: &App, signals: &mut broadcast::Receiver<Signal>) {
    loop {
        let now = app.now();
        let first = app
            .store
            .read(move |connection| park::first_end(connection, now))
            .await;
        let over = async {
            match first {
                Ok(Some(end)) => tokio::time::sleep(span(now, end)).await,
                // Without one, or where it cannot be known, the sweep's own pace has to do.
                Ok(None) | Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = over => return,
            () = part_changed(signals) => {}
        }
    }
}

/// From `now` until just after `end`.
fn span(now: Time, end: Time) -> Duration {
    Duration::from_millis(end.since(now).unsigned_abs() + 1)
}

/// Returns once something about a part was committed, or may have been.
async fn part_changed(signals: &mut broadcast::Receiver<Signal>) {
    loop {
        match signals.recv().await {
            Ok(signal) if signal.topic != Topic::Part => {}
            Ok(_) | Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
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
    app.store
        .write(move |tx| {
            turn::sweep(tx, now)?;
            wake::sweep(tx, now)
        })
        .await?;
    app.store.bound_wal(WAL_LIMIT).await
}

async fn flush_heard(app: &App) -> Outcome<()> {
    let rows = app.heard.take_dirty();
    if rows.is_empty() {
        return Ok(());
    }
    app.store.write(move |tx| heard::flush(tx, &rows)).await
}
