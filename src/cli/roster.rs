//! `relayroom roster`: who is here and what they are doing.

use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;

/// Arguments of `roster`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Also show where a state comes from, the agent's program, and open wakes
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    voice: AsPart,
}

/// Lists the live parts of the project.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(part) = arguments.voice.door(context)? {
        let parts = part.list("roster", json!({})).await?;
        if context.screen.json {
            return context.screen.object(json!({ "parts": parts }));
        }
        return print(context, &parts, arguments.verbose);
    }
    let client = context.client()?;
    let mut query = client.project();
    query.push(context.zone());
    let answer = client.get("parts", &query).await?;
    let parts = field::list(&answer, "parts");
    if context.screen.json {
        return context.screen.object(json!({ "parts": parts }));
    }
    print(context, parts, arguments.verbose)
}

/// Prints parts as `roster` and `status` do.
///
/// # Errors
/// A write that fails.
pub fn print(context: &Context, parts: &[Value], verbose: bool) -> Result<(), Failure> {
    let first = parts.first().map(|part| &part["project"]);
    let several = parts.iter().any(|part| Some(&part["project"]) != first);
    let mut headings = if several { vec!["project"] } else { Vec::new() };
    headings.extend(["part", "state", "unread", "last seen", "tokens today"]);
    if verbose {
        headings.extend(["source", "heard", "cli", "nickname", "wake", "wake since"]);
    }
    headings.push("why");
    let now = context.now();
    let mut table = Table::new(&headings);
    for part in parts {
        let state = field::word(part, "state");
        let name = if field::flag(part, "isMain") && context.screen.terminal {
            format!("{} (main)", field::word(part, "part"))
        } else {
            field::word(part, "part").to_owned()
        };
        let mut cells = Vec::new();
        if several {
            cells.push(Cell::text(field::word(part, "project")));
        }
        cells.extend([
            Cell::text(&name).styled(Style::Bold),
            Cell::text(state).styled(style_of(state)),
            Cell::number(field::number(part, "unread")),
            Cell::age(field::time(part, "lastSeen"), now),
            Cell::tokens(field::number(part, "tokensToday")),
        ]);
        if verbose {
            cells.extend([
                Cell::text(field::word(part, "source")),
                Cell::age(field::time(part, "sourceAt"), now),
                Cell::text(field::word(part, "cli")),
                Cell::text(field::word(part, "nickname")),
                Cell::text(field::word(&part["wake"], "state")),
                Cell::age(field::time(&part["wake"], "since"), now),
            ]);
        }
        cells.push(Cell::text(field::word(part, "why")));
        table.row(cells);
    }
    context
        .screen
        .table(&table, "no parts yet (relayroom join PART in a worktree)")
}

/// How a state looks.
fn style_of(state: &str) -> Style {
    match state {
        "idle" => Style::Good,
        "busy" => Style::Plain,
        "offline" => Style::Dim,
        "blocked" => Style::Bad,
        _ => Style::Warning,
    }
}
