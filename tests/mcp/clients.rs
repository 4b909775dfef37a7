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
