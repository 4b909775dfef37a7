//! `relayroom up`: makes everything run that should, and nothing twice (cli.md 3).

pub(super) mod pager;
mod relay;

use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::table::Cell;
use super::table::Table;
use crate::config;

/// Arguments of `up`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {
    /// Start nothing, say what would be started
    #[arg(long)]
    dry_run: bool,
}

/// What became of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Runs,
    Started,
    WouldStart,
}

impl State {
    pub(super) fn as_str(self) -> &'static str {
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
    let (relay, base) = relay::start(context, arguments.dry_run).await?;
    let socket = pager::socket(context);
    let pager = if !arguments.dry_run {
        pager::start(context, &base, &socket).await?
    } else if pager::only_one(context, &base, &socket)?.is_some() {
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
            "pager": {"state": pager.as_str(), "socket": socket.to_string_lossy()},
            "parts": status["parts"],
            "next": next,
        }));
    }
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
