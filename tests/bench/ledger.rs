//! `cargo bench --bench ledger`: the promised numbers of the ledger (usage.md 11): 500 replies stored, and a page over a million of them.
//! It prints a table, and a broken promise ends it with exit code 1.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set up its place has nothing to say"
)]

use std::time::Duration;
use std::time::Instant;

use relayroom::activity::ledger;
use relayroom::activity::ledger::By;
use relayroom::activity::ledger::Filter;
use relayroom::activity::ledger::Grouping;
use relayroom::activity::ledger::Unit;
use relayroom::activity::price::Prices;
use relayroom::activity::usage;
use relayroom::activity::zone::Zone;
use relayroom::api::hook::UsageReport;
use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::store::Outcome;
use relayroom::store::ProjectSeq;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Tx;
use relayroom::wake::reconcile;
use serde_json::Value;
use serde_json::json;

/// Stored replies.
const ROWS: i64 = 1_000_000;

/// Parts that made them, within 30 days.
const PARTS: i64 = 8;
const DAYS: i64 = 30;

/// 2026-12-01T00:00:00Z.
const NOW: Time = Time(1_796_083_200_000);

/// How often a figure is taken; the middle one counts.
const TIMES: usize = 11;

const STORE: Duration = Duration::from_millis(20);
const PAGE: Duration = Duration::from_millis(200);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("relay.db"), "", Time(1)).unwrap();
    let project = store.write_blocking(furnish).unwrap();
    let mut broken = false;
    let mut row = |what: &str, taken: Duration, promise: Duration| {
        let kept = taken <= promise;
        broken |= !kept;
        let verdict = if kept { "kept" } else { "BROKEN" };
        let (taken, promise) = (taken.as_secs_f64() * 1e3, promise.as_millis());
        println!("| {what} | {taken:.1} ms | at most {promise} ms | {verdict} |");
    };
    println!("| what | measured | promised | |\n|---|---|---|---|");
    let mut post = 0;
    let stored = median(|| {
        post += 1;
        let report = report(post);
        let answer = store.write_blocking(move |tx| {
            let part = part::by_slug(tx, project, "p1")?.unwrap();
            usage::take(tx, &part, &report, NOW)
        });
        assert_eq!(answer.unwrap().new, 500);
    });
    row("500 replies stored", stored, STORE);
    for (what, by, unit) in [
        ("page by part and day", By::Part, Some(Unit::Day)),
        ("page by model and hour", By::Model, Some(Unit::Hour)),
        ("page by cause", By::Cause, None),
        ("page by wake", By::Wake, None),
        ("page by thread", By::Thread, None),
    ] {
        let taken = median(|| page(&store, project, by, unit));
        row(&format!("{what}, 1,000,000 replies"), taken, PAGE);
    }
    let taken = median(|| reconciled(&store, project));
    row("wakes beside turns, 1,000,000 replies", taken, PAGE);
    if broken {
        std::process::exit(1);
    }
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut taken: Vec<Duration> = (0..TIMES)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[TIMES / 2]
}

/// A post of 500 replies nobody has seen.
fn report(post: usize) -> UsageReport<Value> {
    let rows = (0..500).map(|n| {
        json!({"key": format!("post-{post}-{n}"), "at": NOW.rfc3339(), "model": "model-1", "input_tokens": 3,
               "output_tokens": n, "cache_read_tokens": 51_000})
    });
    UsageReport {
        code: String::new(),
        part: "p1".into(),
        provider: "claude".into(),
        session: "bench".into(),
        sent_at: None,
        turn: Some(format!("turn-{post}")),
        skipped: Default::default(),
        rows: rows.collect(),
        usage: None,
        key: None,
    }
}

fn page(store: &Store, project: ProjectSeq, by: By, unit: Option<Unit>) {
    let (zone, prices) = (Zone::find(Some("+05:30")).unwrap(), Prices::default());
    let filter = Filter {
        project,
        part: None,
        provider: None,
        model: None,
        cause: None,
        wake: None,
        thread: None,
        from: Time(0),
        to: Time(NOW.0 + 1),
    };
    let grouping = Grouping {
        by,
        unit,
        zone: &zone,
        prices: &prices,
        limit: Some(1_000),
    };
    let page = store
        .read_blocking(|connection| ledger::page(connection, &filter, &grouping))
        .unwrap();
    assert!(page.total.replies >= ROWS);
}

fn reconciled(store: &Store, project: ProjectSeq) {
    let zone = Zone::find(Some("+05:30")).unwrap();
    let span = reconcile::Span {
        project,
        part: None,
        from: Time(NOW.0 - 7 * 86_400_000),
        to: NOW,
        zone: &zone,
    };
    let lines = store
        .read_blocking(|connection| reconcile::lines(connection, &span, NOW))
        .unwrap();
    assert!(lines.len() >= 7 * 8);
}

/// A million replies, five to a turn, every other turn woken, of three models: rows and sums as the rules would leave them.
fn furnish(tx: &Tx<'_>) -> Outcome<ProjectSeq> {
    identity::found(tx, "kim", Time(1))?;
    let kim = people::first_owner(tx)?.seq;
    let shop = project::create(tx, kim, "shop", Time(1))?.seq;
    for n in 1..=PARTS {
        part::add(tx, shop, &format!("p{n}"), kim, Time(1))?;
    }
    let begun = NOW.0 - DAYS * 86_400_000;
    let numbers = |last: i64| {
        format!(
            "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < {last} - 1)"
        )
    };
    let turns = ROWS / 5;
    let step = DAYS * 86_400_000 / turns;
    tx.execute_batch(&format!(
        "INSERT INTO thread (id, project, subject, folded, status, created_at, message_at, stirred_at)
           {threads} SELECT 'thread-' || n, 1, 's', 's', 'closed', 1, 1, 1 FROM n;
         INSERT INTO wake (id, part, owner, tag, lane, kind, state, last_seq, cause_thread, issued_at, stored_at, typed,
                           presented_at, consumed_at, ended_at, outcome)
           {wakes} SELECT 'wake-' || n, 1 + (2 * n) % {PARTS}, 1, 'bbbbbb', 'normal', 'mail', 'done', 1, 1 + n % 1000,
                   {begun} + 2 * n * {step}, 1, 1, {begun} + 2 * n * {step}, {begun} + 2 * n * {step}, {begun} + 2 * n * {step},
                   'consumed' FROM n;
         INSERT INTO turn (part, provider, session, turn, cause, wake, started_at, ended_at, ending)
           {turns_of} SELECT 1 + n % {PARTS}, 'claude', 's', 't' || n, iif(n % 2 = 0, 'wake', 'human'), iif(n % 2 = 0, 1 + n / 2, NULL),
                   {begun} + n * {step}, {begun} + n * {step} + 1000, 'stop' FROM n;
         INSERT INTO usage_row (part, provider, key, turn, at, model, input, output, cache_read, cache_write, cache_write_1h, reasoning)
           {rows} SELECT 1 + (n / 5) % {PARTS}, 'claude', 'm' || n, 1 + n / 5, {begun} + (n / 5) * {step} + n % 5, 'model-' || n % 3,
                   4, 120, 51000, 800, 0, 0 FROM n;
         INSERT INTO usage_sum (part, quarter, provider, model, cause, wake, told, replies, input, output, cache_read, cache_write,
                                cache_write_1h, reasoning, cost)
           SELECT r.part, r.at / 900000, r.provider, r.model, t.cause, coalesce(t.wake, 0), 0, count(*), sum(r.input), sum(r.output),
                  sum(r.cache_read), sum(r.cache_write), 0, 0, 0
             FROM usage_row AS r JOIN turn AS t ON t.seq = r.turn GROUP BY 1, 2, 3, 4, 5, 6;",
        threads = numbers(1_000),
        wakes = numbers(turns / 2),
        turns_of = numbers(turns),
        rows = numbers(ROWS),
    ))?;
    Ok(shop)
}
