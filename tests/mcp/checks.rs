//! The checks of tools.md 2 in their order, with their reasons (cases M06, M07, M11, M14, M19, M20).

use relayroom::identity::part;
use relayroom::identity::project;
use serde_json::Value;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::code;
use super::refused;
use super::whoami;
use crate::support::http::Reply;
use crate::support::server::Relay;
use crate::support::server::now;

#[tokio::test]
async fn tools_001_host_is_checked_before_the_token() {
    let relay = Relay::start().await;
    let evil = relay
        .mcp("web")
        .bearer("bad")
        .header("host", "evil.example");
    assert_eq!(refused(&evil.send().await), (403, "host".into()));
    for host in ["LOCALHOST:48801", "[::1]:48801"] {
        let call = relay.mcp("web").header("host", host);
        assert_eq!(call.json(&whoami()).send().await.status, 200, "{host}");
    }
    let none = relay.mcp("web").without("host");
    assert_eq!(refused(&none.send().await), (400, "host".into()));
}

#[tokio::test]
async fn tools_002_case_m11_pages_of_other_origins_are_refused() {
    let relay = Relay::start().await;
    for origin in ["https://evil.example", "null"] {
        let call = relay.mcp("web").header("origin", origin);
        let reply = call.json(&whoami()).send().await;
        assert_eq!(refused(&reply), (403, "origin".into()), "{origin}");
    }
    let call = relay.mcp("web").header("origin", "http://localhost:3000");
    assert_eq!(call.json(&whoami()).send().await.status, 200);
}

#[tokio::test]
async fn tools_003_case_m06_there_is_no_stream_and_delete_does_nothing() {
    let relay = Relay::start().await;
    let path = format!("/mcp/{}?part=web", relay.code);
    for method in ["GET", "PUT", "HEAD"] {
        for token in ["", relay.token("web")] {
            let reply = relay.call(method, &path).bearer(token).send().await;
            assert_eq!(reply.status, 405, "{method}");
            assert_eq!(reply.header("allow"), Some("POST, DELETE"));
            assert_eq!(reply.header("www-authenticate"), None);
        }
    }
    let delete = relay.call("DELETE", &path).header("mcp-session-id", "dead");
    let reply = delete.send().await;
    assert_eq!((reply.status, reply.body.as_str()), (204, ""));
    let call = relay.mcp("web").header("mcp-session-id", "dead");
    let reply = call.json(&whoami()).send().await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("mcp-session-id"), None);
}

#[tokio::test]
async fn tools_004_case_m14_bad_tokens_are_told_apart_and_never_repeated() {
    let relay = Relay::start().await;
    for (value, reason) in [
        (None, "token_missing"),
        (Some("Basic dXNlcg=="), "token_missing"),
        (Some("Bearer "), "token_empty"),
        (Some("Bearer ${RR_TOKEN}"), "token_unexpanded"),
        (Some("Bearer rrt_secretsecret"), "token_unknown"),
    ] {
        let mut call = relay.mcp("web").without("authorization");
        if let Some(value) = value {
            call = call.header("authorization", value);
        }
        let reply = call.json(&whoami()).send().await;
        assert_eq!(refused(&reply), (401, reason.into()), "{value:?}");
        assert!(!reply.body.contains("secretsecret"));
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(
            challenge.starts_with("Bearer realm=\"relayroom\""),
            "{challenge}"
        );
    }
    let good = format!("bearer   {} ", relay.token("web"));
    let call = relay.mcp("web").header("authorization", &good);
    assert_eq!(call.json(&whoami()).send().await.status, 200);
}

#[tokio::test]
async fn tools_005_a_bad_token_comes_before_a_bad_code() {
    let relay = Relay::start().await;
    let at = |code: &str, token: &str| {
        let call = relay.call("POST", &format!("/mcp/{code}?part=web"));
        call.bearer(token).json(&whoami()).send()
    };
    let web = relay.token("web");
    let unknown = at("nothing", "rrt_x").await;
    assert_eq!(refused(&unknown), (401, "token_unknown".into()));
    assert_eq!(refused(&at("nothing", web).await), (404, "code".into()));
    let shop = relay.shop;
    for (archived, expected) in [(true, 404), (false, 200)] {
        relay
            .write(move |tx| project::set_archived(tx, shop, archived, now()))
            .await;
        let reply = at(&relay.code, web).await;
        assert_eq!(reply.status, expected);
        assert_eq!(reply.header("www-authenticate"), None);
    }
}

#[tokio::test]
async fn tools_006_access_006_a_token_acts_for_its_own_part_only() {
    let relay = Relay::start().await;
    let used = "SELECT count(*) FROM token WHERE kind = 'agent' AND last_used_at IS NOT NULL";
    let path = format!("/mcp/{}?part=api", relay.code);
    let call = relay.call("POST", &path).bearer(relay.token("web"));
    let reply = call.json(&whoami()).send().await;
    assert_eq!(refused(&reply), (403, "other_part".into()));
    assert_eq!(relay.count(used).await, 0);
    assert_eq!(relay.app.heard.take_dirty(), []);

    let bare = relay.call("POST", &format!("/mcp/{}", relay.code));
    let bare = bare.bearer(relay.token("web")).json(&whoami());
    let reply = bare.send().await.json();
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"part\":\"web\""), "{text}");
    assert_eq!(relay.app.heard.take_dirty().len(), 1);
    // The use is posted, not waited for; any later write stands behind it.
    relay.write(|_| Ok(())).await;
    assert_eq!(relay.count(used).await, 1);
}

#[tokio::test]
async fn tools_007_a_part_has_a_grammar() {
    let relay = Relay::start().await;
    let long = "a".repeat(33);
    for part in ["../x", &long, "-x", "human", "", "web&part=web", "w%20b"] {
        let path = format!("/mcp/{}?part={part}", relay.code);
        let call = relay.call("POST", &path).bearer(relay.token("web"));
        let reply = call.json(&whoami()).send().await;
        assert_eq!(refused(&reply), (400, "part".into()), "{part}");
    }
    let token = relay.agent_token("a-b_c9").await;
    let path = format!("/mcp/{}?part=a%2Db_c9", relay.code);
    let call = relay.call("POST", &path).bearer(&token);
    assert_eq!(call.json(&whoami()).send().await.status, 200);
}

#[tokio::test]
async fn tools_008_access_009_only_a_call_that_passes_every_check_begins_a_part() {
    let relay = Relay::start().await;
    let token = relay.agent_token("ops").await;
    let path = format!("/mcp/{}?part=ops", relay.code);
    let call = relay.call("POST", &path).bearer(&token);
    let json = call.clone().header("content-type", "application/json");
    let parts = "SELECT count(*) FROM part";
    for (call, status) in [
        (json.clone().body("\"x\""), 400),
        (json.clone().body("{bad"), 400),
        (
            call.clone().header("content-type", "text/plain").body("{}"),
            415,
        ),
        (json.clone().header("accept", "text/html").body("{}"), 406),
        (json.body(" ".repeat((1 << 20) + 1)), 413),
    ] {
        assert_eq!(call.send().await.status, status);
        assert_eq!(relay.count(parts).await, 3);
    }
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(call.json(&list).send().await.status, 200);
    assert_eq!(relay.count(parts).await, 4);

    let send = json!({"subject": "s", "body": "b", "to": ["ops2"]});
    let refusal = relay.refusal("web", "send", send).await;
    assert_eq!(refusal["error"], "bad_recipients");
    let roster = relay.tool("web", "roster", json!({})).await;
    let rows = roster.as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["part"]).collect();
    assert_eq!(names, ["api", "db", "ops", "web"]);
}

#[tokio::test]
async fn tools_009_access_022_a_deleted_part_stays_deleted() {
    let relay = Relay::start().await;
    let shop = relay.shop;
    relay
        .write(move |tx| {
            let web = part::by_slug(tx, shop, "web")?.unwrap();
            part::delete(tx, web.seq, now())
        })
        .await;
    for _ in 0..5 {
        let reply = relay.mcp("web").json(&whoami()).send().await;
        assert_eq!(refused(&reply), (403, "part_deleted".into()));
    }
    let live = "SELECT count(*) FROM part WHERE deleted_at IS NULL";
    assert_eq!(relay.count(live).await, 2);
}

#[tokio::test]
async fn tools_011_case_m19_both_spellings_are_one_endpoint() {
    let relay = Relay::start().await;
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    let mut bodies = Vec::new();
    for end in ["", "/"] {
        let call = relay.call("POST", &format!("/mcp/{}{end}", relay.code));
        let reply = call.bearer(relay.token("web")).json(&list).send().await;
        assert_eq!(reply.status, 200);
        bodies.push(reply.body);
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn tools_012_case_m07_case_m30_the_answer_has_the_form_that_was_asked_for() {
    let relay = Relay::start().await;
    for accept in [
        Some("application/json"),
        Some("*/*"),
        Some("text/event-stream, application/json;q=0.9"),
        None,
    ] {
        let mut call = relay.mcp("web").without("accept");
        if let Some(accept) = accept {
            call = call.header("accept", accept);
        }
        let reply = call.json(&whoami()).send().await;
        assert_eq!(
            reply.header("content-type"),
            Some("application/json"),
            "{accept:?}"
        );
        assert_eq!(reply.json()["id"], 1);
    }
    let stream = relay.mcp("web").header("accept", "text/event-stream");
    let reply = stream.json(&whoami()).send().await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream"));
    let event = reply.body.strip_prefix("event: message\ndata: ").unwrap();
    let event = event.strip_suffix("\n\n").unwrap();
    let object: Value = serde_json::from_str(event).unwrap();
    assert_eq!(object["id"], 1);
    let html = relay.mcp("web").header("accept", "text/html");
    assert_eq!(
        refused(&html.json(&whoami()).send().await),
        (406, "accept".into())
    );
}

#[tokio::test]
async fn tools_013_what_is_no_message_is_told_apart() {
    let relay = Relay::start().await;
    let text = relay
        .mcp("web")
        .header("content-type", "text/plain")
        .body("{}");
    assert_eq!(refused(&text.send().await), (415, "content_type".into()));
    for (body, expected) in [
        ("{bad", -32700),
        ("", -32700),
        ("\"x\"", -32600),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
            -32600,
        ),
    ] {
        let reply = relay.mcp("web").body(body).send().await;
        assert_eq!(code(&reply), (400, expected), "{body}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
    }
    let marked = relay
        .mcp("web")
        .header("content-type", "Application/JSON; charset=utf-8")
        .body(format!("\u{feff}{}", whoami()));
    assert_eq!(marked.send().await.status, 200);
}

#[tokio::test]
async fn tools_014_case_m20_one_mebibyte_is_read_and_one_byte_more_is_not() {
    let relay = Relay::start().await;
    let call = whoami().to_string();
    let padded = |size: usize| format!("{call}{}", " ".repeat(size - call.len()));
    let full = relay.mcp("web").body(padded(1 << 20));
    assert_eq!(full.send().await.status, 200);
    let over = relay.mcp("web").body(padded((1 << 20) + 1)).send().await;
    assert_eq!(refused(&over), (413, "too_large".into()));
    assert!(over.body.contains("1048576 bytes"), "{}", over.body);
    let big = json!({"subject": "s", "to": ["db"], "body": "x".repeat(10 << 20)});
    let params = json!({"name": "send", "arguments": big});
    let reply = relay
        .mcp("web")
        .json(&relay.rpc("tools/call", params))
        .send()
        .await;
    assert_eq!(refused(&reply), (413, "too_large".into()));
    assert_eq!(relay.count("SELECT count(*) FROM message").await, 0);
}

#[tokio::test]
async fn tools_014_case_m20_a_stream_without_end_is_cut_off() {
    let relay = Relay::start().await;
    let head = relay
        .mcp("web")
        .header("transfer-encoding", "chunked")
        .bytes();
    let stream = TcpStream::connect(relay.address).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    writer.write_all(&head).await.unwrap();
    let pouring = tokio::spawn(async move {
        let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
        let mut sent = 0_u64;
        while sent < 1 << 30 && writer.write_all(&chunk).await.is_ok() {
            sent += 0x10000;
        }
        sent
    });
    let mut answer = vec![0; 4096];
    let read = reader.read(&mut answer).await.unwrap();
    let reply = Reply::parse(&answer[..read]);
    assert_eq!(reply.status, 413, "{}", reply.body);
    assert!(reply.body.contains("1048576"));
    let sent = pouring.await.unwrap();
    assert!(sent < 100 << 20, "{sent} bytes were taken");
}

#[tokio::test]
async fn access_008_access_015_other_credentials_do_not_open_mcp() {
    let relay = Relay::start().await;
    let pager = relay.pager_token().await;
    let reply = relay.mcp("web").bearer(&pager).json(&whoami()).send().await;
    assert_eq!(refused(&reply), (401, "token_unknown".into()));
    assert!(reply.body.contains("pager"), "{}", reply.body);
    let code_alone = relay.mcp("web").without("authorization");
    let reply = code_alone.json(&whoami()).send().await;
    assert_eq!(refused(&reply), (401, "token_missing".into()));
}

#[tokio::test]
async fn access_010_a_rotated_code_is_gone_and_the_token_works_at_the_new_one() {
    let relay = Relay::start().await;
    let shop = relay.shop;
    let fresh = relay.write(move |tx| project::rotate_code(tx, shop)).await;
    let old = relay.mcp("web").json(&whoami()).send().await;
    assert_eq!(refused(&old), (404, "code".into()));
    let call = relay.call("POST", &format!("/mcp/{fresh}?part=web"));
    let new = call.bearer(relay.token("web")).json(&whoami());
    assert_eq!(new.send().await.status, 200);
}
