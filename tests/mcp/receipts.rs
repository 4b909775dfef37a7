//! What a sender can know of its message without asking anybody (tools.md 6 and 8; case A14).

use relayroom::identity::part;
use serde_json::Value;
use serde_json::json;

use crate::support::server::Relay;
use crate::support::server::now;

/// The receipts of api's message, asked for three times: asking changes nothing and wakes nobody.
async fn receipts(relay: &Relay, thread: &Value) -> Value {
    let traces = "SELECT (SELECT count(*) FROM wake) + (SELECT count(*) FROM nudge) + (SELECT count(*) FROM event)
        + (SELECT count(seen_at) + count(read_at) + coalesce(sum(last_seen_at), 0) FROM recipient)";
    let before = relay.count(traces).await;
    let mut shown = Value::Null;
    for _ in 0..3 {
        shown = relay.tool("api", "show", json!({"threadId": thread})).await;
    }
    assert_eq!(relay.count(traces).await, before);
    shown["messages"][0]["receipts"].clone()
}

/// A pager's view of web, in this state.
async fn poll(relay: &Relay, state: &str) -> Value {
    let pane = json!({"id": "%1", "session": "$1", "agent": true, "state": state, "since": now().rfc3339()});
    let body = json!({"pager": "p", "machine": "vm", "version": "0", "wait_ms": 0,
        "parts": [{"code": relay.code, "part": "web", "cli": "claude", "pane": pane}]});
    let reply = relay.call("POST", "/api/pager/poll").json(&body).send();
    reply.await.json()["parts"][0].clone()
}

async fn report(relay: &Relay, wake: &Value, stage: Value) {
    let mut body = json!({"pager": "p", "code": relay.code, "part": "web", "wakeId": wake["wakeId"],
        "nudge": wake["nudge"], "event": uuid::Uuid::now_v7().to_string(), "at": now().rfc3339()});
    let fields = body.as_object_mut().unwrap();
    fields.extend(stage.as_object().unwrap().clone());
    let reply = relay.call("POST", "/api/pager/report").json(&body).send();
    assert_eq!(reply.await.json(), json!({"result": "ok"}));
}

async fn state_of_web(relay: &Relay) -> Value {
    let roster = relay.tool("api", "roster", json!({})).await;
    let rows = roster.as_array().unwrap();
    let row = rows.iter().find(|row| row["part"] == "web").unwrap();
    row["state"].clone()
}

#[tokio::test]
async fn case_a14_a_sender_sees_what_became_of_its_message_without_a_sound() {
    let relay = Relay::start().await;
    let send = |to: &str| json!({"subject": format!("for {to}"), "body": "b", "to": [to]});

    // Asleep: nobody has heard of web or of its pager.
    let sent = relay.tool("api", "send", send("web")).await;
    let expected = json!([{"part": "web", "wake": "issued", "reason": "no_pager"}]);
    assert_eq!(sent["recipients"], expected);
    assert_eq!(state_of_web(&relay).await, "offline");
    let thread = &sent["threadId"];
    assert_eq!(receipts(&relay, thread).await, json!({"web": "stored"}));

    // Busy: its pager holds the wake back.
    let wake = poll(&relay, "busy").await["wake"].clone();
    let busy = json!({"stage": "blocked", "reason": "busy", "detail": "marker"});
    report(&relay, &wake, busy).await;
    assert_eq!(state_of_web(&relay).await, "busy");
    assert_eq!(receipts(&relay, thread).await, json!({"web": "stored"}));

    // Typed, submitted, shown, acknowledged.
    poll(&relay, "ready").await;
    report(&relay, &wake, json!({"stage": "typed", "tag": wake["tag"]})).await;
    assert_eq!(receipts(&relay, thread).await, json!({"web": "stored"}));
    let submitted = json!({"stage": "submitted", "enters": 1, "tag": wake["tag"]});
    report(&relay, &wake, submitted).await;
    assert_eq!(receipts(&relay, thread).await, json!({"web": "presented"}));
    let inbox = relay.tool("web", "inbox", json!({})).await;
    // The mark is posted, not waited for; any later write stands behind it.
    relay.write(|_| Ok(())).await;
    assert_eq!(receipts(&relay, thread).await, json!({"web": "shown"}));
    let ack = json!({"messageId": inbox[0]["messageId"]});
    relay.tool("web", "ack", ack).await;
    assert_eq!(receipts(&relay, thread).await, json!({"web": "read"}));

    // Gone, and never there: told at the send, and nothing is stored.
    let shop = relay.shop;
    relay
        .write(move |tx| {
            let db = part::by_slug(tx, shop, "db")?.unwrap();
            part::delete(tx, db.seq, now())
        })
        .await;
    for (to, why) in [("db", "deleted"), ("ghost", "unknown")] {
        let refusal = relay.refusal("api", "send", send(to)).await;
        assert_eq!(refusal["bad"][0]["why"], why, "{refusal}");
    }
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 1);
}
