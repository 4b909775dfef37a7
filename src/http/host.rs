//! `Host` and `Origin` (access.md 7): which names the relay answers to, and which pages may call it. Without this a page in the
//! person's browser could reach a relay on loopback under a name of its own (DNS rebinding).

use std::net::IpAddr;
use std::net::SocketAddr;

use http::HeaderMap;
use http::Request;
use http::header;
use http::uri::Authority;

use super::failure::Failure;
use super::peer;
use super::settings::Settings;

/// A `Host` value as it is compared: lower case, without port, final dot and brackets. `None` if it is no host.
#[must_use]
pub fn name(host: &str) -> Option<String> {
    let authority: Authority = host.parse().ok()?;
    let text = authority.as_str();
    if text.contains('@') {
        return None;
    }
    let bare = authority
        .host()
        .trim_start_matches('[')
        .trim_end_matches(']');
    let bare = bare.strip_suffix('.').unwrap_or(bare);
    (!bare.is_empty()).then(|| bare.to_ascii_lowercase())
}

/// Whether the name is one of this machine only.
#[must_use]
pub fn is_loopback(name: &str) -> bool {
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(peer::is_loopback)
}

/// Checks the one `Host` of a request and returns its name.
///
/// # Errors
/// 400 without one or with two, 403 for a name that is not ours.
pub fn check<B>(
    request: &Request<B>,
    settings: &Settings,
    listening: &[SocketAddr],
    local: SocketAddr,
) -> Result<String, Failure> {
    let mut values = request.headers().get_all(header::HOST).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return Err(Failure::bad_request(
            "host",
            "the request has not exactly one Host header",
            "send one Host header with the address of the relay",
        ));
    };
    let name = value.to_str().ok().and_then(name).ok_or_else(|| {
        Failure::bad_request(
            "host",
            "the Host header holds no host",
            "send the address of the relay",
        )
    })?;
    // An address in the request line overrides the header, so they must agree.
    let line = request
        .uri()
        .authority()
        .map(|line| self::name(line.as_str()));
    if line.is_some_and(|line| line.as_deref() != Some(name.as_str())) {
        return Err(Failure::bad_request(
            "host",
            "the request line and the Host header name different hosts",
            "send the path alone in the request line",
        ));
    }
    if is_loopback(&name) || is_listened_on(&name, listening, local) {
        return Ok(name);
    }
    if settings.public_host.as_ref() == Some(&name) || settings.allowed_hosts.contains(&name) {
        return Ok(name);
    }
    Err(Failure::forbidden(
        "host",
        "the relay does not answer to the name in the Host header",
        "add the name to allowed_hosts in the relay's config.toml, or use http://localhost",
    ))
}

/// Whether the name is an address the relay listens on; under a wildcard, the one this connection arrived on.
fn is_listened_on(name: &str, listening: &[SocketAddr], local: SocketAddr) -> bool {
    let Ok(address) = name.parse::<IpAddr>() else {
        return false;
    };
    let address = address.to_canonical();
    listening.iter().any(|listener| {
        let ip = listener.ip().to_canonical();
        ip == address || (ip.is_unspecified() && local.ip().to_canonical() == address)
    })
}

/// Checks the `Origin` of a request, if it has one.
///
/// # Errors
/// 403 for `null`, for two, and for an origin that may not call this path.
pub fn check_origin(headers: &HeaderMap, path: &str, settings: &Settings) -> Result<(), Failure> {
    let mut values = headers.get_all(header::ORIGIN).iter();
    let Some(value) = values.next() else {
        return Ok(());
    };
    let refused = || {
        Failure::forbidden(
            "origin",
            "the page that sent this request may not call the relay",
            "add its origin to allowed_origins in the relay's config.toml, or call without an Origin header",
        )
    };
    let origin = value
        .to_str()
        .map_err(|_| refused())?
        .trim()
        .to_ascii_lowercase();
    let (scheme, authority) = origin.split_once("://").ok_or_else(refused)?;
    if values.next().is_some() || !matches!(scheme, "http" | "https") {
        return Err(refused());
    }
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let own = authority.eq_ignore_ascii_case(host.trim())
        || settings
            .public_url
            .as_deref()
            .is_some_and(|url| url.eq_ignore_ascii_case(&origin));
    let shared = path.starts_with("/mcp/") || path.starts_with("/api/");
    let allowed = own
        || (shared
            && (settings.allowed_origins.contains(&origin)
                || name(authority).is_some_and(|name| is_loopback(&name))));
    if allowed { Ok(()) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::StatusCode;

    use super::*;

    fn at(address: &str) -> SocketAddr {
        address.parse().unwrap()
    }

    fn status(host: &str, settings: &Settings, listening: &str, local: &str) -> Option<StatusCode> {
        let request = Request::get("/").header("host", host).body(()).unwrap();
        check(&request, settings, &[at(listening)], at(local))
            .err()
            .map(|failure| failure.status)
    }

    #[test]
    fn access_003_names_are_compared_without_case_port_and_dot() {
        let settings = Settings {
            public_host: Some("relay.example".into()),
            allowed_hosts: vec!["box.local".into()],
            ..Settings::default()
        };
        let refused = Some(StatusCode::FORBIDDEN);
        let malformed = Some(StatusCode::BAD_REQUEST);
        for (host, expected) in [
            ("[::1]:48801", None),
            ("LOCALHOST:8080", None),
            ("127.0.0.1.", None),
            ("127.9.9.9", None),
            ("[::ffff:127.0.0.1]", None),
            ("Relay.Example:443", None),
            ("box.local", None),
            ("evil.example", refused),
            ("localhost.evil.example", refused),
            ("192.168.1.5", refused),
            ("", malformed),
            ("a b", malformed),
            ("me@localhost", malformed),
        ] {
            assert_eq!(
                status(host, &settings, "127.0.0.1:48801", "127.0.0.1:48801"),
                expected,
                "{host:?}"
            );
        }
    }

    #[test]
    fn a_wildcard_listener_answers_to_the_address_it_was_reached_on() {
        let none = Settings::default();
        let reached = "192.168.1.5:48801";
        assert_eq!(
            status("192.168.1.5:48801", &none, "0.0.0.0:48801", reached),
            None
        );
        assert_eq!(
            status("192.168.1.6:48801", &none, "0.0.0.0:48801", reached),
            Some(StatusCode::FORBIDDEN)
        );
        assert_eq!(
            status("10.0.0.7", &none, "10.0.0.7:80", "10.0.0.7:80"),
            None
        );
    }

    #[test]
    fn host_missing_doubled_or_contradicted_is_malformed() {
        let none = Settings::default();
        let here = at("127.0.0.1:1");
        for request in [
            Request::get("/"),
            Request::get("/")
                .header("host", "localhost")
                .header("host", "localhost"),
            Request::get("http://evil.example/").header("host", "localhost"),
        ] {
            let refused = check(&request.body(()).unwrap(), &none, &[here], here).unwrap_err();
            assert_eq!(refused.status, StatusCode::BAD_REQUEST);
        }
    }

    #[test]
    fn origins_are_the_requests_own_or_allowed_ones() {
        let settings = Settings {
            public_url: Some("https://relay.example".into()),
            allowed_origins: vec!["https://app.example".into()],
            ..Settings::default()
        };
        for (origin, path, passes) in [
            ("http://127.0.0.1:48801", "/settings", true),
            ("https://relay.example", "/settings", true),
            ("http://localhost:3000", "/settings", false),
            ("http://localhost:3000", "/mcp/x", true),
            ("http://[::1]:9", "/api/usage", true),
            ("https://app.example", "/mcp/x", true),
            ("https://app.example", "/settings", false),
            ("https://evil.example", "/mcp/x", false),
            ("http://localhost.evil.example", "/mcp/x", false),
            ("null", "/mcp/x", false),
            ("file://", "/mcp/x", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:48801"));
            headers.insert(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
            assert_eq!(
                check_origin(&headers, path, &settings).is_ok(),
                passes,
                "{origin} on {path}"
            );
        }
    }
}
