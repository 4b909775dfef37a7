//! `relayroom wake`: one wake now for a part's open mail.

use http::Method;

use super::context::Context;
use super::failure::Failure;
use super::field;

/// Arguments of `wake`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The part
    part: String,
}

/// Wakes, and prints what came of it.
///
/// # Errors
/// Exit 3 if nothing loud is open; other refusals of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let path = format!("parts/{}/wake", arguments.part);
    let answer = client
        .call(Method::POST, &path, &client.project(), None)
        .await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let line = [
        field::word(&answer, "part"),
        field::word(&answer, "wake"),
        field::word(&answer, "reason"),
    ];
    context.screen.line(line.join("\t").trim_end())
}
