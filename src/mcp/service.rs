//! The tools behind rmcp's streamable HTTP service, stateless and in JSON. What it is handed here is a request of our own making, with
//! the one id and the headers it asks for; everything a client may send differently was settled before (tools.md 2). The arguments go
//! round it: they are read more leniently than a protocol library may.

use std::sync::Arc;
use std::sync::LazyLock;

use bytes::Bytes;
use http::Request;
use http::StatusCode;
use http::header;
use http_body_util::BodyExt;
use http_body_util::Full;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::ServerHandler;
use rmcp::model::CacheScope;
use rmcp::model::CallToolRequestParams;
use rmcp::model::CallToolResponse;
use rmcp::model::CallToolResult;
use rmcp::model::ContentBlock;
use rmcp::model::Implementation;
use rmcp::model::ListToolsResult;
use rmcp::model::MetaObject;
use rmcp::model::PaginatedRequestParams;
use rmcp::model::ServerCapabilities;
use rmcp::model::ServerConfig;
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpServerConfig;
use rmcp::transport::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::answer::Answer;
use super::answer::RpcError;
use super::args::Args;
use super::render::Rendered;
use super::revision::MODERN;
use super::schema;
use super::seat::Seat;
use super::tools;
use super::words;

/// How its answers begin, since we always send this id; the client's own takes its place.
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":0,"#;

static SERVICE: LazyLock<StreamableHttpService<Tools, NeverSessionManager>> = LazyLock::new(|| {
    StreamableHttpService::new(
        || Ok(Tools),
        Arc::default(),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true),
    )
});

/// One call on its way through the service.
struct Call {
    seat: Arc<Seat>,
    revision: &'static str,
    name: String,
    arguments: Value,
}

/// Answers `tools/list`; a cursor is not looked at, since there is one page.
pub(super) async fn list(id: &Value, revision: &'static str) -> Answer {
    pass(id, revision, "tools/list", None).await
}

/// Answers `tools/call`.
pub(super) async fn call(
    seat: Arc<Seat>,
    id: &Value,
    revision: &'static str,
    mut params: Map<String, Value>,
) -> Answer {
    let Some(Value::String(name)) = params.remove("name") else {
        let error = RpcError::new(-32602, "tools/call needs params.name, the name of a tool");
        return Answer::error(StatusCode::OK, id, &error);
    };
    let call = Arc::new(Call {
        seat,
        revision,
        name,
        arguments: params.remove("arguments").unwrap_or_default(),
    });
    pass(id, revision, "tools/call", Some(call)).await
}

/// Hands the service a request and puts the client's id into its answer.
async fn pass(id: &Value, revision: &'static str, method: &str, call: Option<Arc<Call>>) -> Answer {
    match handed(id, revision, method, call).await {
        Some(answer) => answer,
        None => {
            tracing::error!(method, "the protocol library gave no answer");
            let error = RpcError::new(-32603, words::FAULT);
            Answer::error(StatusCode::OK, id, &error)
        }
    }
}

async fn handed(
    id: &Value,
    revision: &'static str,
    method: &str,
    call: Option<Arc<Call>>,
) -> Option<Answer> {
    let mut params = Map::new();
    let mut request = Request::post("/")
        .header(header::HOST, "localhost")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", revision);
    if revision == MODERN {
        params.insert("_meta".into(), meta());
        request = request.header("mcp-method", method);
    }
    if let Some(call) = call {
        params.insert("name".into(), NAME.into());
        request = request.header("mcp-name", NAME).extension(call);
    }
    let body = json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": params}).to_string();
    let response = SERVICE
        .handle(request.body(Full::new(Bytes::from(body))).ok()?)
        .await;
    let status = response.status();
    let bytes = response.into_body().collect().await.ok()?.to_bytes();
    let rest = bytes.strip_prefix(HEAD)?;
    let mut json = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},").into_bytes();
    json.extend_from_slice(rest);
    Some(Answer { status, json })
}

/// The tool's name in requests of our own making: the true one travels with the arguments, and is the client's to choose.
const NAME: &str = "tool";

/// The fields the newest revision asks for.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The handler of the service.
#[derive(Clone)]
struct Tools;

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("relayroom", env!("CARGO_PKG_VERSION")))
            .with_instructions(words::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::with_all_items(schema::tools().to_vec());
        if context
            .protocol_version()
            .is_some_and(|version| version.as_str() == MODERN)
        {
            result.ttl_ms = Some(words::TTL_MS);
            result.cache_scope = Some(CacheScope::Public);
            result.meta = Some(server_meta());
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = context
            .extensions
            .get::<http::request::Parts>()
            .and_then(|parts| parts.extensions.get::<Arc<Call>>())
            .ok_or_else(|| ErrorData::internal_error(words::FAULT, None))?;
        let Some(tool) = schema::find(&call.name) else {
            let shown: String = call.name.chars().take(40).collect();
            return Err(ErrorData::invalid_params(
                format!("Unknown tool: {shown}"),
                None,
            ));
        };
        let rendered = match Args::read(tool, &call.arguments) {
            Ok(args) => tools::call(tool, &call.seat, args).await,
            Err(refusal) => Err(refusal.into()),
        };
        let rendered = Rendered::of(rendered).map_err(|fault| {
            tracing::error!(%fault, tool = tool.name, "a tool failed");
            ErrorData::internal_error(words::FAULT, None)
        })?;
        let blocks = rendered
            .blocks
            .into_iter()
            .map(ContentBlock::text)
            .collect();
        let mut result = CallToolResult::success(blocks);
        result.is_error = rendered.refused.then_some(true);
        if call.revision == MODERN {
            result.meta = Some(server_meta());
        }
        Ok(result.into())
    }
}

fn server_meta() -> MetaObject {
    let mut meta = MetaObject::default();
    meta.insert(words::SERVER_INFO.to_owned(), words::server_info());
    meta
}
