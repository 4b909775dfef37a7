//! `/api/activity`, `/api/usage` and `/api/admin/usage` over HTTP, and the commands that read them (usage.md 6, access.md 3 and 6).

use std::time::Duration;

use relayroom::identity::Level;
use relayroom::identity::part;
use relayroom::identity::project;
use relayroom::identity::token::Binding;
use serde_json::Value;
use serde_json::json;

use crate::support::http::Call;
use crate::support::server::Relay;
use crate::support::server::now;

fn activity(relay: &Relay, kind: &str, turn: &str) -> Value {
    json!({"code": relay.code, "part": "web", "provider": "claude", "session": "s1", "kind": kind, "turn": turn,
           "at": now().rfc3339(), "sentAt": now().rfc3339()})
}

fn usage(relay: &Relay, rows: Vec<Value>) -> Value {
    json!({"code": relay.code, "part": "web", "provider": "claude", "session": "s1", "sentAt": now().rfc3339(), "rows": rows})
}

fn row(key: &str, output: u64) -> Value {
    json!({"key": key, "at": now().rfc3339(), "model": "model-a", "output_tokens": output})
}

fn post(relay: &Relay, path: &str, body: &Value) -> Call {
    relay.call("POST", path).json(body)
}

#[tokio::test]
async fn a_turn_and_its_rows_are_taken_and_shown() {
    let relay = Relay::start().await;
    let started = post(
        &relay,
        "/api/activity",
        &activity(&relay, "turn_start", "t1"),
    );
    assert_eq!(
        started.send().await.json(),
        json!({"ok": true, "turn": "t1"})
    );
    let rows = vec![row("m1", 100), row("m2", 20)];
    let answer = post(&relay, "/api/usage", &usage(&relay, rows))
        .send()
        .await;
    let expected = json!({"ok": true, "new": 2, "raised": 0, "same": 0, "refused": []});
    assert_eq!(answer.json(), expected);

    let parts = relay.admin_get("/api/admin/parts").await.json();
    let web = &parts["parts"][2];
    assert_eq!(
        (&web["state"], &web["source"]),
        (&json!("busy"), &json!("hook"))
    );
    assert_eq!(
        (&web["tokensToday"], &web["online"]),
        (&json!(120), &json!(true))
    );
    let roster = relay.tool("api", "roster", json!({})).await;
    assert_eq!(roster[2]["state"], "busy");

    let page = relay
        .admin_get("/api/admin/usage?by=cause&unit=day&reconcile=true")
        .await
        .json();
    assert_eq!(page["rows"][0]["cause"], "human");
    assert_eq!(page["rows"][0]["output_tokens"], 120);
    assert_eq!(page["total"]["replies"], 2);
    assert_eq!(page["zone"], "UTC");
    assert_eq!(page["reconcile"][0]["human"], 1);
    let csv = relay
        .admin_get("/api/admin/usage?by=model&format=csv")
        .await;
    assert!(csv.header("content-type").unwrap().starts_with("text/csv"));
    let mut lines = csv.body.split("\r\n");
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("model,replies,input_tokens,")
    );
    assert!(lines.next().unwrap().starts_with("model-a,2,0,120,"));
    for bad in ["zone=Mars", "range=x", "cause=x", "by=x", "part=nobody"] {
        let refused = relay.admin_get(&format!("/api/admin/usage?{bad}")).await;
        assert!(
            matches!(refused.status, 400 | 404),
            "{bad}: {}",
            refused.body
        );
    }
    let bare = relay.call("GET", "/api/admin/usage").send().await;
    assert_eq!(bare.status, 401);
}

#[tokio::test]
async fn access_012_access_014_the_code_alone_is_for_this_machine_and_a_bad_token_for_nobody() {
    let relay = Relay::start().await;
    let body = usage(&relay, vec![row("m1", 5)]);
    let call = || post(&relay, "/api/usage", &body);
    for (call, status, reason) in [
        (
            call().header("x-forwarded-for", "1.2.3.4"),
            401,
            "token_missing",
        ),
        (
            call().header("origin", "http://localhost"),
            401,
            "token_missing",
        ),
        (call().bearer("rrp_wrong"), 401, "token_unknown"),
        (call().bearer(relay.token("web")), 401, "token_unknown"),
        (
            call().header("content-type", "text/plain"),
            415,
            "content_type",
        ),
    ] {
        let answer = call.send().await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason));
    }
    assert_eq!(relay.count("SELECT count(*) FROM usage_row").await, 0);
    assert_eq!(call().send().await.status, 200);
    let token = relay.pager_token().await;
    assert_eq!(call().bearer(&token).send().await.json()["same"], 1);
    // The code may travel in a header.
    let mut bare = body.clone();
    bare.as_object_mut().unwrap().remove("code");
    let with_header = post(&relay, "/api/usage", &bare).header("x-relayroom-code", &relay.code);
    assert_eq!(with_header.send().await.json()["same"], 1);
    assert_eq!(post(&relay, "/api/usage", &bare).send().await.status, 400);
}

#[tokio::test]
async fn usage_041_access_022_a_part_that_is_not_there_is_not_made() {
    let mut relay = Relay::start().await;
    let lee = relay.member("Lee", Level::Write, &["ops"]).await;
    let parts = "SELECT count(*) FROM part";
    let before = relay.count(parts).await;
    let posts = |part: &str, code: &str| {
        let mut started = activity(&relay, "turn_start", "t1");
        let mut rows = usage(&relay, vec![row("m1", 5)]);
        for body in [&mut started, &mut rows] {
            body["part"] = json!(part);
            body["code"] = json!(code);
        }
        [
            post(&relay, "/api/activity", &started),
            post(&relay, "/api/usage", &rows),
        ]
    };
    let web = relay
        .store
        .read({
            let shop = relay.shop;
            move |connection| part::by_slug(connection, shop, "web")
        })
        .await
        .unwrap()
        .unwrap();
    let delete = |seq| relay.write(move |tx| part::delete(tx, seq, now()));
    delete(web.seq).await;
    let lees = relay
        .issue_to(
            lee,
            Binding::Pager {
                machine: "vm2".into(),
            },
        )
        .await;
    for (part, code, status, reason) in [
        ("nobody", relay.code.as_str(), 404, "unknown_part"),
        ("web", relay.code.as_str(), 404, "unknown_part"),
        ("web", "00000000000000000000000000", 404, "unknown_code"),
    ] {
        for call in posts(part, code) {
            let answer = call.send().await;
            assert_eq!((answer.status, answer.reason().as_str()), (status, reason));
        }
    }
    for call in posts("api", &relay.code) {
        let answer = call.bearer(&lees).send().await;
        assert_eq!(
            (answer.status, answer.reason().as_str()),
            (403, "not_yours")
        );
    }
    assert_eq!(relay.count(parts).await, before);
    assert_eq!(relay.count("SELECT count(*) FROM session").await, 0);
    let rotated = relay.write({
        let shop = relay.shop;
        move |tx| project::rotate_code(tx, shop)
    });
    rotated.await;
    for call in posts("api", &relay.code) {
        assert_eq!(call.send().await.status, 404);
    }
}

#[tokio::test]
async fn access_045_usage_038_a_post_is_bounded_in_bytes_and_rows() {
    let relay = Relay::start().await;
    let mut body = usage(&relay, Vec::new()).to_string();
    body.push_str(&" ".repeat((1 << 20) - body.len()));
    let call = |body: &str| {
        let call = relay.call("POST", "/api/usage");
        call.header("content-type", "application/json").body(body)
    };
    assert_eq!(call(&body).send().await.status, 200);
    body.push(' ');
    let large = call(&body).send().await;
    assert_eq!(large.status, 413);
    assert!(large.body.contains("1048576"), "{}", large.body);

    let rows = |count: u64| (0..count).map(|n| row(&format!("m{n}"), 1)).collect();
    let many = post(&relay, "/api/usage", &usage(&relay, rows(501)));
    assert_eq!(many.send().await.status, 413);
    assert_eq!(relay.count("SELECT count(*) FROM usage_row").await, 0);
    let full = post(&relay, "/api/usage", &usage(&relay, rows(500)));
    assert_eq!(full.send().await.json()["new"], 500);
}

#[tokio::test]
async fn case_u10_two_hooks_at_once_count_each_reply_once() {
    let relay = Relay::start().await;
    for n in 0..10 {
        let (turn, key) = (format!("t{n}"), format!("m{n}"));
        let started = activity(&relay, "turn_start", &turn);
        let rows = usage(&relay, vec![row(&key, 7)]);
        let ended = activity(&relay, "turn_end", &turn);
        for body in [&started, &rows, &ended] {
            let path = match body.get("rows") {
                Some(_) => "/api/usage",
                None => "/api/activity",
            };
            let (first, second) = tokio::join!(
                post(&relay, path, body).send(),
                post(&relay, path, body).send()
            );
            assert_eq!((first.status, second.status), (200, 200));
        }
    }
    assert_eq!(relay.count("SELECT count(*) FROM turn").await, 10);
    assert_eq!(relay.count("SELECT sum(output) FROM usage_sum").await, 70);
    let events = "SELECT count(*) FROM event WHERE type = 'complete'";
    assert_eq!(relay.count(events).await, 10);
}

#[tokio::test]
async fn what_is_no_report_is_refused_and_stores_nothing() {
    let relay = Relay::start().await;
    let good = activity(&relay, "turn_start", "t1");
    for (name, bad) in [
        ("kind", json!("turn_began")),
        ("at", json!("noon")),
        ("provider", json!("Claude Code")),
        ("session", json!("")),
        ("turn", json!("a\u{7}b")),
        ("reason", json!("tired")),
    ] {
        let mut body = good.clone();
        body[name] = bad;
        let answer = post(&relay, "/api/activity", &body).send().await;
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
    }
    assert_eq!(relay.count("SELECT count(*) FROM session").await, 0);
    let skipped = json!({"input_tokens": 0, "output_tokens": 0});
    let mut body = usage(&relay, Vec::new());
    body["usage"] = skipped;
    let answer = post(&relay, "/api/usage", &body).send().await.json();
    assert_eq!(
        (&answer["ok"], &answer["skipped"]),
        (&json!(true), &json!("empty"))
    );
}

#[tokio::test]
async fn a_pagers_poll_hears_at_once_what_a_hook_reports() {
    let relay = Relay::start().await;
    let mut poll = json!({
        "pager": "9f3c", "machine": "vm", "version": "0.1.0", "tmux": "3.4", "wait_ms": 20_000, "seen": "",
        "parts": [{"code": relay.code, "part": "web", "pane": {
            "id": "%1", "session": "$1", "agent": true, "state": "ready", "since": now().rfc3339(),
            "screen": "dialog", "screen_since": now().rfc3339()}}],
    });
    let first = post(&relay, "/api/pager/poll", &poll).send().await.json();
    assert_eq!(first["parts"][0]["turn"]["state"], "none");
    poll["seen"] = first["rev"].clone();
    let open = tokio::spawn(post(&relay, "/api/pager/poll", &poll).send());
    let started = post(
        &relay,
        "/api/activity",
        &activity(&relay, "turn_start", "t1"),
    );
    assert_eq!(started.send().await.status, 200);
    let told = open.await.unwrap().json();
    assert_eq!(told["parts"][0]["turn"]["state"], "busy");

    // A dialog that is gone from the screen is let go of while the poll waits.
    let blocked = post(&relay, "/api/activity", &activity(&relay, "blocked", "t1"));
    assert_eq!(blocked.send().await.status, 200);
    let ready = now() + Duration::from_millis(1);
    poll["parts"][0]["pane"]["screen"] = json!("ready");
    poll["parts"][0]["pane"]["screen_since"] = json!(ready.rfc3339());
    poll["seen"] = json!("");
    let before = post(&relay, "/api/pager/poll", &poll).send().await.json();
    assert_eq!(before["parts"][0]["turn"]["state"], "blocked");
    poll["seen"] = before["rev"].clone();
    let gone = post(&relay, "/api/pager/poll", &poll).send().await.json();
    assert_eq!(gone["parts"][0]["turn"]["state"], "idle");
}
