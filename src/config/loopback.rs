//! Which relays are this machine: a connect code is enough for them, and a token for another machine is never sent there unasked.

/// Whether the URL's host is this machine.
#[must_use]
pub fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return false;
    };
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.to_canonical().is_loopback()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_an_address_not_a_spelling() {
        for url in [
            "http://localhost:1",
            "http://127.9.0.1",
            "http://[::1]:3/x",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "http://relay.example",
            "http://10.0.0.1",
            "http://localhost.example",
            "nonsense",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
