//! `cargo bench --bench wake`: how long a sweep over many parts takes, and how soon a waiting poll hears of a wake (wake.md 11).

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set up its place has nothing to say"
)]

#[allow(dead_code, reason = "what benchmarks share is not all used by each")]
mod load;
#[allow(dead_code, reason = "what benchmarks share is not all used by each")]
mod place;
mod table;

use std::time::Duration;
use std::time::Instant;

use place::Place;
use relayroom::identity;
use relayroom::identity::access;
use relayroom::identity::access::McpRequest;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::SendArgs;
use relayroom::store::Outcome;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Tx;
use relayroom::store::system_clock;
use relayroom::wake;
use table::Table;

/// Sends whose wake a poll waits for.
const WAKES: usize = 500;

/// Sweeps, each over a file of its own.
const SWEEPS: usize = 5;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut table = Table::default();
    sweeps(&mut table);
    let place = Place::with_messages(1_000);
    runtime.block_on(polls(&mut table, &place));
    table.end();
}

fn sweeps(table: &mut Table) {
    let mut spans: Vec<Duration> = (0..SWEEPS).map(|_| sweep()).collect();
    spans.sort_unstable();
    let median = spans[SWEEPS / 2];
    table.row(
        "sweep over 5,000 parts with unread mail, 50 of them due",
        &ms(median),
        "at most 50 ms",
        median <= Duration::from_millis(50),
    );
}

/// One sweep over 5,000 parts, each with a message it was shown and left unread, 50 of them with one that is new.
fn sweep() -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let (now, _) = system_clock();
    let store = Store::open(&folder.path().join("relay.db"), "", now).unwrap();
    store
        .write_blocking(move |tx| {
            let [old, new] = two_messages(tx, now)?;
            tx.execute_batch(&format!(
                "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
                 INSERT INTO part (id, project, slug, owner, created_at)
                 SELECT 'p' || n, (SELECT seq FROM project), 'p' || n, (SELECT seq FROM user), 1 FROM n;
                 INSERT INTO recipient (message, part, thread, fyi, seen_at, last_seen_at, remind_at)
                 SELECT m.seq, p.seq, m.thread, 0, m.at, m.at, m.at + 600000 FROM message AS m, part AS p
                  WHERE m.id = '{old}' AND p.slug GLOB 'p[0-9]*';
                 INSERT INTO recipient (message, part, thread, fyi)
                 SELECT m.seq, p.seq, m.thread, 0 FROM message AS m, part AS p
                  WHERE m.id = '{new}' AND p.slug GLOB 'p[0-9]*' AND p.seq % 100 = 0;"
            ))?;
            Ok(())
        })
        .unwrap();
    let begun = Instant::now();
    store
        .write_blocking(move |tx| wake::sweep(tx, now))
        .unwrap();
    let span = begun.elapsed();
    let issued: i64 = store
        .read_blocking(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM wake", [], |row| row.get(0))?)
        })
        .unwrap();
    assert_eq!(issued, 52);
    span
}

/// Two messages from `api`, to `web` and to `db`.
fn two_messages(tx: &Tx<'_>, now: Time) -> Outcome<[String; 2]> {
    identity::found(tx, "kim", now)?;
    let kim = people::first_owner(tx)?.seq;
    people::set_budget(tx, kim, Some(240), Some(60))?;
    let shop = project::create(tx, kim, "shop", now)?;
    for name in ["api", "web", "db"] {
        part::add(tx, shop.seq, name, kim, now)?;
    }
    let binding = Binding::Agent {
        project: shop.seq,
        part: "api".into(),
    };
    let secret = token::issue(tx, kim, &binding, "", None, now)?.0;
    let request = McpRequest {
        authorization: Some(format!("Bearer {secret}").into_bytes()),
        code: shop.connect_code,
        part: Some("api".into()),
    };
    let Ok(access::Entry::Caller(api)) = access::mcp(tx, &request, now)? else {
        panic!("turned away");
    };
    let send = |to: &str| {
        let args = SendArgs {
            subject: to.into(),
            body: "b".into(),
            to: vec![to.into()],
            ..SendArgs::default()
        };
        messaging::send(tx, &Author::Part(&api), &args, now).map(|sent| sent.message_id)
    };
    Ok([send("web")?, send("db")?])
}

/// Polls that wait, each let go by one send.
async fn polls(table: &mut Table, place: &Place) {
    let relay = place.serve();
    relay.first_answer().await;
    let mut spans = Vec::with_capacity(WAKES);
    for n in 0..WAKES {
        spans.push(relay.woken_after_send(n).await);
    }
    spans.sort_unstable();
    let (median, late) = (spans[WAKES / 2], spans[WAKES * 99 / 100]);
    for (name, span, limit) in [("p50", median, 2), ("p99", late, 5)] {
        table.row(
            &format!("answer to a waiting poll after the send that made the wake, {name}"),
            &ms(span),
            &format!("at most {limit} ms"),
            span <= Duration::from_millis(limit),
        );
    }
}

fn ms(span: Duration) -> String {
    format!("{:.2} ms", span.as_secs_f64() * 1e3)
}
