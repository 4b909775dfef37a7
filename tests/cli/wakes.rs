//! `relayroom wakes`: rows, the follower, the report, and the same as CSV.

use std::io::BufRead;
use std::io::BufReader;
use std::process::Stdio;

use relayroom::config;
use serde_json::Value;

use super::home::Home;
use crate::support::http::Call;
use crate::support::http::Reply;
use crate::support::process::ask;

/// A home in which web has an open wake, and api's mail is held because it is paused.
fn busy() -> Home {
    let home = Home::furnished();
    home.done(&["send", "web", "Index on orders", "-m", "which one?"]);
    home.done(&["pause", "api"]);
    home.done(&["send", "api", "Freeze", "-m", "today"]);
    home
}

fn get(home: &Home, path: &str) -> Reply {
    let address = home.address.trim_start_matches("http://").parse().unwrap();
    let token = config::read_secret(&config::admin_token_file(&home.db())).unwrap();
    ask(&Call::new(address, "GET", path).bearer(&token)).unwrap()
}

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map(|line| line.split('\t').collect())
        .collect()
}

#[test]
fn rows_are_listed_newest_first_one_a_line() {
    let home = busy();
    let text = home.done(&["wakes"]);
    let rows = lines(&text);
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows.iter().all(|row| row.len() == 10), "{text}");
    assert_eq!(rows[0][1..3], ["hold", "api"]);
    assert_eq!(rows[0][5..8], ["held", "", "paused"]);
    assert_eq!(rows[1][1..3], ["wake", "web"]);
    assert_eq!(rows[1][4..6], ["human", "waiting"]);
    assert_eq!(rows[1][7..9], ["no_pager", "human"]);
    let thread = home.json(&["threads", "--part", "web"])["threads"][0]["id"].clone();
    assert_eq!(rows[1][9], thread.as_str().unwrap());

    let json = home.json(&["wakes", "--part", "web"]);
    assert_eq!(json["rows"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["rows"][0]["row"], "wake");
    assert_eq!(json["rows"][0]["tag"], rows[1][3]);
    let json = home.json(&["wakes", "--reason", "paused"]);
    assert_eq!(json["rows"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["rows"][0]["part"], "api");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let home = busy();
    let ran = home.run(&["wakes", "--reason", "bugdet"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("\"bugdet\" is no reason"), "{ran:?}");
    assert_eq!(ran.out, "");
    let ran = home.run(&["wakes", "--part", "wbe"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.err.contains("did you mean web?"), "{ran:?}");
    assert_eq!(home.run(&["wakes", "--report", "--follow"]).code, 2);
    for query in ["since=yesterday", "format=xml", "format=csv&report=true"] {
        let reply = get(&home, &format!("/api/admin/wakes?{query}"));
        assert_eq!(reply.status, 400, "{query}: {}", reply.body);
    }
}

#[test]
fn the_same_rows_are_to_be_had_as_csv() {
    let home = busy();
    let reply = get(&home, "/api/admin/wakes?format=csv&part=web");
    assert_eq!(
        reply.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    let rows: Vec<Vec<&str>> = reply
        .body
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 2, "{}", reply.body);
    let value = |name: &str| {
        let column = rows[0].iter().position(|known| *known == name);
        rows[1][column.unwrap()]
    };
    assert_eq!(value("row"), "wake");
    assert_eq!(value("part"), "web");
    assert_eq!(value("reason"), "no_pager");
    assert_eq!(value("tmux"), "");
    assert_eq!(rows[1].len(), rows[0].len());
}

#[test]
fn a_report_names_figures_holds_and_misses() {
    let home = busy();
    let thread = home.json(&["threads", "--part", "web"])["threads"][0]["id"].clone();
    home.done(&["close", thread.as_str().unwrap()]);
    let text = home.done(&["wakes", "--report"]);
    let rows = lines(&text);
    let of = |first: &str| -> Vec<&str> {
        let row = rows.iter().find(|row| row[0] == first);
        row.unwrap_or_else(|| panic!("no {first} in {text}"))
            .clone()
    };
    assert_eq!(of("all")[2..5], ["1", "0", "0.0 %"]);
    assert_eq!(of("all")[7], "1 cleared");
    assert_eq!(of("part")[1], "web");
    assert_eq!(of("hold")[1..4], ["api", "paused", "1"]);
    assert_eq!(of("miss")[4..6], ["cleared", "no_pager"]);
    assert!(!text.contains('\u{1b}'));

    let report = home.json(&["wakes", "--report"]);
    assert_eq!(report["report"]["all"]["issued"], 1);
    assert_eq!(report["report"]["misses"][0]["threadId"], thread);
    let empty = Home::furnished();
    assert_eq!(empty.done(&["wakes", "--report"]), "");
}

#[test]
fn a_follower_is_told_what_is_new_and_what_has_changed() {
    let home = busy();
    let mut follower = home
        .command(&["wakes", "--follow", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&told.next().unwrap().unwrap()).unwrap() };
    let (first, second) = (next(), next());
    assert_eq!((&first["v"], &first["row"]), (&1.into(), &"wake".into()));
    assert_eq!(second["row"], "hold");
    home.done(&["resume", "api"]);
    let changed = [next(), next()];
    let hold = changed.iter().find(|row| row["row"] == "hold").unwrap();
    assert_eq!(hold["at"], second["at"]);
    assert!(hold["endedAt"].is_string(), "{hold}");
    let issued = changed.iter().find(|row| row["row"] == "wake").unwrap();
    assert_eq!(issued["part"], "api");
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn the_numbers_go_on_after_a_kill() {
    let mut home = busy();
    let counters = |home: &Home| -> Vec<String> {
        let body = get(home, "/metrics").body;
        let kept = body
            .lines()
            .filter(|line| line.contains("_total{") || line.starts_with("relayroom_holds_open"));
        kept.map(str::to_owned).collect()
    };
    let before = counters(&home);
    assert!(
        before.contains(&"relayroom_wakes_issued_total{kind=\"mail\"} 1".to_owned()),
        "{before:?}"
    );
    home.kill();
    home.serve();
    let mut after = counters(&home);
    let mut expected = before;
    after.sort_unstable();
    expected.sort_unstable();
    assert_eq!(after, expected);
}
