//! The relay, as `up` finds or starts it.

use std::time::Duration;

use super::State;
use crate::cli::client;
use crate::cli::context::Context;
use crate::cli::detach;
use crate::cli::failure::Failure;

/// How long a relay that runs may take to say so.
const HEALTH: Duration = Duration::from_secs(1);

/// The relay: the one that answers, or a new one in the background.
pub(super) async fn start(context: &Context, dry: bool) -> Result<(State, String), Failure> {
    let base = context.server();
    if client::health(&base, HEALTH).await.is_some() {
        return Ok((State::Runs, base));
    }
    if !client::is_loopback(&base)? {
        return Err(Failure::fault(format!(
            "{base} does not answer, and only a relay on this machine can be started from here"
        )));
    }
    if dry {
        return Ok((State::WouldStart, base));
    }
    // An address that was asked for is where it is to listen; otherwise its own settings say where.
    let asked = context.globals.server.as_deref().and_then(authority);
    let started = match detach::relay(context, asked.as_slice()).await {
        Ok(started) => started,
        // Another `up` was a moment faster.
        Err(_) if client::health(&base, HEALTH).await.is_some() => {
            return Ok((State::Runs, base));
        }
        Err(failure) => return Err(failure),
    };
    if started.address != base {
        context.screen.note(format!(
            "warning: the relay listens on {}, commands look for it at {base}: set server or listen in config.toml",
            started.address
        ));
    }
    Ok((State::Started, started.address))
}

/// Host and port of a URL, as `--listen` takes them.
fn authority(url: &str) -> Option<String> {
    let uri: http::Uri = url.parse().ok()?;
    uri.authority().map(|authority| authority.to_string())
}
