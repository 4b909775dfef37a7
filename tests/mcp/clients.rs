//! A real client library against the relay, in both of its lifecycles: handshake, and without.

use rmcp::model::CallToolRequestParams;
use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use rmcp::service::ClientServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use serde_json::json;

use crate::support::server::Relay;

async fn converse(relay: &Relay, lifecycle: ClientLifecycleMode) {
    // Either this process has a provider already, or it gets this one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let url = format!("http://{}/mcp/{}?part=web", relay.address, relay.code);
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(relay.token("web"));
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = ().serve_with_lifecycle(transport, lifecycle).await.unwrap();

    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), 14);
    let call = async |name: &'static str, arguments: Value| {
        let params =
            CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
        let result = client.call_tool(params).await.unwrap();
        let text = result
            .content
            .last()
            .unwrap()
            .as_text()
            .unwrap()
            .text
            .clone();
        (
            result.is_error == Some(true),
            serde_json::from_str::<Value>(&text).unwrap(),
        )
    };
    let send = json!({"subject": "s", "body": "b", "to": ["api"]});
    let (refused, sent) = call("send", send).await;
    assert!(!refused, "{sent}");
    assert_eq!(sent["recipients"][0]["part"], "api");
    let (refused, refusal) = call("send", json!({"subject": "s"})).await;
    assert!(refused);
    assert_eq!(refusal["error"], "invalid_argument");
    let (_, inbox) = call("inbox", json!({})).await;
    assert_eq!(inbox, json!([]));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_handshake_is_served() {
    let relay = Relay::start().await;
    converse(&relay, ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn case_m09_a_client_without_a_handshake_is_served() {
    let relay = Relay::start().await;
    let newest = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    converse(&relay, newest).await;
}

/// The tools and arguments of the first release, as a client that listed them then goes on calling them (tools.md 3).
async fn calls_of_the_first_release(relay: &Relay) -> Vec<(&'static str, Value)> {
    let send = json!({"subject": "s", "body": "b", "to": ["web"]});
    let first = relay.tool("api", "send", send.clone()).await;
    let second = relay.tool("db", "send", send).await;
    let event = relay.tool("web", "event", json!({"type": "x"})).await;
    let recall = relay.tool("web", "recall", json!({"query": "x"})).await;
    let (thread, unknown) = (&first["threadId"], uuid::Uuid::now_v7().to_string());
    let lesson = json!({"title": "t", "body": "b", "kind": "fact"});
    vec![
        ("whoami", json!({})),
        ("roster", json!({})),
        (
            "inbox",
            json!({"unreadOnly": true, "limit": 5, "before": second["messageId"]}),
        ),
        ("ack", json!({"messageId": second["messageId"]})),
        (
            "show",
            json!({"threadId": thread, "after": first["messageId"]}),
        ),
        (
            "reply",
            json!({"threadId": thread, "body": "b", "urgent": true, "needsHuman": true, "fyi": false,
                "status": "holding", "idempotencyKey": "r"}),
        ),
        (
            "send",
            json!({"subject": "s", "body": "b", "to": ["api"], "tags": ["t"], "urgent": false,
                "needsHuman": true, "fyi": true, "idempotencyKey": "s"}),
        ),
        (
            "event",
            json!({"type": "x", "detail": {"any": 1}, "usage": {"input_tokens": 1, "output_tokens": 1,
                "cache_tokens": 1, "cost_usd": 0.1, "model": "m"}, "parentEventId": event["eventId"],
                "spawnedAgentLabel": "l", "startedAt": "2026-12-01T09:00:00Z",
                "endedAt": "2026-12-01T09:30:00Z"}),
        ),
        (
            "threads",
            json!({"status": "open", "q": "s", "before": second["threadId"]}),
        ),
        (
            "search",
            json!({"query": "s", "limit": 5, "before": second["threadId"]}),
        ),
        ("recall", json!({"query": "x", "kind": "fact", "limit": 5})),
        (
            "learn",
            json!({"title": "t", "body": "b", "kind": "fact", "sourceThreadId": thread}),
        ),
        (
            "recall_used",
            json!({"queryId": recall["queryId"], "knowledgeId": unknown}),
        ),
        ("close", json!({"threadId": thread, "lesson": lesson})),
    ]
}

#[tokio::test]
async fn case_m28_a_client_with_the_list_of_the_first_release_goes_on() {
    let relay = Relay::start().await;
    let calls = calls_of_the_first_release(&relay).await;
    assert_eq!(calls.len(), 14);
    for (tool, arguments) in calls {
        let (blocks, refused) = relay.blocks("web", tool, arguments).await;
        let text = blocks.last().unwrap();
        // Nothing was recalled, so nothing can have been used.
        assert_eq!(refused, tool == "recall_used", "{tool}: {text}");
        assert!(!refused || text.contains("not_returned"), "{text}");
        assert!(!text.contains("\"ignored\""), "{tool}: {text}");
    }
}
