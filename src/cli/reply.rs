//! `relayroom reply`: the person's message in a thread.

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
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
        hide_default_value = true,
        conflicts_with = "as_part"
    )]
    to: String,
    /// Wake through the urgent lane
    #[arg(long, conflicts_with = "fyi")]
    urgent: bool,
    /// Wake nobody; no answer is wanted
    #[arg(long)]
    fyi: bool,
    #[command(flatten)]
    voice: AsPart,
}

/// Replies, and prints what happens next for each recipient.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let body = arguments.body.read(context)?;
    if let Some(part) = arguments.voice.door(context)? {
        let thread = part.thread(&arguments.thread).await?;
        let message = json!({
            "threadId": thread,
            "body": body,
            "urgent": arguments.urgent,
            "fyi": arguments.fyi,
        });
        return print(context, &part.call("reply", message).await?);
    }
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
    print(context, &replied)
}

fn print(context: &Context, replied: &Value) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(replied.clone());
    }
    context.screen.table(&writing::outcomes(replied), "")
}
