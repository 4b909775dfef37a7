//! Revisions of the protocol (tools.md 2): which are spoken, how a handshake settles on one, and what a request of the newest, which
//! has no handshake, must carry.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::answer::RpcError;

/// The newest, which has no handshake.
pub(super) const MODERN: &str = "2026-07-28";

/// Every revision, oldest first.
pub(super) const ALL: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    MODERN,
];

/// What a handshake that asks for something else is answered.
const NEWEST_BY_HANDSHAKE: &str = "2025-11-25";

/// What a request without a header speaks.
const WITHOUT_HEADER: &str = "2025-03-26";

/// The newest in which several messages may come in one array.
const LAST_WITH_BATCHES: &str = "2025-03-26";

const HEADER: &str = "mcp-protocol-version";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The revision a handshake settles on.
pub(super) fn negotiate(asked: Option<&str>) -> &'static str {
    ALL.into_iter()
        .find(|known| Some(*known) == asked && *known != MODERN)
        .unwrap_or(NEWEST_BY_HANDSHAKE)
}

/// The revision of a request that is no `initialize`.
///
/// # Errors
/// -32022 for a revision we do not speak; for one that names the newest also -32602 and -32020.
pub(super) fn of_request(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<&'static str, RpcError> {
    let header = single(headers, HEADER)?;
    let meta = params.get("_meta").and_then(Value::as_object);
    let in_body = meta
        .and_then(|meta| meta.get(META_VERSION))
        .and_then(Value::as_str);
    if header == Some(MODERN) || in_body == Some(MODERN) {
        let complete = in_body.is_some()
            && meta.is_some_and(|meta| meta.get(META_CAPABILITIES).is_some_and(Value::is_object));
        if !complete {
            return Err(RpcError::new(
                -32602,
                format!("_meta must hold {META_VERSION} and {META_CAPABILITIES}"),
            ));
        }
        check_mirrors(headers, header, in_body, method, params)?;
        return Ok(MODERN);
    }
    match (header, in_body) {
        (None, None) => Ok(WITHOUT_HEADER),
        (Some(asked), _) => known(asked),
        (None, Some(asked)) => {
            known(asked)?;
            Ok(WITHOUT_HEADER)
        }
    }
}

/// The revision an array of messages speaks, which must be one that has arrays.
///
/// # Errors
/// -32022 for a revision we do not speak, -32600 for one without arrays.
pub(super) fn of_batch(headers: &HeaderMap) -> Result<&'static str, RpcError> {
    let revision = single(headers, HEADER)?.map_or(Ok(WITHOUT_HEADER), known)?;
    if revision <= LAST_WITH_BATCHES {
        return Ok(revision);
    }
    Err(RpcError::new(
        -32600,
        format!("revision {revision} has no batches: send one message per request"),
    ))
}

fn known(asked: &str) -> Result<&'static str, RpcError> {
    ALL.into_iter()
        .find(|known| *known == asked)
        .ok_or_else(|| {
            let shown: String = asked.chars().take(40).collect();
            RpcError::new(-32022, "this revision of the protocol is not spoken here")
                .with_data(json!({"supported": ALL, "requested": shown}))
        })
}

/// Headers that repeat what the body says, so that those who pass the request on need not read it. They must agree.
fn check_mirrors(
    headers: &HeaderMap,
    version: Option<&str>,
    in_body: Option<&str>,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), RpcError> {
    if version != in_body {
        return Err(mismatch("MCP-Protocol-Version"));
    }
    if single(headers, "mcp-method")? != Some(method) {
        return Err(mismatch("Mcp-Method"));
    }
    if method == "tools/call" {
        let name = single(headers, "mcp-name")?.and_then(decode);
        if name.as_deref() != params.get("name").and_then(Value::as_str) || name.is_none() {
            return Err(mismatch("Mcp-Name"));
        }
    }
    Ok(())
}

fn mismatch(header: &str) -> RpcError {
    RpcError::new(
        -32020,
        format!("the header {header} is missing or unlike the body"),
    )
}

/// The one value of a header, if there is any.
fn single<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    match (value.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text.trim())),
        _ => Err(RpcError::new(
            -32020,
            format!("the header {name} is doubled or holds more than ASCII"),
        )),
    }
}

/// A header value that may be wrapped as `=?base64?…?=`.
fn decode(value: &str) -> Option<String> {
    let Some(wrapped) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(wrapped).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    fn params(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn meta(version: &str) -> Value {
        json!({META_VERSION: version, META_CAPABILITIES: {}})
    }

    #[test]
    fn tools_015_a_handshake_always_settles() {
        for (asked, settled) in [
            (Some("2024-11-05"), "2024-11-05"),
            (Some("2025-03-26"), "2025-03-26"),
            (Some("2025-11-25"), "2025-11-25"),
            (Some("2020-02-02"), "2025-11-25"),
            (Some("2030-01-01"), "2025-11-25"),
            (Some(MODERN), "2025-11-25"),
            (None, "2025-11-25"),
        ] {
            assert_eq!(negotiate(asked), settled, "{asked:?}");
        }
    }

    #[test]
    fn a_header_names_the_revision_or_is_refused() {
        let of = |pairs: &[(&'static str, &'static str)]| {
            of_request(&headers(pairs), "tools/list", &Map::new()).map_err(|error| error.code)
        };
        assert_eq!(of(&[]), Ok("2025-03-26"));
        assert_eq!(of(&[(HEADER, "2025-06-18")]), Ok("2025-06-18"));
        assert_eq!(of(&[(HEADER, "foobar")]), Err(-32022));
        assert_eq!(of(&[(HEADER, "2099-01-01")]), Err(-32022));
        assert_eq!(
            of(&[(HEADER, "2025-06-18"), (HEADER, "2025-06-18")]),
            Err(-32020)
        );
    }

    #[test]
    fn the_newest_revision_wants_its_fields_and_mirrors() {
        let call = |pairs: &[(&'static str, &'static str)], meta: Value| {
            let params = params(json!({"name": "ack", "_meta": meta}));
            of_request(&headers(pairs), "tools/call", &params).map_err(|error| error.code)
        };
        let version = (HEADER, MODERN);
        let method = ("mcp-method", "tools/call");
        let name = ("mcp-name", "ack");
        assert_eq!(call(&[version, method, name], meta(MODERN)), Ok(MODERN));
        assert_eq!(
            call(
                &[version, method, ("mcp-name", "=?base64?YWNr?=")],
                meta(MODERN)
            ),
            Ok(MODERN)
        );
        for (pairs, meta, code) in [
            (&[version, method, name][..], json!({}), -32602),
            (
                &[version, method, name],
                json!({META_VERSION: MODERN}),
                -32602,
            ),
            (&[method, name], meta(MODERN), -32020),
            (
                &[(HEADER, "2025-11-25"), method, name],
                meta(MODERN),
                -32020,
            ),
            (&[version, method, name], meta("2099-01-01"), -32020),
            (&[version, name], meta(MODERN), -32020),
            (
                &[version, ("mcp-method", "tools/list"), name],
                meta(MODERN),
                -32020,
            ),
            (&[version, method], meta(MODERN), -32020),
            (
                &[version, method, ("mcp-name", "send")],
                meta(MODERN),
                -32020,
            ),
            (
                &[(HEADER, "2099-01-01"), method, name],
                meta("2099-01-01"),
                -32022,
            ),
            (&[method, name], meta("2099-01-01"), -32022),
        ] {
            assert_eq!(call(pairs, meta.clone()), Err(code), "{pairs:?} {meta}");
        }
    }

    #[test]
    fn arrays_are_for_the_old_revisions() {
        let of = |pairs: &[(&'static str, &'static str)]| {
            of_batch(&headers(pairs)).map_err(|error| error.code)
        };
        assert_eq!(of(&[]), Ok("2025-03-26"));
        assert_eq!(of(&[(HEADER, "2024-11-05")]), Ok("2024-11-05"));
        assert_eq!(of(&[(HEADER, "2025-06-18")]), Err(-32600));
        assert_eq!(of(&[(HEADER, MODERN)]), Err(-32600));
        assert_eq!(of(&[(HEADER, "foobar")]), Err(-32022));
    }
}
