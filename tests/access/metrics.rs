//! `GET /metrics`: who may read it, and that its text holds what the tables hold (access.md 6).

use serde_json::json;

use crate::support::http::Reply;
use crate::support::server::Relay;

/// The value of one sample, by its name and labels as they stand in the text.
#[track_caller]
fn sample(reply: &Reply, name: &str) -> f64 {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let line = reply
        .body
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    let line = line.unwrap_or_else(|| panic!("no {name} in\n{}", reply.body));
    line.parse().unwrap()
}

#[tokio::test]
async fn the_numbers_follow_a_wake_from_its_issue_to_its_end() {
    let relay = Relay::start().await;
    let read = || relay.call("GET", "/metrics").send();
    let before = read().await;
    assert!(
        before
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("application/openmetrics-text")),
        "{before:?}"
    );
    assert_eq!(
        sample(&before, "relayroom_wakes_issued_total{kind=\"mail\"}"),
        0.0
    );
    let version = format!(
        "relayroom_build_info{{version=\"{}\"}}",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(sample(&before, &version), 1.0);
    let limit = "relayroom_budget_limit{owner=\"Kim\",lane=\"normal\"}";
    assert_eq!(sample(&before, limit), 30.0);
    assert!(sample(&before, "relayroom_wal_bytes") > 0.0);
    assert_eq!(sample(&before, "relayroom_write_queue"), 0.0);

    let mail = json!({"subject": "s", "body": "b", "to": ["web"]});
    let sent = relay.tool("api", "send", mail).await;
    let issued = read().await;
    assert_eq!(
        sample(&issued, "relayroom_wakes_issued_total{kind=\"mail\"}"),
        1.0
    );
    assert_eq!(
        sample(&issued, "relayroom_wakes_open{state=\"waiting\"}"),
        1.0
    );
    assert_eq!(
        sample(&issued, "relayroom_wakes_held_up{reason=\"no_pager\"}"),
        1.0
    );
    let used = "relayroom_budget_used{owner=\"Kim\",lane=\"normal\"}";
    assert_eq!(sample(&issued, used), 1.0);

    let ack = json!({"messageId": sent["messageId"]});
    relay.tool("web", "ack", ack).await;
    let ended = read().await;
    assert_eq!(
        sample(&ended, "relayroom_wakes_ended_total{outcome=\"consumed\"}"),
        1.0
    );
    assert_eq!(
        sample(&ended, "relayroom_wakes_open{state=\"waiting\"}"),
        0.0
    );
    let histogram = "relayroom_wake_stored_to_consumed_seconds";
    assert_eq!(sample(&ended, &format!("{histogram}_count")), 1.0);
    assert_eq!(
        sample(&ended, &format!("{histogram}_bucket{{le=\"+Inf\"}}")),
        1.0
    );
    let never = "relayroom_wake_stored_to_presented_seconds_count";
    assert_eq!(sample(&ended, never), 0.0);
    assert_eq!(sample(&ended, used), 0.0);
    assert!(ended.body.ends_with("# EOF\n"));
}

#[tokio::test]
async fn they_are_open_to_this_machine_and_to_the_admin_token() {
    let relay = Relay::start().await;
    let call = || relay.call("GET", "/metrics");
    assert_eq!(call().send().await.status, 200);
    for name in ["x-forwarded-for", "forwarded", "via"] {
        let reply = call().header(name, "192.0.2.1").send().await;
        assert_eq!(
            (reply.status, reply.reason().as_str()),
            (401, "token_missing"),
            "{name}"
        );
        assert!(reply.header("www-authenticate").is_some(), "{name}");
    }
    let passed_on = call().header("x-forwarded-for", "192.0.2.1");
    let reply = passed_on.clone().bearer(&relay.admin).send().await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    for wrong in ["rra_nonsense", relay.token("web")] {
        let reply = passed_on.clone().bearer(wrong).send().await;
        assert_eq!(reply.status, 401, "{}", reply.body);
    }
    let reply = relay.call("POST", "/metrics").send().await;
    assert_eq!(reply.status, 405);
}

#[tokio::test]
async fn a_credential_is_never_refused_by_the_rate() {
    let relay = Relay::start().await;
    let mut last = 200;
    for _ in 0..=600 {
        last = relay.call("GET", "/health").send().await.status;
        if last == 429 {
            break;
        }
    }
    assert_eq!(last, 429);
    let bare = relay.call("GET", "/metrics").send().await;
    assert_eq!(bare.status, 429);
    assert!(bare.header("retry-after").is_some());
    let known = relay.call("GET", "/metrics").bearer(&relay.admin);
    assert_eq!(known.send().await.status, 200);
}
