//! `relayroom search`: threads by their text.

use serde_json::json;

use super::as_part::AsPart;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;
use super::threads;

/// Arguments of `search`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Every word of it must occur, as it stands, in subject or bodies
    #[arg(value_name = "TEXT", required = true, num_args = 1..)]
    words: Vec<String>,
    /// Only threads older than this one
    #[arg(long, value_name = "ID", value_parser = ids::argument)]
    before: Option<String>,
    #[command(flatten)]
    voice: AsPart,
}

/// Lists the threads found, newest first.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    if let Some(part) = arguments.voice.door(context)? {
        let mut query = json!({"query": arguments.words.join(" ")});
        if let Some(before) = arguments.before {
            query["before"] = before.into();
        }
        let found = part.list("search", query).await?;
        return threads::print(context, &found, "nothing found");
    }
    let client = context.client()?;
    let mut query = client.project();
    query.push(("query", arguments.words.join(" ")));
    query.extend(arguments.before.map(|before| ("before", before)));
    let answer = client.get("search", &query).await?;
    threads::print(context, field::list(&answer, "threads"), "nothing found")
}
