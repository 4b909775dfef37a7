//! `/api/pager/*`: who may poll, what ends a poll, and that a wake is handed out at once (access.md 3; pager.md 2).

use std::time::Duration;
use std::time::Instant;

use relayroom::http::Settings;
use relayroom::identity::part;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use serde_json::Value;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::support::http::Call;
use crate::support::http::Reply;
use crate::support::server::Relay;
use crate::support::server::now;

fn request(relay: &Relay, seen: &Value) -> Value {
    json!({
        "pager": "9f3c", "machine": "vm", "version": "0.1.0", "tmux": "3.4", "wait_ms": 25_000, "seen": seen,
        "parts": [{"code": relay.code, "part": "web"}],
    })
}

fn poll(relay: &Relay, body: &Value) -> Call {
    relay.call("POST", "/api/pager/poll").json(body)
}

/// A poll that waits, with nothing new to say.
async fn waiting(relay: &Relay, token: Option<&str>) -> JoinHandle<Reply> {
    let with = |call: Call| match token {
        Some(token) => call.bearer(token),
        None => call,
    };
    let first = with(poll(relay, &request(relay, &json!("")))).send().await;
    assert_eq!(first.status, 200, "{}", first.body);
    let seen = first.json()["rev"].clone();
    let open = with(poll(relay, &request(relay, &seen)));
    let open = tokio::spawn(open.send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!open.is_finished());
    open
}

#[tokio::test]
async fn a_poll_answers_at_once_when_mail_arrives_and_carries_the_wake() {
    let relay = Relay::start().await;
    let open = waiting(&relay, None).await;
    let begun = Instant::now();
    let sent = relay
        .tool(
            "api",
            "send",
            json!({"subject": "s", "body": "b", "to": ["web"]}),
        )
        .await;
    assert_eq!(sent["recipients"][0]["wake"], "issued");
    let answer = open.await.unwrap().json();
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    let entry = &answer["parts"][0];
    assert_eq!(entry["unread"], 1);
    assert_eq!(entry["wake"]["lease_ms"], 45_000);
    assert!(
        entry["wake"]["line"]
            .as_str()
            .unwrap()
            .starts_with("relayroom")
    );
    assert_eq!(answer["instance"], relay.app.instance);

    // The same state is no news.
    let mut again = request(&relay, &answer["rev"]);
    again["wait_ms"] = json!(700);
    let begun = Instant::now();
    let same = poll(&relay, &again).send().await.json();
    assert!(begun.elapsed() >= Duration::from_millis(650));
    assert_eq!(same["rev"], answer["rev"]);
    assert_eq!(same["parts"][0]["wake"]["wakeId"], entry["wake"]["wakeId"]);
    assert_eq!(same["parts"][0]["wake"]["lease_ms"], 45_000);
}

#[tokio::test]
async fn a_poll_is_the_heartbeat_unless_it_only_looks() {
    let relay = Relay::start().await;
    let panes = "SELECT count(*) FROM pane";
    let mut look = request(&relay, &json!(""));
    look["claim"] = json!(false);
    assert_eq!(poll(&relay, &look).send().await.status, 200);
    assert_eq!(relay.count(panes).await, 0);
    look["claim"] = json!(true);
    assert_eq!(poll(&relay, &look).send().await.status, 200);
    assert_eq!(relay.count(panes).await, 1);
}

#[tokio::test]
async fn case_m26_a_wait_is_short_ends_well_and_loses_nothing_when_its_client_leaves() {
    let relay = Relay::start().await;
    let mut body = request(&relay, &json!(""));
    body["seen"] = poll(&relay, &body).send().await.json()["rev"].clone();
    let mut long = body.clone();
    long["wait_ms"] = json!(600_000);
    let refused = poll(&relay, &long).send().await;
    assert_eq!(refused.reason(), "malformed");
    assert!(refused.body.contains("25000"), "{}", refused.body);
    let mut short = body.clone();
    short["wait_ms"] = json!(300);
    let nothing = poll(&relay, &short).send().await.json();
    assert_eq!(nothing["rev"], body["seen"]);
    assert_eq!(nothing["parts"][0].get("wake"), None);

    let mut leaving = TcpStream::connect(relay.address).await.unwrap();
    leaving
        .write_all(&poll(&relay, &body).bytes())
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let send = json!({"subject": "s", "body": "b", "to": ["web"]});
    let sent = relay.tool("api", "send", send);
    tokio::join!(sent, async { drop(leaving) });
    let again = poll(&relay, &body).send().await.json();
    assert!(again["parts"][0]["wake"].is_object(), "{again}");
    let inbox = relay.tool("web", "inbox", json!({})).await;
    assert_eq!(inbox[0]["unread"], true);
}

#[tokio::test]
async fn access_010_rotating_the_code_ends_an_open_poll() {
    let relay = Relay::start().await;
    let shop = relay.shop;
    let open = waiting(&relay, None).await;
    relay.write(move |tx| project::rotate_code(tx, shop)).await;
    let reply = open.await.unwrap();
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (404, "unknown_code")
    );
}

#[tokio::test]
async fn access_010_of_two_projects_the_live_one_is_served_on() {
    let relay = Relay::start().await;
    let shop = relay.shop;
    let kim = relay.kim;
    let other = relay
        .write(move |tx| {
            let other = project::create(tx, kim, "garden", now())?;
            part::add(tx, other.seq, "web", kim, now())?;
            Ok(other.connect_code)
        })
        .await;
    let mut both = request(&relay, &json!(""));
    both["parts"] = json!([{"code": relay.code, "part": "web"}, {"code": other, "part": "web"}]);
    both["seen"] = poll(&relay, &both).send().await.json()["rev"].clone();
    let open = tokio::spawn(poll(&relay, &both).send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    relay.write(move |tx| project::rotate_code(tx, shop)).await;
    let answer = open.await.unwrap().json();
    assert_eq!(answer["parts"][0]["error"], "unknown_code");
    assert_eq!(answer["parts"][1].get("error"), None);
}

#[tokio::test]
async fn revoking_the_token_ends_an_open_poll() {
    let relay = Relay::start().await;
    let kim = relay.kim;
    let (secret, row) = relay
        .write(move |tx| {
            let machine = Binding::Pager {
                machine: "vm".into(),
            };
            token::issue(tx, kim, &machine, "", None, now())
        })
        .await;
    let open = waiting(&relay, Some(&secret)).await;
    relay
        .write(move |tx| token::revoke(tx, &row.id, now()))
        .await;
    let reply = open.await.unwrap();
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (401, "token_unknown")
    );
}

#[tokio::test]
async fn access_012_access_014_the_code_alone_is_for_this_machine_only() {
    let relay = Relay::with(
        Settings {
            allowed_hosts: vec!["relay.example".into()],
            ..Settings::default()
        },
        &["127.0.0.1:0"],
    )
    .await;
    let body = request(&relay, &json!(""));
    assert_eq!(poll(&relay, &body).send().await.status, 200);
    for (name, value, reason) in [
        ("x-forwarded-for", "1.2.3.4", "token_missing"),
        ("origin", "http://localhost", "token_missing"),
        ("host", "relay.example", "token_missing"),
        ("authorization", "Bearer rrp_wrong", "token_unknown"),
    ] {
        let reply = poll(&relay, &body).header(name, value).send().await;
        assert_eq!(
            (reply.status, reply.reason().as_str()),
            (401, reason),
            "{name}"
        );
    }
    let agent = poll(&relay, &body).bearer(relay.token("web")).send().await;
    assert_eq!(
        (agent.status, agent.reason().as_str()),
        (401, "token_unknown")
    );
    let pager = relay.pager_token().await;
    assert_eq!(poll(&relay, &body).bearer(&pager).send().await.status, 200);
}

#[tokio::test]
async fn access_013_a_relay_that_listens_beyond_loopback_wants_tokens() {
    let relay = Relay::with(Settings::default(), &["127.0.0.1:0", "0.0.0.0:0"]).await;
    let reply = poll(&relay, &request(&relay, &json!(""))).send().await;
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (401, "token_missing")
    );
    assert!(reply.body.contains("loopback"), "{}", reply.body);
}

#[tokio::test]
async fn access_022_a_poll_creates_no_part_and_revives_none() {
    let relay = Relay::start().await;
    let shop = relay.shop;
    relay
        .write(move |tx| {
            let db = part::by_slug(tx, shop, "db")?.unwrap();
            part::delete(tx, db.seq, now())
        })
        .await;
    let mut body = request(&relay, &json!(""));
    body["parts"] =
        json!([{"code": relay.code, "part": "nobody"}, {"code": relay.code, "part": "db"}]);
    let answer = poll(&relay, &body).send().await.json();
    assert_eq!(answer["parts"][0]["error"], "unknown_part");
    assert_eq!(answer["parts"][1]["error"], "unknown_part");
    let live = "SELECT count(*) FROM part WHERE deleted_at IS NULL";
    assert_eq!(relay.count(live).await, 2);
}

#[tokio::test]
async fn a_poll_out_of_bounds_is_malformed() {
    let relay = Relay::start().await;
    let good = request(&relay, &json!(""));
    let many: Vec<Value> = (0..=relayroom::api::MAX_PARTS)
        .map(|_| good["parts"][0].clone())
        .collect();
    for (field, value) in [
        ("wait_ms", json!(25_001)),
        ("pager", json!("a b")),
        ("pager", json!("")),
        ("machine", json!("a\nb")),
        ("machine", json!("a".repeat(201))),
        ("parts", json!(many)),
        ("parts", json!("web")),
    ] {
        let mut bad = good.clone();
        bad[field] = value;
        let reply = poll(&relay, &bad).send().await;
        assert_eq!(
            (reply.status, reply.reason().as_str()),
            (400, "malformed"),
            "{field}"
        );
    }
    let text = poll(&relay, &good).header("content-type", "text/plain");
    assert_eq!(text.send().await.status, 415);
    let long = poll(&relay, &good).body(" ".repeat(300 << 10)).send().await;
    assert_eq!((long.status, long.reason().as_str()), (413, "too_large"));
    assert!(long.body.contains("262144"), "{}", long.body);
}

#[tokio::test]
async fn a_report_is_applied_once_and_the_code_may_stand_in_a_header() {
    let relay = Relay::start().await;
    relay
        .tool(
            "api",
            "send",
            json!({"subject": "s", "body": "b", "to": ["web"]}),
        )
        .await;
    let answer = poll(&relay, &request(&relay, &json!("")))
        .send()
        .await
        .json();
    let wake = &answer["parts"][0]["wake"];
    let mut report = json!({
        "pager": "9f3c", "part": "web", "wakeId": wake["wakeId"], "nudge": wake["nudge"],
        "event": uuid::Uuid::now_v7().to_string(), "at": now().rfc3339(), "stage": "typed", "tag": wake["tag"],
    });
    let tell = |report: &Value| {
        let call = relay.call("POST", "/api/pager/report").json(report);
        call.header("x-relayroom-code", &relay.code).send()
    };
    assert_eq!(tell(&report).await.json(), json!({"result": "ok"}));
    assert_eq!(tell(&report).await.json(), json!({"result": "already"}));
    assert_eq!(relay.count("SELECT count(*) FROM nudge").await, 1);
    report["pager"] = json!("another");
    report["event"] = json!(uuid::Uuid::now_v7().to_string());
    assert_eq!(tell(&report).await.json(), json!({"result": "not_holder"}));
    report["part"] = json!("nobody");
    let reply = tell(&report).await;
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (404, "unknown_part")
    );
    report["code"] = json!("nothing");
    let reply = tell(&report).await;
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (404, "unknown_code")
    );
}
