//! `relayroom threads`: the project's threads, newest first.

use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
use super::close::Status;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;

/// Arguments of `threads`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only threads of this status
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only threads this part takes part in
    #[arg(long, conflicts_with = "as_part")]
    part: Option<String>,
    /// Only threads whose subject contains this text
    #[arg(short, long, value_name = "TEXT")]
    query: Option<String>,
    /// Only threads older than this one
    #[arg(long, value_name = "ID", value_parser = ids::argument)]
    before: Option<String>,
    #[command(flatten)]
    voice: AsPart,
}

/// Lists at most 50 threads.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    if let Some(part) = arguments.voice.door(context)? {
        let mut filter = json!({});
        for (name, value) in [
            (
                "status",
                arguments.status.map(|status| status.as_str().to_owned()),
            ),
            ("q", arguments.query),
            ("before", arguments.before),
        ] {
            if let Some(value) = value {
                filter[name] = value.into();
            }
        }
        return print(context, &part.list("threads", filter).await?, "no threads");
    }
    let client = context.client()?;
    let mut query = client.project();
    let status = arguments.status.map(|status| status.as_str().to_owned());
    for (name, value) in [
        ("status", status),
        ("part", arguments.part),
        ("q", arguments.query),
        ("before", arguments.before),
    ] {
        query.extend(value.map(|value| (name, value)));
    }
    let answer = client.get("threads", &query).await?;
    print(context, field::list(&answer, "threads"), "no threads")
}

/// Prints threads as `threads` and `search` do.
///
/// # Errors
/// A write that fails.
pub fn print(context: &Context, threads: &[Value], empty: &str) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(json!({ "threads": threads }));
    }
    let now = context.now();
    let mut table = Table::new(&["thread", "status", "age", "subject"]);
    for thread in threads {
        let status = field::word(thread, "status");
        let style = match status {
            "open" => Style::Warning,
            "answered" | "holding" => Style::Good,
            _ => Style::Dim,
        };
        let id = match field::word(thread, "id") {
            "" => field::word(thread, "threadId"),
            id => id,
        };
        table.row(vec![
            Cell::id(id),
            Cell::text(status).styled(style),
            Cell::age(field::time(thread, "createdAt"), now),
            Cell::text(field::word(thread, "subject")),
        ]);
    }
    context.screen.table(&table, empty)
}
