//! The relay killed at any instant: what was answered is there, once, and nobody has to start anew.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use relayroom::identity;
use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Outcome;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Tx;
use relayroom::store::system_clock;
use serde_json::Value;
use serde_json::json;

use crate::support::http::Call;
use crate::support::http::PATIENCE;
use crate::support::process::Served;
use crate::support::process::ask;
use crate::support::process::free_address;
use crate::support::seat::Seat;
use crate::support::wait::until;

const WRITERS: usize = 18;
const KILLS: usize = 50;

/// Parts of one writer; each sends no more than the brakes let through in a minute.
const PARTS_EACH: usize = 40;
const SENDS_EACH_PART: usize = 18;

/// A send whose ids were returned.
struct Sent {
    from: usize,
    key: String,
    body: String,
    to: String,
    thread: String,
    message: String,
}

struct Crew {
    folder: tempfile::TempDir,
    code: String,
    tokens: Vec<String>,
}

impl Crew {
    fn db(&self) -> PathBuf {
        self.folder.path().join("relay.db")
    }

    fn seat(&self, address: SocketAddr, n: usize) -> Seat {
        Seat {
            address,
            code: self.code.clone(),
            part: format!("p{n}"),
            token: self.tokens[n].clone(),
        }
    }
}

fn crew() -> Crew {
    let folder = tempfile::tempdir().unwrap();
    let (now, _) = system_clock();
    let store = Store::open(&folder.path().join("relay.db"), "", now).unwrap();
    let (code, tokens) = store.write_blocking(move |tx| furnish(tx, now)).unwrap();
    Crew {
        folder,
        code,
        tokens,
    }
}

fn furnish(tx: &Tx<'_>, now: Time) -> Outcome<(String, Vec<String>)> {
    identity::found(tx, "kim", now)?;
    let kim = people::first_owner(tx)?.seq;
    let shop = project::create(tx, kim, "shop", now)?;
    let mut tokens = Vec::new();
    for n in 0..WRITERS * PARTS_EACH {
        let owner = people::add(tx, &format!("person {n}"), now)?;
        people::set_member(tx, shop.seq, owner, Level::Write, false, false)?;
        let part = format!("p{n}");
        part::add(tx, shop.seq, &part, owner, now)?;
        let binding = Binding::Agent {
            project: shop.seq,
            part,
        };
        tokens.push(token::issue(tx, owner, &binding, "", None, now)?.0);
    }
    Ok((shop.connect_code, tokens))
}

/// One `send`, as a client that knows nothing of kills would repeat it: same key, until an answer comes whole.
fn send(crew: &Crew, address: SocketAddr, from: usize, key: &str, body: &str, to: &str) -> Value {
    let call = crew.seat(address, from).call(
        "send",
        &json!({"subject": key, "body": body, "to": [to], "idempotencyKey": key}),
    );
    let begun = Instant::now();
    loop {
        if let Some(reply) = ask(&call).filter(|reply| reply.status == 200) {
            let result = &reply.json()["result"];
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            assert_ne!(result["isError"], true, "{text}");
            if !text.is_empty() {
                return serde_json::from_str(text).unwrap();
            }
        }
        assert!(begun.elapsed() < PATIENCE, "no answer to {key}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn tools_043_killed_fifty_times_under_eighteen_writers_nothing_answered_is_lost() {
    let crew = crew();
    let address = free_address();
    let stop = AtomicBool::new(false);
    let sent = Mutex::new(Vec::new());
    let mut relay = Served::start(&crew.db(), address);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (crew, stop, sent) = (&crew, &stop, &sent);
            scope.spawn(move || {
                for n in 0..PARTS_EACH * SENDS_EACH_PART {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let from = writer * PARTS_EACH + n % PARTS_EACH;
                    let key = format!("w{writer}-{n}");
                    let body = format!("needle {writer} {n}");
                    let to = format!("p{}", (from * 7 + n + 1) % (WRITERS * PARTS_EACH));
                    if to == format!("p{from}") {
                        continue;
                    }
                    let answer = send(crew, address, from, &key, &body, &to);
                    let id = |name: &str| answer[name].as_str().unwrap().to_owned();
                    sent.lock().unwrap().push(Sent {
                        thread: id("threadId"),
                        message: id("messageId"),
                        from,
                        key,
                        body,
                        to,
                    });
                }
            });
        }
        for kill in 0..KILLS {
            // Killed at changing points of the load: some answers further each time, some time further, too.
            let goal = sent.lock().unwrap().len() + 10;
            let begun = Instant::now();
            while sent.lock().unwrap().len() < goal && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_millis(kill as u64 * 13 % 200));
            relay.kill();
            relay = Served::start(&crew.db(), address);
        }
        stop.store(true, Ordering::Relaxed);
    });
    let sent = sent.into_inner().unwrap();
    assert!(sent.len() > KILLS * 10, "only {} were sent", sent.len());
    replayed_keys_give_the_same_ids(&crew, address, &sent);
    every_part_with_loud_mail_is_offered_one_wake(&crew, address);
    relay.kill();
    everything_is_in_the_file(&crew.db(), &sent);
}

#[test]
fn wake_037_a_send_stored_and_never_answered_is_there_and_wakes_on_the_first_poll() {
    let crew = crew();
    let address = free_address();
    let mut relay = Served::start(&crew.db(), address);
    let send = json!({"subject": "s", "body": "b", "to": ["p1"], "idempotencyKey": "k"});
    let call = crew.seat(address, 0).call("send", &send);
    let mut unread = TcpStream::connect(address).unwrap();
    unread.write_all(&call.bytes()).unwrap();
    let file = rusqlite::Connection::open(crew.db()).unwrap();
    let messages = || -> i64 {
        let sql = "SELECT count(*) FROM message";
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    until(PATIENCE, "the send is stored", || messages() == 1);
    relay.kill();

    let _relay = Served::start(&crew.db(), address);
    every_part_with_loud_mail_is_offered_one_wake(&crew, address);
    let again = crew.seat(address, 0).tool("send", &send);
    assert_eq!(again["duplicate"], true, "{again}");
    assert_eq!(messages(), 1);
}

fn replayed_keys_give_the_same_ids(crew: &Crew, address: SocketAddr, sent: &[Sent]) {
    for first in sent.iter().step_by(sent.len() / 100 + 1) {
        let again = send(
            crew,
            address,
            first.from,
            &first.key,
            &first.body,
            &first.to,
        );
        assert_eq!(again["threadId"], first.thread);
        assert_eq!(again["messageId"], first.message);
        assert_eq!(again["duplicate"], true);
    }
}

fn every_part_with_loud_mail_is_offered_one_wake(crew: &Crew, address: SocketAddr) {
    let file = rusqlite::Connection::open_with_flags(
        crew.db(),
        rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
    )
    .unwrap();
    let loud: Vec<String> = file
        .prepare(
            "SELECT DISTINCT p.slug FROM recipient AS r JOIN part AS p ON p.seq = r.part
              WHERE r.live = 1 AND r.read_at IS NULL AND r.fyi = 0",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut offered = BTreeMap::new();
    for parts in loud.chunks(64) {
        let parts: Vec<Value> = parts
            .iter()
            .map(|part| json!({"code": crew.code, "part": part}))
            .collect();
        let call = Call::new(address, "POST", "/api/pager/poll").json(&json!({
            "pager": "test", "machine": "test", "version": "0", "wait_ms": 0, "parts": parts}));
        let reply = ask(&call).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.body);
        for part in reply.json()["parts"].as_array().unwrap() {
            if part["wake"].is_object() {
                *offered
                    .entry(part["part"].as_str().unwrap().to_owned())
                    .or_insert(0) += 1;
            }
        }
    }
    let without: Vec<_> = loud
        .iter()
        .filter(|part| !offered.contains_key(*part))
        .collect();
    assert!(without.is_empty(), "no wake for {without:?}");
    assert!(offered.values().all(|wakes| *wakes == 1));
}

fn everything_is_in_the_file(db: &Path, sent: &[Sent]) {
    let file = rusqlite::Connection::open(db).unwrap();
    let verdict: String = file
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    file.execute_batch("INSERT INTO mail_text (mail_text) VALUES ('integrity-check')")
        .unwrap();
    let several: i64 = file
        .query_row(
            "SELECT count(*) FROM (SELECT part FROM wake WHERE ended_at IS NULL GROUP BY part HAVING count(*) > 1)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(several, 0, "two open wakes for one part");
    let mut found = file
        .prepare(
            "SELECT count(*) FROM message AS m JOIN thread AS t ON t.seq = m.thread
               JOIN recipient AS r ON r.message = m.seq JOIN part AS p ON p.seq = r.part
              WHERE m.id = ?1 AND t.id = ?2 AND m.body = ?3 AND p.slug = ?4",
        )
        .unwrap();
    for one in sent {
        let rows: i64 = found
            .query_row((&one.message, &one.thread, &one.body, &one.to), |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(rows, 1, "{} was answered and is not there once", one.key);
    }
    let by_body: i64 = file
        .query_row(
            "SELECT count(*) FROM (SELECT body FROM message GROUP BY body HAVING count(*) > 1)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(by_body, 0, "a repeated call was stored twice");
}
