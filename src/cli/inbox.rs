//! `relayroom inbox`: mail for the person, or a look on a part's.

use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;

/// Arguments of `inbox`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Look on this part's mail; marks nothing and wakes nobody
    #[arg(long, conflicts_with = "as_part")]
    part: Option<String>,
    /// Also what was read
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    voice: AsPart,
}

/// Lists mail, what needs the person first.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    if let Some(part) = arguments.voice.door(context)? {
        let items = part
            .list("inbox", json!({"unreadOnly": !arguments.all}))
            .await?;
        return print(context, &items);
    }
    let client = context.client()?;
    let mut query = client.project();
    query.push(("all", arguments.all.to_string()));
    query.extend(arguments.part.map(|part| ("part", part)));
    let answer = client.get("inbox", &query).await?;
    print(context, field::list(&answer, "items"))
}

fn print(context: &Context, items: &[Value]) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(json!({ "items": items }));
    }
    let now = context.now();
    let mut table = Table::new(&["thread", "", "from", "age", "status", "subject", "preview"]);
    for item in items {
        let (mark, style) = mark(item);
        let status = match field::word(item, "threadStatus") {
            "" => field::word(item, "status"),
            status => status,
        };
        table.row(vec![
            Cell::id(field::word(item, "threadId")),
            Cell::text(mark).styled(style),
            Cell::text(field::word(item, "from")).styled(Style::Bold),
            Cell::age(field::time(item, "at"), now),
            Cell::text(status),
            Cell::text(field::word(item, "subject")),
            Cell::text(field::word(item, "preview")),
        ]);
    }
    context.screen.table(&table, "no mail")
}

/// What is most worth knowing of a message, in a word.
fn mark(item: &Value) -> (&'static str, Style) {
    if field::flag(item, "needsHuman") {
        ("needs you", Style::Bad)
    } else if field::flag(item, "urgent") {
        ("urgent", Style::Warning)
    } else if field::flag(item, "unread") || field::number(item, "unread") > 0 {
        ("new", Style::Good)
    } else {
        ("", Style::Plain)
    }
}
