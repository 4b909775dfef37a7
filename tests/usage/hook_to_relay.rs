//! The whole way: recorded transcripts, the real hook, the real relay, and what stands in its file.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::store::Store;
use relayroom::store::system_clock;
use rusqlite::Connection;
use serde_json::json;

use super::hook_stage::Stage;
use super::hook_stage::write_private;
use super::hook_transcript::recorded;
use crate::support::process::Served;
use crate::support::process::free_address;
use crate::support::wait::SLACK;
use crate::support::wait::until;

/// What the relay's file says of each part: its sums, and how many turns and rows it has.
fn ledger(file: &Connection) -> BTreeMap<String, ([u64; 5], u64)> {
    let mut rows = file
        .prepare(
            "SELECT part.slug, sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(output), count(DISTINCT turn)
             FROM usage_row JOIN part ON part.seq = usage_row.part GROUP BY part.slug",
        )
        .unwrap();
    rows.query_map([], |row| {
        let number = |place: usize| row.get(place).map(i64::unsigned_abs);
        let sums = [number(1)?, number(2)?, number(3)?, number(4)?, number(5)?];
        Ok((row.get(0)?, (sums, number(6)?)))
    })
    .unwrap()
    .map(Result::unwrap)
    .collect()
}

#[test]
fn usage_049_recorded_sessions_stand_in_the_relay_to_the_token() {
    let stage = Stage::new();
    let db = stage.path("relay.db");
    let (now, _) = system_clock();
    let scenarios = recorded();
    let name = |n: usize| format!("part-{n}");
    let store = Store::open(&db, "test", now).unwrap();
    let count = scenarios.len();
    let code = store
        .write_blocking(move |tx| {
            identity::found(tx, "kim", now)?;
            let kim = people::first_owner(tx)?.seq;
            let shop = project::create(tx, kim, "shop", now)?;
            for n in 0..count {
                part::add(tx, shop.seq, &format!("part-{n}"), kim, now)?;
            }
            Ok(shop.connect_code)
        })
        .unwrap();
    drop(store);
    let relay = Served::start(&db, free_address());
    for (n, scenario) in scenarios.iter().enumerate() {
        let config = stage.path(&name(n)).join(".relayroom/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        let text = format!(
            "server = \"http://{}\"\ncode = {code:?}\npart = {:?}\n",
            relay.address,
            name(n)
        );
        write_private(&config, &text);
        let transcript = scenario.transcript();
        let session = transcript
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let end = if scenario.cli == "gemini" {
            "AfterAgent"
        } else {
            "Stop"
        };
        let event = json!({"transcript_path": transcript, "session_id": session});
        let event = stage.event(&name(n), end, "", &event);
        // A machine that is busy answers late: the next event sends what the first could not.
        stage.fire(scenario.cli, &event);
        stage.fire(scenario.cli, &event);
    }
    let file = Connection::open(&db).unwrap();
    let expected = |n: usize| scenarios[n].sums;
    until(
        Duration::from_secs(10) * SLACK,
        "all rows are stored",
        || {
            let ledger = ledger(&file);
            (0..count).all(|n| {
                let empty = expected(n) == [0; 5];
                ledger
                    .get(&name(n))
                    .map_or(empty, |(sums, _)| *sums == expected(n))
            })
        },
    );
    let ledger = ledger(&file);
    for (n, scenario) in scenarios.iter().enumerate() {
        let turns = ledger.get(&name(n)).map_or(0, |(_, turns)| *turns);
        let told = scenario.name.contains("two-turns") || scenario.name.contains("resumed");
        if told && scenario.cli != "gemini" {
            assert_eq!(turns, 2, "{}: the file names its turns", scenario.name);
        }
    }
}
