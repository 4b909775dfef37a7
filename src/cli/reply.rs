//! `relayroom reply`: the person's message in a thread.

use http::Method;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::ids;
use super::writing;

/// Arguments of `reply`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The thread, by its id or the end of it
    #[arg(value_parser = ids::argument)]
    thread: String,
    #[command(flatten)]
    body: writing::Body,
    /// Only these parts, by comma; without it all live participants
    #[arg(
        long,
        value_name = "PART,…",
        default_value = "",
        hide_default_value = true
    )]
    to: String,
    /// Wake through the urgent lane
    #[arg(long, conflicts_with = "fyi")]
    urgent: bool,
    /// Wake nobody; no answer is wanted
    #[arg(long)]
    fyi: bool,
}

/// Replies, and prints what happens next for each recipient.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let body = arguments.body.read(context)?;
    let client = context.client()?;
    let message = json!({
        "threadId": arguments.thread,
        "to": writing::names(&arguments.to),
        "body": body,
        "urgent": arguments.urgent,
        "fyi": arguments.fyi,
    });
    let replied = client
        .call(Method::POST, "messages", &client.project(), Some(&message))
        .await?;
    if context.screen.json {
        return context.screen.object(replied);
    }
    context.screen.table(&writing::outcomes(&replied), "")
}
