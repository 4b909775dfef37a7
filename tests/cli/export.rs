//! `export`: every row once, while mail is sent, and no secret.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use relayroom::config;
use serde_json::Value;
use serde_json::json;

use super::home::Home;
use crate::support::http::Call;
use crate::support::process::ask;

/// The lines by their type, but for the heading.
fn by_type(text: &str) -> BTreeMap<String, Vec<Value>> {
    let mut lines: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let line: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let kind = line["type"].as_str().unwrap().to_owned();
        lines.entry(kind).or_default().push(line);
    }
    lines
}

#[test]
fn cli_032_every_row_is_exported_once_and_no_secret() {
    let home = Home::furnished();
    let seat = home.seat("web");
    home.done(&["project", "new", "blog"]);
    home.done(&[
        "send",
        "web,api",
        "Freeze",
        "-m",
        "no merges",
        "--tag",
        "ops",
        "--project",
        "shop",
    ]);
    seat.tool("inbox", &json!({}));
    seat.tool(
        "event",
        &json!({"type": "status", "detail": {"doing": "tests"}}),
    );
    home.done(&[
        "knowledge",
        "add",
        "Use make",
        "--kind",
        "fact",
        "-m",
        "Not npm.",
        "--project",
        "shop",
    ]);

    let text = home.done(&["export"]);
    let heading: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&heading["v"], &heading["type"]),
        (&json!(1), &json!("export"))
    );
    let lines = by_type(&text);
    let count = |kind: &str| lines.get(kind).map_or(0, Vec::len);
    let counts = [
        "project",
        "part",
        "thread",
        "message",
        "receipt",
        "event",
        "wake",
        "knowledge",
    ]
    .map(count);
    assert_eq!(counts, [2, 2, 1, 1, 2, 1, 2, 1], "{text}");
    let thread = &lines["thread"][0];
    assert_eq!(
        (&thread["from"], &thread["tags"]),
        (&json!("human"), &json!(["ops"]))
    );
    assert_eq!(lines["receipt"][0]["messageId"], lines["message"][0]["id"]);
    let shown: Vec<bool> = lines["receipt"]
        .iter()
        .map(|row| row["shownAt"].is_string())
        .collect();
    assert_eq!(shown.iter().filter(|shown| **shown).count(), 1);

    let admin = config::read_secret(&config::admin_token_file(&home.db())).unwrap();
    let mut secrets = vec![admin, seat.token];
    for project in ["shop", "blog"] {
        secrets.push(
            home.done(&["project", "code", "--project", project])
                .trim()
                .to_owned(),
        );
    }
    for secret in secrets
        .iter()
        .map(String::as_str)
        .chain(["rrt_", "rrp_", "rra_", "hash"])
    {
        assert!(!text.contains(secret), "{secret}");
    }

    let blog = by_type(&home.done(&["export", "--project", "blog"]));
    assert_eq!(blog.keys().collect::<Vec<_>>(), ["project"]);
    assert_eq!(blog["project"][0]["project"], "blog");
    assert_eq!(home.run(&["export", "--project", "shpo"]).code, 5);
}

/// Posts one reply of a model for web, as its hook does.
fn report(home: &Home, code: &str, model: &str) {
    let row = json!({"key": "m1", "at": "2026-12-01T09:00:00.000Z", "model": model, "input_tokens": 4, "output_tokens": 120});
    let post =
        json!({"code": code, "part": "web", "provider": "claude", "session": "s", "rows": [row]});
    let address = home.address.trim_start_matches("http://").parse().unwrap();
    let answer = ask(&Call::new(address, "POST", "/api/usage").json(&post)).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[test]
fn cli_032_turns_and_what_they_used_are_exported() {
    let home = Home::furnished();
    let code = home.done(&["project", "code"]).trim().to_owned();
    report(&home, &code, "claude-x");
    let text = home.done(&["export"]);
    let lines = by_type(&text);
    assert_eq!((lines["turn"].len(), lines["usage"].len()), (1, 1));
    let (turn, usage) = (&lines["turn"][0], &lines["usage"][0]);
    assert_eq!(
        (&turn["part"], &turn["cause"]),
        (&json!("web"), &json!("human"))
    );
    assert_eq!(
        (&usage["output_tokens"], &usage["turn"]),
        (&json!(120), &turn["turn"]),
        "{usage}"
    );
    assert!(!text.contains(&code), "{text}");
}

#[test]
fn cli_032_during_sends_every_line_parses_and_rows_come_once() {
    let home = Home::furnished();
    let stop = Arc::new(AtomicBool::new(false));
    let sending = {
        let (seat, stop) = (home.seat("web"), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let mail = json!({"to": ["api"], "subject": format!("{number}"), "body": format!("{number}"), "fyi": true});
                seat.tool("send", &mail);
                number += 1;
            }
        })
    };
    for _ in 0..5 {
        let lines = by_type(&home.done(&["export"]));
        let messages: Vec<&Value> = lines.get("message").into_iter().flatten().collect();
        let ids: BTreeSet<&str> = messages
            .iter()
            .map(|row| row["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids.len(), messages.len());
        let threads: BTreeSet<&str> = lines
            .get("thread")
            .into_iter()
            .flatten()
            .map(|row| row["id"].as_str().unwrap())
            .collect();
        let known = messages
            .iter()
            .all(|row| threads.contains(row["threadId"].as_str().unwrap()));
        assert!(known, "a message without its thread");
    }
    stop.store(true, Ordering::Relaxed);
    sending.join().unwrap();
}

#[test]
fn an_export_into_a_file_is_private_and_takes_nobodys_place() {
    let mut home = Home::furnished();
    let told = home.json(&["export", "--out", "all.jsonl"]);
    let file = home.path().join("all.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(told["lines"], text.lines().count());
    assert_eq!(told["bytes"], text.len());
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let again = home.run(&["export", "--out", "all.jsonl"]);
    assert_eq!(again.code, 3, "{again:?}");
    home.kill();
    let down = home.run(&["export", "--out", "other.jsonl"]);
    assert_eq!(down.code, 4, "{down:?}");
    let left: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("jsonl"))
        .collect();
    assert_eq!(left, ["all.jsonl"]);
}
