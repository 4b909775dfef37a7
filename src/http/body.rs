//! Request bodies: counted while they arrive, so that neither a wrong `Content-Length` nor a stream without end costs memory
//! (access.md 7).

use std::time::Duration;

use axum::body::Body;
use axum::body::HttpBody;
use bytes::Bytes;
use bytes::BytesMut;
use http::HeaderMap;
use http::StatusCode;
use http::header;

use http_body_util::BodyExt;

use super::failure::Failure;

/// Largest body of `/mcp` and `/api/usage`, in bytes.
pub const LARGE: usize = 1 << 20;

/// Largest body of any other route, in bytes.
pub const SMALL: usize = 256 << 10;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(15);

/// Reads a whole body of at most `limit` bytes.
///
/// # Errors
/// 413 as soon as it is over the limit, by its declared length or by what arrived; 400 if it breaks off or takes longer than 15 s.
pub async fn read(body: Body, limit: usize) -> Result<Bytes, Failure> {
    let declared = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if declared > limit {
        return Err(too_large(limit));
    }
    tokio::time::timeout(ARRIVAL, collect(body, limit, declared))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::bad_request(
                "malformed",
                "the body did not arrive within 15 seconds",
                "send the same request again",
            ))
        })
}

async fn collect(mut body: Body, limit: usize, declared: usize) -> Result<Bytes, Failure> {
    let mut whole = BytesMut::with_capacity(declared);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| {
            Failure::bad_request(
                "malformed",
                "the body broke off",
                "send the same request again",
            )
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - whole.len() {
            return Err(too_large(limit));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

fn too_large(limit: usize) -> Failure {
    Failure::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        format!("the body is over {limit} bytes"),
        format!("send at most {limit} bytes"),
    )
}

/// Checks that the body is said to be JSON; parameters are allowed.
///
/// # Errors
/// 415 for any other type, or none.
pub fn require_json(headers: &HeaderMap) -> Result<(), Failure> {
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    if is_json {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "content_type",
        "the body is not said to be JSON",
        "send the header Content-Type: application/json",
    ))
}
