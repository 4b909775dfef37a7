//! `restore`: what is refused and leaves everything as it was, and what a restored relay does.

use std::collections::BTreeMap;
use std::fs;
use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::path::Path;

use relayroom::config;
use rusqlite::Connection;
use serde_json::Value;
use serde_json::json;

use super::home::Home;
use crate::support::http::Call;
use crate::support::process::ask;

/// Every file of the database's folder with its length and a digest of it, but for locks and shared memory.
fn contents(home: &Home) -> BTreeMap<String, (usize, u64)> {
    fs::read_dir(home.db().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = fs::read(path).unwrap();
            let mut digest = DefaultHasher::new();
            bytes.hash(&mut digest);
            (name, (bytes.len(), digest.finish()))
        })
        .filter(|(name, _)| !name.ends_with(".lock") && !name.ends_with("-shm"))
        .collect()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn cli_030_while_the_relay_runs_restore_names_its_process() {
    let home = Home::furnished();
    home.done(&["backup", "copy.db"]);
    let ran = home.run(&["restore", "copy.db", "--yes"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let pid = relayroom::store::Store::holder(&home.db()).unwrap().pid;
    assert!(ran.err.contains(&format!("(kill {pid})")), "{ran:?}");
    home.done(&["status"]);
}

#[test]
fn cli_030_foreign_damaged_and_newer_files_are_refused_with_nothing_touched() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.done(&["backup", "whole.db"]);
    home.kill();
    let file = |name: &str| home.path().join(name);
    let whole = fs::read(file("whole.db")).unwrap();

    fs::write(file("text.db"), "no database").unwrap();
    fs::write(file("cut.db"), &whole[..whole.len() / 2]).unwrap();
    let mut damaged = whole.clone();
    // A page in the middle: the header and the first tables stay readable.
    let middle = damaged.len() / 2 / 4096 * 4096;
    damaged[middle..middle + 4096].fill(0xaa);
    fs::write(file("damaged.db"), &damaged).unwrap();
    Connection::open(file("foreign.db"))
        .and_then(|other| other.execute_batch("CREATE TABLE mine (x)"))
        .unwrap();
    for (name, change) in [
        ("newer.db", "PRAGMA user_version = 99"),
        (
            "dangling.db",
            "PRAGMA foreign_keys = OFF; UPDATE message SET thread = 4711",
        ),
    ] {
        fs::write(file(name), &whole).unwrap();
        let copy = Connection::open(file(name)).unwrap();
        copy.execute_batch(change).unwrap();
    }

    let before = contents(&home);
    for (name, why) in [
        ("text.db", "not a RelayRoom database"),
        ("cut.db", "damaged"),
        ("damaged.db", "damaged"),
        ("foreign.db", "another program"),
        ("newer.db", "schema 99, newer"),
        ("dangling.db", "refers to one that is not there"),
    ] {
        let bytes = fs::read(file(name)).unwrap();
        let ran = home.run(&["restore", name, "--yes"]);
        assert_eq!(ran.code, 3, "{name}: {ran:?}");
        assert!(ran.err.contains(why), "{name}: {ran:?}");
        assert_eq!(contents(&home), before, "{name}");
        assert_eq!(fs::read(file(name)).unwrap(), bytes, "{name}");
    }
    assert_eq!(home.run(&["restore", "nowhere.db", "--yes"]).code, 5);
    assert_eq!(home.run(&["restore", path(&home.db()), "--yes"]).code, 2);
    assert_eq!(contents(&home), before);
}

#[test]
fn cli_031_without_a_terminal_restore_asks_for_a_yes_and_shows_what_is_at_stake() {
    let mut home = Home::furnished();
    home.done(&["backup", "copy.db"]);
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    let before = contents(&home);
    let ran = home.run(&["restore", "copy.db"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("--yes"), "{ran:?}");
    let rows: Vec<Vec<&str>> = ran
        .out
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows[0][..5], ["present", "1", "2", "1", "1"]);
    assert_eq!(rows[1][..5], ["backup", "1", "2", "0", "0"]);
    assert_eq!(contents(&home), before);
}

#[test]
fn cli_031_the_old_file_is_kept_and_the_admin_token_stays() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "in the backup", "-m", "x"]);
    home.done(&["backup", "copy.db"]);
    let instance = home.json(&["status"])["instance"].clone();
    // The token of the backup's time is no longer the one in the file.
    home.kill();
    let admin = config::admin_token_file(&home.db());
    fs::remove_file(&admin).unwrap();
    home.serve();
    home.done(&["send", "web", "lost", "-m", "x"]);
    home.kill();

    let token = fs::read(&admin).unwrap();
    let restored = home.json(&["restore", "copy.db", "--yes"]);
    assert_eq!(restored["backup"]["messages"], 1);
    assert_eq!(restored["present"]["messages"], 2);
    let kept = restored["kept"].as_str().unwrap();
    let prefix = format!("{}.before-20", home.db().display());
    assert!(kept.starts_with(&prefix), "{kept}");
    let kept = relayroom::store::backup::check(Path::new(kept)).unwrap();
    assert_eq!(
        kept.messages, 2,
        "what stood in the log only is in the kept file"
    );

    home.serve();
    assert_eq!(fs::read(&admin).unwrap(), token);
    let threads = home.json(&["threads"]);
    let subjects: Vec<&str> = threads["threads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thread| thread["subject"].as_str().unwrap())
        .collect();
    assert_eq!(subjects, ["in the backup"]);
    assert_ne!(home.json(&["status"])["instance"], instance);
}

#[test]
fn cli_031_a_part_that_was_unread_then_is_woken_once() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.done(&["backup", "copy.db"]);
    // Since then it was read.
    home.tool("web", "inbox", &json!({}));
    home.kill();
    home.done(&["restore", "copy.db", "--yes"]);
    home.serve();
    let code = home.done(&["project", "code"]).trim().to_owned();
    let mut lines = Vec::new();
    let mut seen = json!("");
    for _ in 0..2 {
        let poll = json!({
            "pager": "p1", "machine": "vm", "version": "0.1.0", "tmux": "3.4", "socket": "/tmp/x", "wait_ms": 0,
            "seen": seen,
            "parts": [{"code": code, "part": "web"}],
        });
        let address = home.address.trim_start_matches("http://").parse().unwrap();
        let answer = ask(&Call::new(address, "POST", "/api/pager/poll").json(&poll)).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer = answer.json();
        seen = answer["rev"].clone();
        lines.push(answer["parts"][0]["wake"]["wakeId"].clone());
    }
    assert!(lines[0].is_string(), "{lines:?}");
    assert_eq!(lines[0], lines[1]);
    let wakes = home.json(&["wakes", "--part", "web"]);
    let wakes = wakes["rows"].as_array().unwrap();
    let count = wakes.iter().filter(|row| row["row"] == "wake").count();
    assert_eq!(count, 1, "{wakes:?}");
}

#[test]
fn a_backup_makes_a_database_where_there_is_none() {
    let home = Home::furnished();
    home.done(&["backup", "copy.db"]);
    let mut other = Home::empty();
    let copy = home.path().join("copy.db");
    let restored = other.json(&["restore", path(&copy), "--yes"]);
    assert_eq!(restored["kept"], Value::Null);
    other.serve();
    assert_eq!(other.done(&["project", "list"]).lines().count(), 1);
}

#[test]
fn a_damaged_database_is_kept_as_it_is_with_its_log() {
    let mut home = Home::furnished();
    home.done(&["backup", "copy.db"]);
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    let log = format!("{}-wal", home.db().display());
    let (mut damaged, log) = (fs::read(home.db()).unwrap(), fs::read(log).unwrap());
    damaged[..16].fill(0);
    fs::write(home.db(), &damaged).unwrap();
    let restored = home.json(&["restore", "copy.db", "--yes"]);
    let kept = restored["kept"].as_str().unwrap();
    assert_eq!(fs::read(kept).unwrap(), damaged);
    assert_eq!(fs::read(format!("{kept}-wal")).unwrap(), log);
    home.serve();
    assert_eq!(home.json(&["status"])["counts"]["messages"], 0);
}
