//! Revisions of the protocol and the messages that are no tool call (tools.md 2; cases M01–M05, M08, M09).

use serde_json::Value;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::code;
use super::whoami;
use crate::support::http::Call;
use crate::support::server::Relay;

const MODERN: &str = "2026-07-28";
const INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A call of the newest revision.
fn modern(relay: &Relay, method: &str, mut params: Value) -> Call {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "new", "version": "1"},
    });
    let mut call = relay
        .mcp("web")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", method);
    if let Some(name) = params["name"].as_str() {
        call = call.header("mcp-name", name);
    }
    call.json(&relay.rpc(method, params))
}

fn initialize(relay: &Relay, version: Value) -> Value {
    let client = json!({"name": "x", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    relay.rpc("initialize", params)
}

#[tokio::test]
async fn tools_010_case_m02_ids_of_any_kind_come_back_and_sessions_are_ignored() {
    let relay = Relay::start().await;
    for id in [
        json!("a\"b"),
        json!(0),
        json!(-5),
        json!(1.5),
        json!(u64::MAX),
    ] {
        let mut body = whoami();
        body["id"] = id.clone();
        let call = relay.mcp("web").header("mcp-session-id", "of another life");
        let reply = call.json(&body).send().await;
        assert_eq!(reply.json()["id"], id);
        assert!(
            reply.json()["result"]["content"].is_array(),
            "{}",
            reply.body
        );
    }
}

#[tokio::test]
async fn tools_015_case_m08_initialize_always_negotiates() {
    let relay = Relay::start().await;
    for (asked, settled) in [
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2020-02-02"), "2025-11-25"),
        (json!("2030-01-01"), "2025-11-25"),
        (json!(MODERN), "2025-11-25"),
        (json!(null), "2025-11-25"),
    ] {
        let call = relay.mcp("web").header("mcp-protocol-version", "foobar");
        let reply = call.json(&initialize(&relay, asked.clone())).send().await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("mcp-session-id"), None);
        let result = &reply.json()["result"];
        assert_eq!(result["protocolVersion"], settled, "{asked}");
        assert_eq!(result["capabilities"], json!({"tools": {}}));
        let info = json!({"name": "relayroom", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(result["serverInfo"], info);
        assert!(result["instructions"].as_str().unwrap().len() <= 600);
    }
}

#[tokio::test]
async fn tools_016_an_unknown_revision_is_refused_with_the_known_ones() {
    let relay = Relay::start().await;
    let list = relay.rpc("tools/list", json!({}));
    let call = relay.mcp("web").header("mcp-protocol-version", "foobar");
    let reply = call.json(&list).send().await;
    assert_eq!(code(&reply), (400, -32022));
    let data = &reply.json()["error"]["data"];
    assert_eq!(data["requested"], "foobar");
    let known = [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        MODERN,
    ];
    assert_eq!(data["supported"], json!(known));
    assert_eq!(relay.mcp("web").json(&list).send().await.status, 200);
}

#[tokio::test]
async fn tools_017_case_m09_the_newest_revision_and_the_handshake_share_one_url() {
    let relay = Relay::start().await;
    let reply = modern(&relay, "server/discover", json!({})).send().await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert_eq!(reply.header("mcp-session-id"), None);
    let result = reply.json()["result"].clone();
    assert_eq!(result["supportedVersions"].as_array().unwrap().len(), 5);
    let hints = |result: &Value| {
        let name = result["_meta"][INFO]["name"].clone();
        let fields = ["resultType", "ttlMs", "cacheScope"].map(|field| result[field].clone());
        (fields, name)
    };
    let expected = (
        [json!("complete"), json!(300_000), json!("public")],
        json!("relayroom"),
    );
    assert_eq!(hints(&result), expected);
    let bare = relay
        .mcp("web")
        .json(&relay.rpc("server/discover", json!({})));
    assert_eq!(bare.send().await.json()["result"], result);

    let list = modern(&relay, "tools/list", json!({})).send().await.json();
    assert_eq!(hints(&list["result"]), expected);
    assert_eq!(list["result"].get("nextCursor"), None);

    let reply = modern(&relay, "tools/call", json!({"name": "whoami"}))
        .send()
        .await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let result = reply.json()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"][INFO]["name"], "relayroom");
    assert_eq!(result.get("structuredContent"), None);

    let hello = initialize(&relay, json!("2025-06-18"));
    let reply = relay.mcp("web").json(&hello).send().await;
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn tools_018_headers_of_the_newest_revision_must_match_the_body() {
    let relay = Relay::start().await;
    let unlike = modern(&relay, "tools/call", json!({"name": "ack"})).header("mcp-name", "send");
    assert_eq!(code(&unlike.send().await), (400, -32020));
    let unknown = modern(&relay, "foo/bar", json!({})).send().await;
    assert_eq!(code(&unknown), (404, -32601));
    for method in [
        "foo/bar",
        "resources/list",
        "prompts/list",
        "subscriptions/listen",
    ] {
        let call = relay.mcp("web").json(&relay.rpc(method, json!({})));
        assert_eq!(code(&call.send().await), (200, -32601), "{method}");
    }
    let ping = modern(&relay, "ping", json!({})).send().await;
    assert_eq!(code(&ping), (404, -32601));
    let missing = relay.mcp("web").header("mcp-protocol-version", MODERN);
    let missing = missing.json(&relay.rpc("tools/list", json!({})));
    assert_eq!(code(&missing.send().await), (400, -32602));
}

#[tokio::test]
async fn tools_019_notifications_are_accepted_and_old_revisions_have_batches() {
    let relay = Relay::start().await;
    let silent = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let stray = json!({"jsonrpc": "2.0", "id": 9, "result": {}});
    for quiet in [&silent, &stray, &json!([silent, stray])] {
        let reply = relay.mcp("web").json(quiet).send().await;
        assert_eq!((reply.status, reply.body.as_str()), (202, ""), "{quiet}");
    }
    let ping = || relay.rpc("ping", json!({}));
    let batch = json!([ping(), silent, ping(), "x"]);
    let reply = relay.mcp("web").json(&batch).send().await;
    let answers = reply.json();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(
        answers[0],
        json!({"jsonrpc": "2.0", "id": batch[0]["id"], "result": {}})
    );
    assert_eq!(answers[1]["id"], batch[2]["id"]);
    assert_eq!(answers[2]["error"]["code"], -32600);
    let newer = relay
        .mcp("web")
        .header("mcp-protocol-version", "2025-06-18");
    assert_eq!(code(&newer.json(&batch).send().await), (400, -32600));
    for bad in [json!([]), json!(vec![silent.clone(); 17])] {
        let reply = relay.mcp("web").json(&bad).send().await;
        assert_eq!(code(&reply), (400, -32600));
    }
}

#[tokio::test]
async fn tools_023_an_unknown_tool_is_an_error_of_the_protocol() {
    let relay = Relay::start().await;
    let call = |params: Value| {
        let body = relay.rpc("tools/call", params);
        relay.mcp("web").json(&body).send()
    };
    let reply = call(json!({"name": "sned", "arguments": {}})).await;
    assert_eq!(code(&reply), (200, -32602));
    assert_eq!(reply.json()["error"]["message"], "Unknown tool: sned");
    assert_eq!(code(&call(json!({})).await), (200, -32602));
    let reply = modern(&relay, "tools/call", json!({"name": "sned"}))
        .send()
        .await;
    assert_eq!(code(&reply), (200, -32602));
}

#[tokio::test]
async fn case_m03_case_m04_thousands_of_handshakes_leave_nothing_behind() {
    let relay = Relay::start().await;
    let hello = relay
        .mcp("web")
        .json(&initialize(&relay, json!("2025-11-25")));
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/statm").unwrap();
        status.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    for _ in 0..200 {
        assert_eq!(hello.clone().send().await.status, 200);
    }
    let before = resident();
    for _ in 0..2_000 {
        assert_eq!(hello.clone().send().await.status, 200);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 8 << 20, "{grown} bytes");
}

#[tokio::test]
async fn case_m05_a_dropped_stream_takes_nothing_with_it() {
    let relay = Relay::start().await;
    let hello = initialize(&relay, json!("2025-06-18"));
    assert_eq!(relay.mcp("web").json(&hello).send().await.status, 200);
    // A stream asked for, and a call whose answer nobody waits for: both are cut.
    let stream = relay.mcp("web").header("accept", "text/event-stream");
    let path = format!("/mcp/{}?part=web", relay.code);
    let get = relay.call("GET", &path).bearer(relay.token("web"));
    let send = json!({"subject": "s", "body": "b", "to": ["db"]});
    let call = relay.rpc("tools/call", json!({"name": "send", "arguments": send}));
    for cut in [get, stream.json(&call)] {
        let mut connection = TcpStream::connect(relay.address).await.unwrap();
        connection.write_all(&cut.bytes()).await.unwrap();
        drop(connection);
    }
    for _ in 0..2 {
        assert_eq!(relay.mcp("web").json(&whoami()).send().await.status, 200);
    }
}
