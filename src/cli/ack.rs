//! `relayroom ack`: a part takes note of a message that needs no answer.

use serde_json::json;

use super::as_part::Part;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;

/// Arguments of `ack`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The message, by its id or the end of it
    #[arg(value_parser = ids::argument)]
    message: String,
    /// As every ack is: by the part joined in this worktree
    #[arg(long)]
    as_part: bool,
}

/// Marks the message read.
///
/// # Errors
/// Exit 2 outside a joined worktree; a refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let part = Part::of(context)?;
    let message = part.message(&arguments.message).await?;
    let answer = part.call("ack", json!({ "messageId": message })).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let already = match field::flag(&answer, "alreadyRead") {
        true => "\tread before",
        false => "\tread",
    };
    context.screen.line(format!("{message}{already}"))
}
