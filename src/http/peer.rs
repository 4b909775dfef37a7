//! Who is at the other end of a connection.

use std::net::IpAddr;
use std::net::SocketAddr;

use http::HeaderMap;

/// Both ends of the connection a request came over; in its extensions.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// The other end.
    pub remote: SocketAddr,
    /// Our end.
    pub local: SocketAddr,
}

impl Peer {
    /// Whether the other end is on this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.remote.ip())
    }
}

/// `127.0.0.0/8`, `::1`, `::ffff:127.*`.
#[must_use]
pub fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// The name of a header that shows the request was passed on by a proxy, or written by a page (access.md 3).
#[must_use]
pub fn forwarding_header(headers: &HeaderMap) -> Option<&str> {
    headers.keys().map(http::HeaderName::as_str).find(|name| {
        name.starts_with("x-forwarded-") || matches!(*name, "forwarded" | "x-real-ip" | "via")
    })
}

/// The peer for rates and logs: the last `X-Forwarded-For` entry if a trusted proxy is at the other end (access.md 7).
#[must_use]
pub fn for_rates(remote: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let remote = remote.to_canonical();
    if !trusted.iter().any(|proxy| proxy.to_canonical() == remote) {
        return remote;
    }
    headers
        .get_all("x-forwarded-for")
        .iter()
        .next_back()
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.rsplit(',').next())
        .and_then(|last| last.trim().parse::<IpAddr>().ok())
        .map_or(remote, |client| client.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_trusted_proxy_names_the_peer() {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let client: IpAddr = "192.0.2.7".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.append("x-forwarded-for", "1.1.1.1, 192.0.2.7".parse().unwrap());
        assert_eq!(for_rates(proxy, &headers, &[proxy]), client);
        assert_eq!(for_rates(proxy, &headers, &[]), proxy);
        headers.append("x-forwarded-for", "nonsense".parse().unwrap());
        assert_eq!(for_rates(proxy, &headers, &[proxy]), proxy);
    }

    #[test]
    fn mapped_addresses_are_loopback_too() {
        for (address, yes) in [
            ("127.3.2.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("::ffff:10.0.0.1", false),
            ("0.0.0.0", false),
        ] {
            assert_eq!(is_loopback(address.parse().unwrap()), yes, "{address}");
        }
    }
}
