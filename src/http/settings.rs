//! What a person sets about the door (access.md 8), read once at start.

use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;

use super::host;
use crate::activity::price::Prices;
use crate::config;

/// Settings of access.md 8 but the addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The address people and agents elsewhere use, without a final slash.
    pub public_url: Option<String>,
    /// Host of that address, as [`host::name`] reads it.
    pub public_host: Option<String>,
    /// Further host names the relay answers to, as [`host::name`] reads them.
    pub allowed_hosts: Vec<String>,
    /// Further origins that may call `/mcp` and `/api`: `https://app.example`, lower case.
    pub allowed_origins: Vec<String>,
    /// Proxies whose last `X-Forwarded-For` entry is the peer for rates and logs.
    pub trusted_proxies: Vec<IpAddr>,
    /// What tokens cost, by the table in force (usage.md 9).
    pub prices: Arc<Prices>,
}

impl Settings {
    /// Reads them from the person's settings file.
    ///
    /// # Errors
    /// The name of a setting with what is wrong with its value.
    pub fn read(file: &config::File) -> Result<Self, String> {
        let mut settings = Self::default();
        if let Some(url) = &file.public_url {
            let host = public_host(url).ok_or_else(|| {
                format!(
                    "public_url = {url:?} is no http or https address without path, query and user"
                )
            })?;
            settings.public_url = Some(url.trim_end_matches('/').to_owned());
            settings.public_host = Some(host);
        }
        for text in &file.allowed_hosts {
            let name = host::name(text)
                .ok_or_else(|| format!("allowed_hosts: {text:?} is no host name or address"))?;
            settings.allowed_hosts.push(name);
        }
        for text in &file.allowed_origins {
            if public_host(text).is_none() {
                return Err(format!(
                    "allowed_origins: {text:?} is no origin such as https://app.example"
                ));
            }
            settings
                .allowed_origins
                .push(text.trim_end_matches('/').to_ascii_lowercase());
        }
        for text in &file.trusted_proxies {
            let address = text
                .parse()
                .map_err(|_| format!("trusted_proxies: {text:?} is no IP address"))?;
            settings.trusted_proxies.push(address);
        }
        match file.prices.as_deref() {
            None => {}
            Some("off") => settings.prices = Arc::new(Prices::off()),
            Some(other) => return Err(format!("prices = {other:?} is not \"off\"")),
        }
        Ok(settings)
    }

    /// Whether clients elsewhere come over https: then pages say so to browsers.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url
            .as_deref()
            .is_some_and(|url| url.starts_with("https://"))
    }
}

/// The host of an http or https address that has nothing behind its port.
fn public_host(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    let plain = matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.path().len() <= 1
        && uri.query().is_none();
    let authority = uri.authority()?.as_str();
    (plain && !authority.contains('@'))
        .then(|| host::name(authority))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        Settings::read(&toml::from_str(text).unwrap())
    }

    #[test]
    fn values_are_read_in_the_form_they_are_compared_in() {
        let settings = read(
            "public_url = \"https://Relay.Example/\"\nallowed_hosts = [\"Box.Local.\"]\n\
             allowed_origins = [\"https://App.example\"]\ntrusted_proxies = [\"10.0.0.1\"]",
        )
        .unwrap();
        assert_eq!(
            settings.public_url.as_deref(),
            Some("https://Relay.Example")
        );
        assert_eq!(settings.public_host.as_deref(), Some("relay.example"));
        assert_eq!(settings.allowed_hosts, ["box.local"]);
        assert_eq!(settings.allowed_origins, ["https://app.example"]);
        assert!(settings.is_https());
    }

    #[test]
    fn bad_values_are_named() {
        for (text, name) in [
            ("public_url = \"relay.example\"", "public_url"),
            ("public_url = \"https://relay.example/x\"", "public_url"),
            ("public_url = \"https://me@relay.example\"", "public_url"),
            ("allowed_hosts = [\"a b\"]", "allowed_hosts"),
            ("allowed_origins = [\"app.example\"]", "allowed_origins"),
            ("trusted_proxies = [\"proxy\"]", "trusted_proxies"),
            ("prices = \"on\"", "prices"),
        ] {
            assert!(read(text).unwrap_err().starts_with(name), "{text}");
        }
    }
}
