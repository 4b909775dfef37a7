//! `relayroom search`: threads by their text.

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
}

/// Lists the threads found, newest first.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let mut query = client.project();
    query.push(("query", arguments.words.join(" ")));
    query.extend(arguments.before.map(|before| ("before", before)));
    let answer = client.get("search", &query).await?;
    threads::print(context, field::list(&answer, "threads"), "nothing found")
}
