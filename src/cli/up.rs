//! `relayroom up`: makes everything run that should, and nothing twice (cli.md 3).

use std::fs::File;
use std::fs::TryLockError;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use serde_json::Value;
use serde_json::json;

use super::client;
use super::client::Client;
use super::context::Context;
use super::detach;
use super::failure::Failure;
use super::field;
use super::logging;
use super::progress::Progress;
use super::table::Cell;
use super::table::Table;
use crate::config;
use crate::pager::setup::exit;

/// How long a relay that runs may take to say so.
const HEALTH: Duration = Duration::from_secs(1);

/// How long a pager is watched after its start: one that may not run ends within this.
const WATCH: Duration = Duration::from_millis(1_500);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// Arguments of `up`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {
    /// Start nothing, say what would be started
    #[arg(long)]
    dry_run: bool,
}

/// What became of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    Started,
    WouldStart,
}

impl State {
    fn as_str(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Started => "started",
            Self::WouldStart => "would be started",
        }
    }
}

/// Starts what does not run, and prints every part and what is next.
///
/// # Errors
/// What did not start, with the last lines it said.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let (relay, base) = relay(context, arguments.dry_run).await?;
    let pager = if !arguments.dry_run {
        pager(context, &base).await?
    } else if only_one(context, &base)?.is_some() {
        State::WouldStart
    } else {
        State::Runs
    };
    let status = match relay {
        State::WouldStart => json!({}),
        _ => {
            let token = config::admin_token_file(&context.db());
            let client = Client::at(&base, token, context.timeout())?;
            client.get("status", &[]).await?
        }
    };
    let next = next(&status);
    if context.screen.json {
        return context.screen.object(json!({
            "relay": {"state": relay.as_str(), "address": base},
            "pager": {"state": pager.as_str(), "socket": socket(context).to_string_lossy()},
            "parts": status["parts"],
            "next": next,
        }));
    }
    let socket = socket(context);
    let server = match std::os::unix::net::UnixStream::connect(&socket) {
        Ok(_) => "",
        Err(_) => " (no tmux server there yet)",
    };
    context.screen.fields(&[
        ("relay", format!("{} {base}", relay.as_str())),
        (
            "pager",
            format!("{} for tmux {}{server}", pager.as_str(), socket.display()),
        ),
    ])?;
    let table = parts(&status, context);
    table
        .lines(&context.screen)
        .iter()
        .try_for_each(|line| context.screen.line(line))?;
    context.screen.line(format!("next: {next}"))
}

/// The relay: the one that answers, or a new one in the background.
async fn relay(context: &Context, dry: bool) -> Result<(State, String), Failure> {
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

/// The pager: started, unless one started here runs, or the new one finds its process lock held by another.
async fn pager(context: &Context, base: &str) -> Result<State, Failure> {
    let Some(lock) = only_one(context, base)? else {
        return Ok(State::Runs);
    };
    let log = context.env.state_dir().join("pager.log");
    let before = std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let mut command = detach::ours(&log)?;
    command
        .arg("pager")
        .args(["--server", base, "--socket"])
        .arg(socket(context))
        .stdin(lock);
    let mut child = command.spawn()?;
    let _starting = Progress::start(&context.screen, "starting the pager");
    let begun = Instant::now();
    while begun.elapsed() < WATCH {
        if let Some(status) = child.try_wait()? {
            if status.code() == Some(i32::from(exit::HELD)) {
                return Ok(State::Runs);
            }
            let said = detach::last_lines(&log, before);
            return Err(Failure::fault(format!("the pager did not start: {said}")));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(State::Started)
}

/// The tmux server a pager started here serves.
fn socket(context: &Context) -> PathBuf {
    crate::pager::setup::socket(None, &context.env)
}

/// A locked file to be handed to the pager as its stdin, which it never reads: the lock lasts as long as the pager does, also while
/// there is no tmux server and so nothing the pager itself could lock. `None`: one has it.
pub(super) fn only_one(context: &Context, base: &str) -> Result<Option<File>, Failure> {
    let folder = context.env.state_dir().join("locks");
    detach::private_folder(&folder)?;
    // One pager per relay and tmux server.
    let name: String = format!("{base} {}", socket(context).display())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let file = logging::append(&folder.join(format!("up-{name}.lock")))?;
    for last in [false, true] {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            // Who only asks holds it for an instant; a pager keeps it.
            Err(TryLockError::WouldBlock) if last => break,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
    Ok(None)
}

/// One record per part: what is known of its agent, and who serves its pane.
fn parts(status: &Value, context: &Context) -> Table {
    let mut table = Table::new(&["part", "state", "agent", "pager"]);
    for part in field::list(status, "parts") {
        let pager = match field::word(&part["pager"], "state") {
            "" => "not seen",
            state => state,
        };
        table.row(vec![
            Cell::text(field::word(part, "part")),
            Cell::text(field::word(part, "state")),
            Cell::age(field::time(part, "lastSeen"), context.now()),
            Cell::text(pager),
        ]);
    }
    table
}

/// The command to type next.
fn next(status: &Value) -> &'static str {
    let parts = field::list(status, "parts");
    if field::number(&status["counts"], "projects") == 0 {
        "relayroom project new NAME"
    } else if parts.is_empty() {
        "relayroom part add NAME"
    } else if parts
        .iter()
        .all(|part| field::word(part, "lastSeen").is_empty())
    {
        "relayroom part show PART says how its agent connects and its pane is served"
    } else {
        "relayroom status"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_next_follows_from_what_is_there() {
        let none = json!({"counts": {"projects": 0}, "parts": []});
        let empty = json!({"counts": {"projects": 1}, "parts": []});
        let silent = json!({"counts": {"projects": 1}, "parts": [{"part": "web"}]});
        let heard = json!({"counts": {"projects": 1},
            "parts": [{"part": "web", "lastSeen": "2026-12-01T09:30:00.000Z"}]});
        assert_eq!(next(&none), "relayroom project new NAME");
        assert_eq!(next(&empty), "relayroom part add NAME");
        assert!(next(&silent).starts_with("relayroom part show"));
        assert_eq!(next(&heard), "relayroom status");
    }
}
