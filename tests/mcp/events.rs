//! event, roster, recall, learn and levels, as an agent meets them (tools.md 6; cases 87–97 there; access.md 9).

use relayroom::identity::Level;
use relayroom::identity::people;
use serde_json::Value;
use serde_json::json;

use crate::support::server::Relay;
use crate::support::server::now;

const EVENTS: &str = "SELECT count(*) FROM event";

#[tokio::test]
async fn tools_087_types_are_free_and_details_bounded() {
    let relay = Relay::start().await;
    let event = relay.tool("web", "event", json!({"type": "zzz"})).await;
    assert!(event["eventId"].is_string());
    for (arguments, error) in [
        (json!({"type": ""}), "invalid_argument"),
        (json!({}), "invalid_argument"),
        (
            json!({"type": "x", "detail": {"a": "x".repeat(32_769)}}),
            "too_large",
        ),
        (json!({"type": "x", "detail": "[]"}), "invalid_argument"),
    ] {
        let refusal = relay.refusal("web", "event", arguments).await;
        assert_eq!(refusal["error"], error);
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(33), "}".repeat(33));
    let refusal = relay
        .refusal("web", "event", json!({"type": "x", "detail": deep}))
        .await;
    assert_eq!(refusal["error"], "invalid_argument");
    assert_eq!(relay.count(EVENTS).await, 1);
}

#[tokio::test]
async fn tools_088_usage_is_read_leniently_within_bounds() {
    let relay = Relay::start().await;
    for usage in [
        json!({"input_tokens": -1}),
        json!({"input_tokens": 1.5}),
        json!({"input_tokens": 1e30}),
        json!({"cost_usd": -0.1}),
    ] {
        let refusal = relay
            .refusal("web", "event", json!({"type": "x", "usage": usage}))
            .await;
        assert_eq!(refusal["error"], "invalid_argument", "{usage}");
    }
    assert_eq!(relay.count(EVENTS).await, 0);
    for tokens in [json!("1234"), json!(1234.0)] {
        let usage = json!({"input_tokens": tokens});
        relay
            .tool("web", "event", json!({"type": "x", "usage": usage}))
            .await;
    }
    let sum = "SELECT sum(input_tokens) FROM event";
    assert_eq!(relay.count(sum).await, 2 * 1234);
}

#[tokio::test]
async fn tools_089_tools_090_limited_parks_the_caller_and_nonsense_changes_nothing() {
    let relay = Relay::start().await;
    let limited = |reset: Value| json!({"type": "limited", "detail": {"resetAt": reset}});
    let reset = now() + std::time::Duration::from_secs(7_200);
    let event = relay
        .tool("web", "event", limited(json!(reset.rfc3339())))
        .await;
    assert_eq!(event["limitedUntil"], reset.rfc3339());
    let row = |roster: Value| {
        let rows = roster.as_array().unwrap().clone();
        rows.into_iter().find(|row| row["part"] == "web").unwrap()
    };
    let roster = relay.tool("web", "roster", json!({})).await;
    assert_eq!(row(roster)["state"], "limited");
    for nonsense in [
        json!("soon"),
        json!(""),
        json!(12_345),
        json!("2026-12-01T09:30:00"),
    ] {
        let refusal = relay.refusal("web", "event", limited(nonsense)).await;
        assert_eq!(refusal["error"], "invalid_argument");
    }
    assert_eq!(relay.count(EVENTS).await, 1);
    let roster = relay.tool("web", "roster", json!({})).await;
    assert_eq!(row(roster)["state"], "limited");
    for end in [json!(null), json!("2020-01-01T00:00:00Z")] {
        let event = relay.tool("web", "event", limited(end)).await;
        assert_eq!(event.get("limitedUntil"), Some(&Value::Null));
    }
    let event = relay.tool("web", "event", json!({"type": "limited"})).await;
    assert_eq!(event.get("limitedUntil"), Some(&Value::Null));
}

#[tokio::test]
async fn tools_089_the_end_of_a_park_wakes_for_mail_that_waits() {
    let relay = Relay::start().await;
    let reset = now() + std::time::Duration::from_secs(7_200);
    let limited = json!({"type": "limited", "detail": {"resetAt": reset.rfc3339()}});
    relay.tool("web", "event", limited).await;
    let send = json!({"subject": "s", "body": "b", "to": ["web"]});
    let sent = relay.tool("api", "send", send).await;
    assert_eq!(sent["recipients"][0]["wake"], "held");
    assert_eq!(sent["recipients"][0]["reason"], "limited");
    let open = "SELECT count(*) FROM wake WHERE ended_at IS NULL";
    assert_eq!(relay.count(open).await, 0);
    relay.tool("web", "event", json!({"type": "limited"})).await;
    assert_eq!(relay.count(open).await, 1);
}

#[tokio::test]
async fn tools_091_tools_092_references_must_exist_in_the_project() {
    let relay = Relay::start().await;
    let send = json!({"subject": "s", "body": "b", "to": ["web"]});
    let sent = relay.tool("api", "send", send).await;
    let composing = |detail: Value| json!({"type": "composing", "detail": detail});
    let good = composing(json!({"threadId": sent["threadId"]}));
    let event = relay.tool("web", "event", good).await;
    let unknown = uuid::Uuid::now_v7().to_string();
    for (arguments, error) in [
        (composing(json!({})), "invalid_argument"),
        (composing(json!({"threadId": unknown})), "thread_not_found"),
        (
            json!({"type": "x", "parentEventId": unknown}),
            "event_not_found",
        ),
        (json!({"type": "x", "startedAt": "bad"}), "invalid_argument"),
        (
            json!({"type": "x", "startedAt": "2026-12-01T10:00:00Z", "endedAt": "2026-12-01T09:00:00Z"}),
            "invalid_argument",
        ),
    ] {
        let refusal = relay.refusal("web", "event", arguments.clone()).await;
        assert_eq!(refusal["error"], error, "{arguments}");
    }
    let child = json!({"type": "x", "parentEventId": event["eventId"]});
    relay.tool("web", "event", child).await;
    assert_eq!(relay.count(EVENTS).await, 2);
}

#[tokio::test]
async fn tools_093_contradicting_the_unknown_stores_the_event_all_the_same() {
    let relay = Relay::start().await;
    for unknown in [
        json!(uuid::Uuid::now_v7().to_string()),
        json!("x"),
        json!(7),
    ] {
        let error = json!({"type": "error", "detail": {"contradicts": unknown}});
        let event = relay.tool("web", "event", error).await;
        assert_eq!(event["contradiction"]["applied"], false);
    }
    assert_eq!(relay.count(EVENTS).await, 3);
}

#[tokio::test]
async fn tools_094_the_roster_tells_who_called_lately() {
    let relay = Relay::start().await;
    relay.tool("api", "whoami", json!({})).await;
    let roster = relay.tool("web", "roster", json!({})).await;
    let of = |part: &str| {
        let rows = roster.as_array().unwrap();
        rows.iter().find(|row| row["part"] == part).unwrap().clone()
    };
    assert_eq!(of("api")["online"], true);
    assert_eq!(of("api")["you"], false);
    assert_eq!(of("web")["you"], true);
    assert_eq!(of("db")["state"], "offline");
    for row in roster.as_array().unwrap() {
        let size = row.to_string().len();
        assert!(size <= 240, "{size}");
    }
}

#[tokio::test]
async fn tools_096_recall_always_has_an_id_and_knows_what_it_returned() {
    let relay = Relay::start().await;
    let recall = relay.tool("web", "recall", json!({"query": "index"})).await;
    assert_eq!(recall["entries"], json!([]));
    let learn =
        json!({"title": "Index orders", "body": "Use the partial index.", "kind": "pitfall"});
    let learned = relay.tool("web", "learn", learn).await;
    assert_eq!(learned["validationState"], "candidate");
    let mut used = json!({"queryId": recall["queryId"], "knowledgeId": learned["id"]});
    let refusal = relay.refusal("web", "recall_used", used.clone()).await;
    assert_eq!(refusal["error"], "not_returned");
    let refusal = relay.refusal("api", "recall_used", used.clone()).await;
    assert_eq!(refusal["error"], "query_not_found");
    used["queryId"] = json!(uuid::Uuid::now_v7().to_string());
    let refusal = relay.refusal("web", "recall_used", used).await;
    assert_eq!(refusal["error"], "query_not_found");
}

#[tokio::test]
async fn access_016_access_018_a_lowered_level_holds_from_the_next_call() {
    let mut relay = Relay::start().await;
    let lee = relay.member("Lee", Level::Write, &["ops"]).await;
    let shop = relay.shop;
    let send = json!({"subject": "s", "body": "b", "to": ["ops"]});
    let sent = relay.tool("api", "send", send).await;
    let send = json!({"subject": "s", "body": "b", "to": ["api"]});
    relay.tool("ops", "send", send.clone()).await;
    relay
        .write(move |tx| people::set_member(tx, shop, lee, Level::Readonly, false, false))
        .await;
    let thread = sent["threadId"].clone();
    let lesson = json!({"title": "t", "body": "b", "kind": "fact"});
    for (tool, arguments) in [
        ("send", send),
        ("reply", json!({"threadId": thread, "body": "b"})),
        ("learn", lesson.clone()),
        (
            "event",
            json!({"type": "error", "detail": {"contradicts": "x"}}),
        ),
    ] {
        let refusal = relay.refusal("ops", tool, arguments).await;
        assert_eq!(refusal["error"], "unauthorized", "{tool}");
        assert!(refusal["message"].as_str().unwrap().contains("write"));
    }
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 2);
    assert_eq!(relay.count(EVENTS).await, 0);
    let inbox = relay.tool("ops", "inbox", json!({})).await;
    for (tool, arguments) in [
        ("show", json!({"threadId": thread})),
        ("search", json!({"query": "s"})),
        ("recall", json!({"query": "s"})),
        ("ack", json!({"messageId": inbox[0]["messageId"]})),
    ] {
        relay.tool("ops", tool, arguments).await;
    }
    let close = json!({"threadId": thread, "lesson": lesson});
    let closed = relay.tool("ops", "close", close).await;
    assert_eq!(closed["status"], "closed");
    assert_eq!(closed["lesson"]["code"], "unauthorized");
}
