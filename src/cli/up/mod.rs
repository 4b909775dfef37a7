//! `relayroom up`: makes everything run that should, and nothing twice (cli.md 3): the relay, the pagers, and each part of this machine
//! that is joined. Typed after a reboot it brings back sessions and conversations, too.

pub(super) mod pager;
mod parts;
mod relay;

use serde_json::Value;
use serde_json::json;

use super::client;
use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::join::register::Register;
use crate::config;

/// Arguments of `up`.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// Start no agent
    #[arg(long)]
    no_agents: bool,
    /// Only these parts
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<String>,
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
/// What did not start, with the last lines it said; exit 1 if a part did not come up.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let (relay, base) = relay::start(context, arguments.dry_run).await?;
    let register = Register::read(&context.env)?;
    let meant = parts::meant(register, &base, &arguments.only)?;
    let socket = pager::socket(context);
    let pager = pagers(context, arguments, &base, &meant).await?;
    let status = match relay {
        State::WouldStart => json!({}),
        _ if !client::is_loopback(&base)? => json!({}),
        _ => {
            let token = config::admin_token_file(&context.db());
            let client = Client::at(&base, token, context.timeout())?;
            client.get("status", &[]).await?
        }
    };
    let rows = parts::bring_all(context, arguments, &meant, &status).await;
    let next = next(&status, meant.is_empty());
    if context.screen.json {
        let rows: Vec<Value> = rows.iter().map(parts::Row::json).collect();
        context.screen.object(json!({
            "relay": {"state": relay.as_str(), "address": base},
            "pager": {"state": pager.as_str(), "socket": socket.to_string_lossy()},
            "parts": rows,
            "next": next,
        }))?;
    } else {
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
        let table = parts::table(&rows);
        table
            .lines(&context.screen)
            .iter()
            .try_for_each(|line| context.screen.line(line))?;
        context.screen.line(format!("next: {next}"))?;
    }
    match rows.iter().filter(|row| row.why.is_some()).count() {
        0 => Ok(()),
        1 => Err(Failure::fault("a part did not come up")),
        many => Err(Failure::fault(format!("{many} parts did not come up"))),
    }
}

/// A pager for the person's own tmux server, and for every other one that a part lives on; what became of the first.
async fn pagers(
    context: &Context,
    arguments: &Arguments,
    base: &str,
    meant: &[super::join::register::Worktree],
) -> Result<State, Failure> {
    let own = pager::socket(context);
    let mut state = State::Runs;
    let mut sockets = parts::sockets(meant);
    sockets.insert(own.clone());
    for socket in sockets {
        let one = if !arguments.dry_run {
            pager::start(context, base, &socket).await?
        } else if pager::only_one(context, base, &socket)?.is_some() {
            State::WouldStart
        } else {
            State::Runs
        };
        if socket == own {
            state = one;
        }
    }
    Ok(state)
}

/// The command to type next.
fn next(status: &Value, nothing_joined: bool) -> &'static str {
    let parts = field::list(status, "parts");
    match (nothing_joined, parts.is_empty()) {
        (true, true) => "cd <worktree> && relayroom join web",
        (true, false) => "cd <worktree> && relayroom join PART",
        (false, _) => "relayroom status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_next_follows_from_what_is_there() {
        let none = json!({"parts": []});
        let some = json!({"parts": [{"part": "web"}]});
        assert_eq!(next(&none, true), "cd <worktree> && relayroom join web");
        assert_eq!(next(&some, true), "cd <worktree> && relayroom join PART");
        assert_eq!(next(&some, false), "relayroom status");
    }
}
