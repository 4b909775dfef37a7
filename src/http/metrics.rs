//! `GET /metrics`: the relay in numbers, for Prometheus (access.md 6). Nothing is counted in memory: each answer is made anew from one
//! snapshot of the tables, so that what is read after a restart goes on from what was read before it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::extract::FromRequestParts;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::Response;
use http::header;
use http::request::Parts;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use prometheus_client::registry::Unit;

use super::app::App;
use super::extract;
use super::failure::Failure;
use crate::wake::measure;
use crate::wake::measure::Measured;

/// What the text encoder writes.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds in seconds: a wake is presented within seconds, and consumed within a turn or two, or late.
const BUCKETS: [f64; 13] = [
    0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0,
];

type Number = Gauge<u64, AtomicU64>;
type Labels = Vec<(&'static str, String)>;

/// Who may read the numbers: whoever is on this machine and sends no credential, and the holder of the admin token from anywhere.
pub(super) struct Reader;

impl FromRequestParts<Arc<App>> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Failure> {
        if extract::authorization(parts).is_none() && extract::is_local(parts) {
            return Ok(Self);
        }
        extract::person(parts, app).await.map(|_| Self)
    }
}

/// The numbers, in text.
pub(super) async fn metrics(State(app): State<Arc<App>>, _: Reader) -> Result<Response, Failure> {
    let now = app.now();
    let measured = app
        .store
        .read(move |connection| measure::measure(connection, now))
        .await?;
    let mut registry = Registry::with_prefix("relayroom");
    register_wakes(&mut registry, &measured);
    register_relay(&mut registry, &app);
    let mut body = String::new();
    // Writing to a String never fails.
    let _ = text::encode(&mut body, &registry);
    Ok(([(header::CONTENT_TYPE, TEXT)], body).into_response())
}

fn register_wakes(registry: &mut Registry, measured: &Measured) {
    counters(
        registry,
        "wakes_issued",
        "Wakes issued",
        "kind",
        &measured.issued,
    );
    counters(
        registry,
        "wakes_ended",
        "Wakes ended",
        "outcome",
        &measured.ended,
    );
    counters(
        registry,
        "nudges_typed",
        "Lines typed",
        "lane",
        &measured.typed,
    );
    gauges(
        registry,
        "wakes_open",
        "Wakes open now",
        "state",
        &measured.open,
    );
    gauges(
        registry,
        "wakes_held_up",
        "Open wakes held up in their pane now",
        "reason",
        &measured.held_up,
    );
    gauges(
        registry,
        "holds_open",
        "Wakes due and not issued now",
        "reason",
        &measured.holds,
    );
    let (limits, used) = (
        Family::<Labels, Number>::default(),
        Family::<Labels, Number>::default(),
    );
    for budget in &measured.budgets {
        let labels = vec![
            ("owner", budget.owner.clone()),
            ("lane", budget.lane.to_owned()),
        ];
        limits.get_or_create(&labels).set(budget.limit.into());
        used.get_or_create(&labels).set(budget.used.into());
    }
    registry.register("budget_limit", "Lines a person pays for in an hour", limits);
    registry.register(
        "budget_used",
        "Lines typed within the hour, and places given",
        used,
    );
    latency(
        registry,
        "wake_stored_to_presented",
        "From the message's storing to the first line known to be submitted",
        &measured.presented_ms,
    );
    latency(
        registry,
        "wake_stored_to_consumed",
        "From the message's storing to the agent's call",
        &measured.consumed_ms,
    );
}

fn register_relay(registry: &mut Registry, app: &App) {
    let queue = Number::default();
    queue.set(u64::try_from(app.store.queue_len()).unwrap_or(u64::MAX));
    registry.register("write_queue", "Writes waiting for the writer", queue);
    let wal = Number::default();
    wal.set(app.store.wal_bytes());
    registry.register_with_unit("wal", "Size of the write-ahead log", Unit::Bytes, wal);
    let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
    registry.register("build", "The relay's version", build);
}

fn counters(
    registry: &mut Registry,
    name: &str,
    help: &str,
    label: &'static str,
    counts: &[(&'static str, u64)],
) {
    let family = Family::<Labels, Counter>::default();
    for (word, count) in counts {
        let labels = vec![(label, (*word).to_owned())];
        family.get_or_create(&labels).inc_by(*count);
    }
    registry.register(name, help, family);
}

fn gauges(
    registry: &mut Registry,
    name: &str,
    help: &str,
    label: &'static str,
    counts: &[(impl AsRef<str>, u64)],
) {
    let family = Family::<Labels, Number>::default();
    for (word, count) in counts {
        let labels = vec![(label, word.as_ref().to_owned())];
        family.get_or_create(&labels).set(*count);
    }
    registry.register(name, help, family);
}

fn latency(registry: &mut Registry, name: &str, help: &str, milliseconds: &[i64]) {
    let histogram = Histogram::new(BUCKETS);
    for ms in milliseconds {
        let ms = u32::try_from(*ms).unwrap_or(u32::MAX);
        histogram.observe(f64::from(ms) / 1_000.0);
    }
    registry.register_with_unit(name, help, Unit::Seconds, histogram);
}
