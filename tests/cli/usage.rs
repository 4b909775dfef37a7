//! `relayroom usage`, the tokens of `roster`, and the person's prices (cli.md 5, usage.md 8 and 9).

use std::fs;

use relayroom::store::system_clock;
use serde_json::Value;
use serde_json::json;

use super::home::Home;
use crate::support::http::Call;
use crate::support::process::ask;

/// A home in which web's hook has told of one turn of 12,470 tokens read, 100 written.
fn worked() -> Home {
    let home = Home::furnished();
    let code = home.done(&["project", "code"]).trim().to_owned();
    let now = system_clock().0.rfc3339();
    let post = |path: &str, body: Value| {
        let address = home.address.trim_start_matches("http://").parse().unwrap();
        let answer = ask(&Call::new(address, "POST", path).json(&body)).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    };
    let mut report =
        json!({"code": code, "part": "web", "provider": "claude", "session": "s", "sentAt": now});
    report["rows"] = json!([{"key": "m1", "at": now, "model": "model-a", "input_tokens": 12_470, "output_tokens": 100},
                            {"key": "m2", "at": now, "model": "mystery", "output_tokens": 7}]);
    let mut started = report.clone();
    started["kind"] = "turn_start".into();
    started["at"] = now.into();
    post("/api/activity", started);
    post("/api/usage", report);
    home
}

fn with_prices(text: &str) -> Home {
    let mut home = worked();
    home.kill();
    fs::write(home.db().with_file_name("prices.toml"), text).unwrap();
    home.serve();
    home
}

#[test]
fn tokens_are_listed_by_what_is_asked_for() {
    let home = worked();
    let text = home.done(&["usage"]);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(rows[0], ["web", "2", "12470", "0", "0", "107", ""]);
    assert_eq!(rows[1][..3], ["total", "2", "12470"]);
    assert_eq!(rows[2][..2], ["turns", "web"]);
    assert_eq!(rows[2][9..12], ["0", "1", "0"], "{text}");

    let csv = home.done(&["usage", "--by", "model", "--unit", "day", "--csv"]);
    assert!(csv.starts_with("at,model,replies,input_tokens,"), "{csv}");
    assert_eq!(csv.lines().count(), 3);
    let json = home.json(&["usage", "--by", "cause", "--range", "1d"]);
    assert_eq!(
        (&json["v"], &json["rows"][0]["cause"]),
        (&json!(1), &json!("human"))
    );
    assert_eq!(json["total"]["output_tokens"], 107);
    let ran = home.run(&["usage", "--range", "soon"]);
    assert_eq!(ran.code, 2, "{ran:?}");

    let roster = home.done(&["roster"]);
    let web: Vec<&str> = roster.lines().nth(1).unwrap().split('\t').collect();
    assert_eq!(
        (web[0], web[1], web[4]),
        ("web", "busy", "12577"),
        "{roster}"
    );
    let empty = Home::furnished();
    assert_eq!(empty.done(&["usage"]), "");
}

#[test]
fn costs_are_estimates_by_the_persons_table() {
    let home = with_prices(
        "as_of = \"2026-11-01\"\n[[price]]\nmodel = \"model-a\"\ninput = 100\noutput = 1000\n",
    );
    let ran = home.run(&["usage"]);
    assert!(ran.out.contains("\t1.35+\n"), "{ran:?}");
    assert!(
        ran.err.contains("7 tokens have no price (mystery)"),
        "{ran:?}"
    );
    assert!(ran.err.contains("prices of 20"), "{ran:?}");
    let json = home.json(&["usage"]);
    assert_eq!(json["total"]["cost_usd"], 1.347);
    assert_eq!(json["unpricedModels"], json!(["mystery"]));

    let settings = home.path().join(".config/relayroom");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("config.toml"), "prices = \"off\"\n").unwrap();
    let mut home = home;
    home.kill();
    home.serve();
    let json = home.json(&["usage"]);
    assert_eq!(json["pricesAsOf"], Value::Null);
    assert_eq!(json["total"].get("cost_usd"), None);
    assert_eq!(json["total"]["output_tokens"], 107);
}

#[test]
fn a_table_of_prices_that_cannot_be_read_stops_the_relay_with_its_line() {
    let home = Home::empty();
    let folder = home.db().parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("prices.toml"),
        "[[price]]\nmodel = \"a\"\ninput = \"cheap\"\n",
    )
    .unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("prices.toml: line 3"), "{ran:?}");
    assert!(!home.db().exists());
}

#[test]
fn the_report_of_wakes_tells_of_their_turns() {
    let home = worked();
    home.done(&["send", "web", "Index", "-m", "which?"]);
    let text = home.done(&["wakes", "--report"]);
    let turns: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("turns\t"))
        .collect();
    assert_eq!(turns.len(), 1, "{text}");
    let fields: Vec<&str> = turns[0].split('\t').collect();
    assert_eq!(fields[1..4], ["web", "1", "0"], "{text}");
}
