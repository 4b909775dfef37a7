//! One file per group of tools: arguments to a rule's types, the rule, its result to blocks. No rule is decided here.

mod events;
mod mail;
mod memory;
mod read;

use super::args::Args;
use super::schema::Tool;
use super::seat::Seat;
use crate::store::Fault;
use crate::store::Outcome;

/// The blocks of a result.
type Blocks = Outcome<Vec<String>>;

/// Calls a tool of the list.
///
/// # Errors
/// What the tool's rule returned.
pub(super) async fn call(tool: &Tool, seat: &Seat, args: Args) -> Blocks {
    match tool.name {
        "send" => mail::send(seat, args).await,
        "reply" => mail::reply(seat, args).await,
        "inbox" => read::inbox(tool, seat, args).await,
        "ack" => mail::ack(seat, args).await,
        "event" => events::event(seat, args).await,
        "threads" => read::threads(seat, args).await,
        "show" => read::show(seat, args).await,
        "close" => mail::close(seat, args).await,
        "search" => read::search(tool, seat, args).await,
        "roster" => read::roster(seat, args).await,
        "whoami" => read::whoami(seat, args).await,
        "recall" => memory::recall(tool, seat, args).await,
        "learn" => memory::learn(seat, args).await,
        "recall_used" => memory::recall_used(seat, args).await,
        other => Err(Fault::Corrupt(format!("tool {other} is listed and not served")).into()),
    }
}
