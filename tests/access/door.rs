//! Host, Origin, sizes, times and rates on every route (access.md 7).

use std::time::Duration;
use std::time::Instant;

use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::http::Reply;
use crate::support::http::raw;
use crate::support::server::Relay;

#[tokio::test]
async fn access_003_foreign_host_is_refused_on_every_route() {
    let relay = Relay::start().await;
    for (method, path) in [
        ("POST", "/mcp/c1"),
        ("POST", "/api/usage"),
        ("GET", "/health"),
        ("GET", "/assets/x.css"),
        ("GET", "/api/admin/status"),
    ] {
        let reply = relay
            .call(method, path)
            .header("host", "evil.example")
            .send()
            .await;
        assert_eq!(reply.status, 403, "{path}");
        assert_eq!(reply.reason(), "host", "{path}");
        assert!(reply.body.contains("allowed_hosts"), "{}", reply.body);
    }
    for host in ["[::1]:48801", "LOCALHOST:8080", "127.0.0.1."] {
        let reply = relay
            .call("GET", "/api/admin/status")
            .header("host", host)
            .bearer(&relay.admin)
            .send()
            .await;
        assert_eq!(reply.status, 200, "{host}: {}", reply.body);
    }
}

#[tokio::test]
async fn access_004_origin_null_with_ten_megabytes_is_refused_readably() {
    let relay = Relay::start().await;
    let body = vec![b' '; 10 << 20];
    let null = relay.mcp("web").header("origin", "null").body(body);
    let reply = null.send().await;
    assert_eq!((reply.status, reply.reason().as_str()), (403, "origin"));
    let page = relay
        .call("POST", "/settings")
        .header("origin", "http://localhost:3000")
        .send()
        .await;
    assert_eq!((page.status, page.reason().as_str()), (403, "origin"));
}

#[tokio::test]
async fn access_007_every_answer_carries_the_security_headers_and_an_id_of_ours() {
    let relay = Relay::start().await;
    let reply = relay
        .call("GET", "/nothing/here")
        .header("x-request-id", "mine")
        .send()
        .await;
    assert_eq!((reply.status, reply.reason().as_str()), (404, "not_found"));
    let id = reply.header("x-request-id").unwrap();
    assert_ne!(id, "mine");
    assert_eq!(reply.json()["request_id"], id);
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{name}");
    }
    assert!(
        reply
            .header("content-security-policy")
            .unwrap()
            .contains("frame-ancestors 'none'")
    );
    assert_eq!(reply.header("strict-transport-security"), None);
    assert_eq!(reply.header("location"), None);
}

#[tokio::test]
async fn access_007_wrong_method_names_the_right_ones_and_slash_forms_do_not_redirect() {
    let relay = Relay::start().await;
    let reply = relay.call("POST", "/api/admin/status").send().await;
    assert_eq!((reply.status, reply.reason().as_str()), (405, "method"));
    assert!(reply.header("allow").unwrap().contains("GET"));
    let reply = relay.call("GET", "/api/admin/status/").send().await;
    assert_eq!(reply.status, 404);
}

#[tokio::test]
async fn access_007_long_lines_and_many_headers_are_431() {
    let relay = Relay::start().await;
    let long = relay.call("GET", &format!("/{}", "a".repeat(8200)));
    let fat = relay
        .call("GET", "/x")
        .header("x-fat", &"a".repeat(17 << 10));
    let mut many = relay.call("GET", "/x");
    for n in 0..64 {
        many = many.header(&format!("x-{n}"), "1");
    }
    for call in [long, fat, many] {
        let reply = call.send().await;
        assert_eq!((reply.status, reply.reason().as_str()), (431, "too_large"));
    }
    let flood = format!(
        "GET / HTTP/1.1\r\nhost: localhost\r\n{}\r\n",
        "x: 1\r\n".repeat(500)
    );
    assert_eq!(raw(relay.address, flood.as_bytes()).await.status, 431);
}

#[tokio::test]
async fn access_007_a_head_that_dawdles_is_cut_after_five_seconds_and_others_are_served() {
    let relay = Relay::start().await;
    let begun = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(relay.address).await.unwrap();
        slow.push(tokio::spawn(async move {
            // One byte at a time, until the other end has had enough.
            for byte in b"GET / HTTP/1.1\r\nhost: localhost\r\n".iter().cycle() {
                if stream.write_all(&[*byte]).await.is_err() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }));
    }
    let good = Instant::now();
    let reply = relay.admin_get("/api/admin/status").await;
    assert_eq!(reply.status, 200);
    assert!(
        good.elapsed() < Duration::from_secs(2),
        "{:?}",
        good.elapsed()
    );
    for task in slow {
        tokio::time::timeout(Duration::from_secs(9), task)
            .await
            .unwrap()
            .unwrap();
    }
    assert!(
        begun.elapsed() > Duration::from_secs(4),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn access_007_a_kept_connection_serves_again_after_a_pause_longer_than_a_head_may_take() {
    let relay = Relay::start().await;
    let mut stream = TcpStream::connect(relay.address).await.unwrap();
    let request = format!("GET /x HTTP/1.1\r\nhost: {}\r\n\r\n", relay.address);
    for pause in [6, 0] {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 4096];
        let read = stream.read(&mut answer).await.unwrap();
        assert_eq!(Reply::parse(&answer[..read]).status, 404);
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
}

#[tokio::test]
async fn access_044_the_sixty_first_bad_bearer_is_429_and_a_good_one_passes() {
    let relay = Relay::start().await;
    let bad = relay.call("GET", "/api/admin/status").bearer("rra_wrong");
    for n in 0..60 {
        assert_eq!(bad.clone().send().await.status, 401, "{n}");
    }
    let reply = bad.send().await;
    assert_eq!(
        (reply.status, reply.reason().as_str()),
        (429, "rate_limited")
    );
    let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=66).contains(&wait), "{wait}");
    assert_eq!(relay.admin_get("/api/admin/status").await.status, 200);
}

#[tokio::test]
async fn access_047_admin_routes_are_for_this_machine_and_no_proxy() {
    let relay = Relay::start().await;
    let status = relay.admin_get("/api/admin/status").await.json();
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["listen"], json!([relay.address.to_string()]));
    let proxied = relay
        .call("GET", "/api/admin/status")
        .bearer(&relay.admin)
        .header("x-forwarded-for", "1.2.3.4")
        .send()
        .await;
    assert_eq!(
        (proxied.status, proxied.reason().as_str()),
        (403, "local_only")
    );
    let status = relay.admin_get("/api/admin/status").await.json();
    assert_eq!(status["refusals"][0]["reason"], "local_only");
    let none = relay.call("GET", "/api/admin/status").send().await;
    assert_eq!(
        (none.status, none.reason().as_str()),
        (401, "token_missing")
    );
    assert_eq!(
        none.header("www-authenticate"),
        Some("Bearer realm=\"relayroom\"")
    );
}

#[tokio::test]
async fn access_007_a_body_that_dawdles_and_a_client_that_does_not_read_are_cut_after_fifteen_seconds()
 {
    let relay = Relay::start().await;
    let begun = Instant::now();
    let slow = relay.call("POST", "/api/pager/poll");
    let slow = slow.header("content-type", "application/json");
    let head = slow.header("content-length", "100").bytes();
    let slow = tokio::spawn(async move { raw(relay.address, &head).await });

    // Pipelined calls whose answers nobody takes: the relay's side of the connection fills up.
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let call = relay
        .mcp("web")
        .header("connection", "keep-alive")
        .json(&list);
    let text = String::from_utf8(call.bytes()).unwrap();
    let text = text.replace("connection: close\r\n", "");
    let mut deaf = TcpStream::connect(relay.address).await.unwrap();
    let cut = loop {
        let written =
            tokio::time::timeout(Duration::from_secs(20), deaf.write_all(text.as_bytes()));
        if written.await.expect("the connection is cut").is_err() {
            break begun.elapsed();
        }
    };
    assert!(cut > Duration::from_secs(14), "{cut:?}");
    let reply = slow.await.unwrap();
    assert_eq!((reply.status, reply.reason().as_str()), (400, "malformed"));
    let took = begun.elapsed();
    assert!((15..20).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test]
async fn access_007_a_client_that_asks_before_it_sends_a_body_is_not_made_to_send_it() {
    let relay = Relay::start().await;
    let call = relay
        .mcp("web")
        .bearer("bad")
        .header("expect", "100-continue");
    let head = call.header("content-length", "1000000").bytes();
    let reply = raw(relay.address, &head).await;
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("connection"), Some("close"));
}

#[tokio::test]
async fn access_007_the_connection_too_many_is_told_so() {
    let relay = Relay::start().await;
    let mut held = Vec::new();
    for _ in 0..1024 {
        held.push(TcpStream::connect(relay.address).await.unwrap());
    }
    // All are accepted in order, so this one finds no place.
    let call = relay.call("GET", "/health");
    let reply = call.clone().send().await;
    assert_eq!((reply.status, reply.reason().as_str()), (503, "busy"));
    drop(held);
    let begun = Instant::now();
    while call.clone().send().await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn access_023_case_m12_without_oauth_its_paths_are_like_any_unknown_one() {
    let relay = Relay::start().await;
    let shape = |reply: Reply| {
        let mut body = reply.json();
        body["request_id"] = json!("");
        (reply.status, body)
    };
    let unknown = shape(relay.call("GET", "/nothing").send().await);
    assert_eq!(unknown.0, 404);
    for (method, path) in [
        ("GET", "/.well-known/oauth-authorization-server".to_owned()),
        (
            "GET",
            format!("/.well-known/oauth-authorization-server/mcp/{}", relay.code),
        ),
        ("GET", "/.well-known/oauth-protected-resource".to_owned()),
        (
            "GET",
            format!("/.well-known/oauth-protected-resource/mcp/{}", relay.code),
        ),
        ("POST", "/oauth/register".to_owned()),
        ("POST", "/register".to_owned()),
    ] {
        assert_eq!(
            shape(relay.call(method, &path).send().await),
            unknown,
            "{path}"
        );
    }
    let reply = relay.mcp("web").without("authorization").send().await;
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(!challenge.contains("resource_metadata"), "{challenge}");
}
