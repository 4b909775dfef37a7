//! `cargo bench`: the relay's promised numbers, each as a ratio measured in one run on one machine.
//!
//! A bare axum handler, a pool of one writing connection and a small relay are measured beside the real one, so that a figure says
//! something about RelayRoom and not about the machine. The table it prints is the one in README.md; a broken promise ends it with
//! exit code 1.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set up its place has nothing to say"
)]

mod bare;
mod load;
#[allow(dead_code, reason = "what benchmarks share is not all used by each")]
mod place;
mod table;

use std::time::Duration;
use std::time::Instant;

use load::Load;
use place::Place;
use table::Table;

/// Callers at once in the throughput figures.
const CLIENTS: usize = 32;

/// How long each throughput figure is taken for.
const SPAN: Duration = Duration::from_secs(4);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("bare-http") => return bare::http(),
        Some("bare-pool") => return bare::pool(&arguments[2]),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut table = Table::default();
    let small = Place::with_messages(1_000);
    let large = Place::with_messages(100_000);
    runtime.block_on(measure(&mut table, &small, &large));
    table.end();
}

async fn measure(table: &mut Table, small: &Place, large: &Place) {
    let bare = bare::Server::start("bare-http", None);
    let floor = Load::plain(bare.address).run(CLIENTS, SPAN).await;
    drop(bare);

    let begun = Instant::now();
    let relay = small.serve();
    relay.first_answer().await;
    let start = begun.elapsed();

    let whoami = relay.load("whoami", "{}").run(CLIENTS, SPAN).await;
    let inbox = relay
        .load("inbox", r#"{"limit":5}"#)
        .run(CLIENTS, SPAN)
        .await;
    let send = relay.sends().run(CLIENTS, SPAN).await;
    let pool = bare::Server::start("bare-pool", Some(small.folder()));
    let pooled = Load::plain(pool.address).run(CLIENTS, SPAN).await;
    drop(pool);
    let tools = relay.tools_list_bytes().await;
    let memory = relay.resident_kib();

    let big = large.serve();
    big.first_answer().await;
    let inbox_small = relay.load("inbox", r#"{"limit":30}"#).run(1, SPAN).await;
    let inbox_large = big.load("inbox", r#"{"limit":30}"#).run(1, SPAN).await;
    let query = r#"{"query":"rollback plan"}"#;
    let search_small = relay.load("search", query).run(1, SPAN).await;
    let search_large = big.load("search", query).run(1, SPAN).await;

    let per = |n: f64| format!("{n:.0}/s");
    let ms = |span: Duration| format!("{:.2} ms", span.as_secs_f64() * 1e3);
    table.row("bare axum handler, 32 clients", &per(floor.rate), "", true);
    for (name, run) in [("whoami", &whoami), ("inbox", &inbox)] {
        let ratio = run.rate / floor.rate;
        table.row(
            &format!("`{name}`, 32 clients"),
            &format!("{} ({ratio:.2} of bare)", per(run.rate)),
            "at least 0.25 of bare",
            ratio >= 0.25,
        );
    }
    table.row(
        "pool of one writing connection, 32 clients",
        &per(pooled.rate),
        "",
        true,
    );
    let gain = send.rate / pooled.rate;
    table.row(
        "`send`, `synchronous=FULL`, 32 clients",
        &format!("{} ({gain:.1} times the pool)", per(send.rate)),
        "at least 2.5 times the pool",
        gain >= 2.5,
    );
    for (name, near, far, limit) in [
        ("inbox", &inbox_small, &inbox_large, 1.5),
        ("search", &search_small, &search_large, 2.0),
    ] {
        let ratio = far.median.as_secs_f64() / near.median.as_secs_f64();
        table.row(
            &format!("`{name}` p50, 1,000 and 100,000 stored messages"),
            &format!(
                "{} and {} ({ratio:.2} times)",
                ms(near.median),
                ms(far.median)
            ),
            &format!("at most {limit} times"),
            ratio <= limit,
        );
    }
    table.row(
        "memory of the relay after the run",
        &format!("{:.1} MB", memory as f64 / 1024.0),
        "at most 40 MB",
        memory <= 40 * 1024,
    );
    table.row(
        "start to first answered call",
        &ms(start),
        "at most 60 ms",
        start <= Duration::from_millis(60),
    );
    table.row(
        "`tools/list`",
        &format!("{tools} bytes"),
        "at most 9,000 bytes",
        tools <= 9_000,
    );
}
