//! One call, one transaction; nothing answered is lost; nothing refused is stored.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering;

use relayroom::identity;
use relayroom::identity::people;
use relayroom::store::Error;
use relayroom::store::Fault;
use relayroom::store::Outcome;
use relayroom::store::Refusal;
use relayroom::store::Signal;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Topic;

struct Fresh {
    _folder: tempfile::TempDir,
    store: Store,
}

fn fresh() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("relay.db"), "", Time(1_000)).unwrap();
    store
        .write_blocking(|tx| identity::found(tx, "kim", Time(1_000)))
        .unwrap();
    Fresh {
        _folder: folder,
        store,
    }
}

fn people_in(store: &Store) -> usize {
    store
        .read_blocking(|connection| Ok(people::list(connection)?.len()))
        .unwrap()
}

#[test]
fn a_refused_job_leaves_no_row_and_no_signal() {
    let fresh = fresh();
    let mut signals = fresh.store.signals();
    let refused: Outcome<()> = fresh.store.write_blocking(|tx| {
        people::add(tx, "lee", Time(2_000))?;
        tx.signal(Signal {
            topic: Topic::Member,
            project: None,
            part: None,
            id: "x".into(),
        });
        Err(Refusal::new("conflict", "no").into())
    });
    assert!(matches!(refused, Err(Error::Refusal(_))));
    assert_eq!(people_in(&fresh.store), 1);
    assert!(signals.try_recv().is_err());
}

#[test]
fn a_panicking_job_is_a_fault_and_the_next_one_works() {
    let fresh = fresh();
    let broken: Outcome<()> = fresh.store.write_blocking(|tx| {
        people::add(tx, "lee", Time(2_000))?;
        panic!("on purpose");
    });
    assert!(matches!(broken, Err(Error::Fault(Fault::Panic(text))) if text == "on purpose"));
    assert_eq!(people_in(&fresh.store), 1);
    fresh
        .store
        .write_blocking(|tx| people::add(tx, "lee", Time(2_000)))
        .unwrap();
    assert_eq!(people_in(&fresh.store), 2);
}

#[test]
fn case_s01_many_writers_and_readers_never_see_a_busy_file() {
    let fresh = fresh();
    let failures = AtomicU32::new(0);
    let failed = &failures;
    std::thread::scope(|scope| {
        for writer in 0..32 {
            let store = fresh.store.clone();
            scope.spawn(move || {
                for n in 0..20 {
                    // Read, then write, in one call: what fails in a deferred transaction.
                    let done = store.write_blocking(move |tx| {
                        people::list(tx)?;
                        people::add(tx, &format!("w{writer}-{n}"), Time(2_000))
                    });
                    if done.is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            let store = fresh.store.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    if store.read_blocking(people::list).is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert_eq!(failures.load(Ordering::Relaxed), 0);
    assert_eq!(people_in(&fresh.store), 1 + 32 * 20);
}

#[test]
fn case_s02_a_log_pinned_by_a_reader_shrinks_when_it_ends() {
    let fresh = fresh();
    let pin = rusqlite::Connection::open(fresh.store.path()).unwrap();
    pin.execute_batch("BEGIN; SELECT count(*) FROM user;")
        .unwrap();
    for n in 0..10_000 {
        fresh.store.post(move |tx| {
            people::add(tx, &format!("person {n} {}", "x".repeat(60)), Time(2_000))?;
            Ok(())
        });
        if n % 256 == 0 {
            fresh.store.write_blocking(|_| Ok(())).unwrap();
        }
    }
    fresh.store.write_blocking(|_| Ok(())).unwrap();
    let pinned = fresh.store.wal_bytes();
    assert!(pinned > 1 << 20, "the reader pins the log: {pinned}");
    pin.execute_batch("COMMIT").unwrap();
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(fresh.store.bound_wal(1 << 20))
        .unwrap();
    assert!(fresh.store.wal_bytes() <= 1 << 20);
}

#[test]
fn case_s03_a_full_disk_is_a_fault_and_passes_without_a_restart() {
    let fresh = fresh();
    let pages: i64 = fresh
        .store
        .write_blocking(|tx| Ok(tx.query_row("PRAGMA page_count", [], |row| row.get(0))?))
        .unwrap();
    let limit = |pages: i64| {
        fresh
            .store
            .write_blocking(move |tx| {
                Ok(tx.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?)
            })
            .unwrap();
    };
    limit(pages);
    let mut stored = people_in(&fresh.store);
    let mut full = false;
    for n in 0..2_000 {
        let name = format!("{n} {}", "x".repeat(90));
        match fresh
            .store
            .write_blocking(move |tx| people::add(tx, &name, Time(2_000)))
        {
            Ok(_) => stored += 1,
            Err(Error::Fault(_)) => {
                full = true;
                break;
            }
            Err(Error::Refusal(refusal)) => panic!("{refusal:?}"),
        }
    }
    assert!(full, "the file never filled up");
    assert_eq!(people_in(&fresh.store), stored, "half stored, or lost");
    limit(1_000_000);
    fresh
        .store
        .write_blocking(|tx| people::add(tx, "after", Time(2_000)))
        .unwrap();
    assert_eq!(people_in(&fresh.store), stored + 1);
}
