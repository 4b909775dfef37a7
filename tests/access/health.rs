//! `/health`, and a relay that starts or stops (access.md 6 and 8).

use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use relayroom::http;
use relayroom::identity;
use relayroom::store::Store;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::http::Call;
use crate::support::server::Relay;
use crate::support::server::now;

#[tokio::test]
async fn health_is_a_write_and_is_believed_for_a_second() {
    let relay = Relay::start().await;
    let proved = "SELECT coalesce(proved_at, 0) FROM relay";
    assert_eq!(relay.count(proved).await, 0);
    let ask = || relay.call("GET", "/health").send();
    let reply = ask().await;
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.json(),
        json!({"ok": true, "version": env!("CARGO_PKG_VERSION")})
    );
    let first = relay.count(proved).await;
    assert!(first > 0);
    ask().await;
    assert_eq!(relay.count(proved).await, first);
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    ask().await;
    assert!(relay.count(proved).await > first);
}

#[tokio::test]
async fn health_says_so_when_the_writer_is_stuck_and_when_it_is_free_again() {
    let relay = Relay::start().await;
    let (free, stuck) = std::sync::mpsc::channel::<()>();
    relay.store.post(move |_| {
        let _ = stuck.recv();
        Ok(())
    });
    let begun = Instant::now();
    let reply = relay.call("GET", "/health").send().await;
    assert_eq!(reply.status, 503, "{}", reply.body);
    assert_eq!(reply.json()["ok"], false);
    assert!(reply.json()["cause"].is_string());
    assert!(begun.elapsed() < Duration::from_millis(1_500));
    free.send(()).unwrap();
    let mut ok = false;
    while begun.elapsed() < Duration::from_secs(10) && !ok {
        ok = relay.call("GET", "/health").send().await.status == 200;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(ok);
}

#[tokio::test]
async fn access_050_case_m29_a_request_before_the_file_is_open_waits_and_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    let listeners = http::bind(&["127.0.0.1:0".to_owned()]).await.unwrap();
    let address = listeners[0].local_addr().unwrap();
    let door = Arc::new(http::Door::new(
        http::Settings::default(),
        vec![address],
        stop.clone(),
    ));
    let serving = tokio::spawn(http::serve(Arc::clone(&door), listeners));
    let early = tokio::spawn(Call::new(address, "GET", "/health").send());
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!early.is_finished());
    let store = Store::open(&folder.path().join("r.db"), "", now()).unwrap();
    store
        .write(|tx| identity::found(tx, "kim", now()))
        .await
        .unwrap();
    door.open(store).await.unwrap();
    assert_eq!(early.await.unwrap().status, 200);
    stop.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn access_050_a_relay_that_does_not_open_says_starting() {
    let stop = CancellationToken::new();
    let listeners = http::bind(&["127.0.0.1:0".to_owned()]).await.unwrap();
    let address = listeners[0].local_addr().unwrap();
    let settings = http::Settings::default();
    let door = Arc::new(http::Door::new(settings, vec![address], stop.clone()));
    tokio::spawn(http::serve(door, listeners));
    let begun = Instant::now();
    let reply = Call::new(address, "POST", "/mcp/x").send().await;
    assert_eq!((reply.status, reply.reason().as_str()), (503, "starting"));
    let waited = begun.elapsed();
    assert!((9_500..12_000).contains(&waited.as_millis()), "{waited:?}");
    stop.cancel();
}

#[tokio::test]
async fn access_049_a_stop_ends_polls_at_once_and_lets_a_running_request_finish() {
    let mut relay = Relay::start().await;
    let poll = json!({"pager": "p", "machine": "vm", "version": "1", "wait_ms": 25000,
                      "parts": [{"code": relay.code, "part": "web"}]});
    let first = relay
        .call("POST", "/api/pager/poll")
        .json(&poll)
        .send()
        .await;
    let mut poll = poll;
    poll["seen"] = first.json()["rev"].clone();
    let polls: Vec<_> = (0..40)
        .map(|_| tokio::spawn(relay.call("POST", "/api/pager/poll").json(&poll).send()))
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (free, stuck) = std::sync::mpsc::channel::<()>();
    relay.store.post(move |_| {
        let _ = stuck.recv_timeout(Duration::from_secs(20));
        Ok(())
    });
    let send = json!({"subject": "s", "body": "b", "to": ["db"]});
    let params = json!({"name": "send", "arguments": send});
    let call = relay.mcp("web").json(&relay.rpc("tools/call", params));
    let running = tokio::spawn(call.send());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let begun = Instant::now();
    relay.stop.cancel();
    for poll in polls {
        let reply = poll.await.unwrap();
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.json()["retry_ms"], 500);
    }
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    free.send(()).unwrap();
    assert_eq!(running.await.unwrap().status, 200);
    relay.serving.take().unwrap().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 1);
}

#[tokio::test]
async fn access_049_a_request_that_hangs_does_not_hold_the_relay() {
    let mut relay = Relay::start().await;
    let (free, stuck) = std::sync::mpsc::channel::<()>();
    relay.store.post(move |_| {
        let _ = stuck.recv_timeout(Duration::from_secs(20));
        Ok(())
    });
    let params = json!({"name": "ack", "arguments": {"messageId": "x"}});
    let call = relay.mcp("web").json(&relay.rpc("tools/call", params));
    let hanging = tokio::spawn(async move { call.send().await.status });
    tokio::time::sleep(Duration::from_millis(300)).await;
    let begun = Instant::now();
    relay.stop.cancel();
    relay.serving.take().unwrap().await.unwrap();
    let took = begun.elapsed();
    assert!((3_500..5_000).contains(&took.as_millis()), "{took:?}");
    free.send(()).unwrap();
    assert_eq!(hanging.await.unwrap(), 0);
}
