//! `relayroom wakes`: the ledger, newest first; followed as it is written; or summed up.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use super::text;
use super::wakes_report;

/// How often a follower looks.
const LOOK: Duration = Duration::from_secs(1);

/// Rows of a list; those a follower sees first; those it compares, so that an old wake's end is still seen.
const LISTED: usize = 50;
const FIRST: usize = 20;
const COMPARED: usize = 500;

/// Arguments of `wakes`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only this part's
    #[arg(long)]
    part: Option<String>,
    /// Only what this reason holds, such as budget, paused or dialog
    #[arg(long, conflicts_with = "report")]
    reason: Option<String>,
    /// Go on with what is new or has changed, oldest first
    #[arg(long, conflicts_with = "report")]
    follow: bool,
    /// Sum up the last 7 days: consumed, how fast, what held them, every miss
    #[arg(long)]
    report: bool,
}

/// Prints the ledger.
///
/// # Errors
/// Exit 2 for a reason nothing is held for; other refusals of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let mut query = client.project();
    query.extend(arguments.part.map(|part| ("part", part)));
    query.extend(arguments.reason.map(|reason| ("reason", reason)));
    if arguments.report {
        query.push(("report", "true".to_owned()));
        let answer = client.get("wakes", &query).await?;
        return wakes_report::print(context, &answer["report"]);
    }
    if arguments.follow {
        query.push(("limit", COMPARED.to_string()));
        return follow(context, &client, &query).await;
    }
    query.push(("limit", LISTED.to_string()));
    let answer = client.get("wakes", &query).await?;
    let rows = field::list(&answer, "rows");
    if context.screen.json {
        return context.screen.object(json!({ "rows": rows }));
    }
    context.screen.table(&table(context, rows), "no wakes yet")
}

/// Prints rows as they come and as they change, until the reader or the relay goes.
async fn follow(
    context: &Context,
    client: &Client,
    query: &[(&'static str, String)],
) -> Result<(), Failure> {
    let mut told: Option<BTreeSet<String>> = None;
    loop {
        let answer = client.get("wakes", query).await?;
        let rows = field::list(&answer, "rows");
        let known: BTreeSet<String> = rows.iter().map(Value::to_string).collect();
        let mut new: Vec<Value> = match &told {
            None => rows.iter().take(FIRST).cloned().collect(),
            Some(told) => {
                let new = rows.iter().filter(|row| !told.contains(&row.to_string()));
                new.cloned().collect()
            }
        };
        new.reverse();
        if context.screen.json {
            new.into_iter()
                .try_for_each(|row| context.screen.object(row))?;
        } else {
            // The headings stand once, at the top.
            let skipped = usize::from(context.screen.terminal && told.is_some());
            for line in table(context, &new)
                .lines(&context.screen)
                .iter()
                .skip(skipped)
            {
                context.screen.line(line)?;
            }
        }
        told = Some(known);
        tokio::time::sleep(LOOK).await;
    }
}

fn table(context: &Context, rows: &[Value]) -> Table {
    let now = context.now();
    let mut table = Table::new(&[
        "age", "row", "part", "wake", "lane", "state", "took", "reason", "cause", "thread",
    ]);
    for row in rows {
        let state = state(row);
        table.row(vec![
            Cell::age(field::time(row, "at"), now),
            Cell::text(field::word(row, "row")),
            Cell::text(field::word(row, "part")).styled(Style::Bold),
            Cell::text(field::word(row, "tag")),
            Cell::text(field::word(row, "lane")),
            Cell::text(&state).styled(style_of(row)),
            Cell::text(&took(row)),
            Cell::text(field::word(row, "reason")),
            Cell::text(field::word(row, "cause")),
            Cell::id(field::word(row, "threadId")),
        ]);
    }
    table
}

/// How it stands: a wake by its end or state, a line by its number and outcome, a hold by whether it lasts.
fn state(row: &Value) -> String {
    let outcome = field::word(row, "outcome");
    match field::word(row, "row") {
        "nudge" => {
            let outcome = if outcome.is_empty() { "typed" } else { outcome };
            format!("{outcome} {}", field::number(row, "rung"))
        }
        "hold" if field::time(row, "endedAt").is_some() => "over".to_owned(),
        "hold" => "held".to_owned(),
        _ if outcome.is_empty() => field::word(row, "state").to_owned(),
        _ => outcome.to_owned(),
    }
}

fn style_of(row: &Value) -> Style {
    match field::word(row, "outcome") {
        "consumed" | "submitted" => Style::Good,
        "unanswered" => Style::Bad,
        "unconfirmed" => Style::Warning,
        _ if field::word(row, "row") == "hold" && field::time(row, "endedAt").is_none() => {
            Style::Warning
        }
        _ => Style::Plain,
    }
}

/// How long it took: a wake from stored to presented and to consumed, a line to its outcome, a hold to its end.
fn took(row: &Value) -> String {
    let (from, ends) = match field::word(row, "row") {
        "wake" => ("storedAt", ["presentedAt", "consumedAt"].as_slice()),
        _ => ("at", ["endedAt"].as_slice()),
    };
    let Some(from) = field::time(row, from) else {
        return String::new();
    };
    let spans = ends
        .iter()
        .filter_map(|end| field::time(row, end))
        .map(|end| text::span(end.since(from)));
    spans.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_how_it_stands_and_what_it_took() {
        let at = "2026-12-01T09:00:00.000Z";
        for (row, stands, spans) in [
            (
                json!({"row": "wake", "state": "waiting", "storedAt": at}),
                "waiting",
                "",
            ),
            (
                json!({"row": "wake", "state": "done", "outcome": "consumed", "storedAt": at,
                       "presentedAt": "2026-12-01T09:00:01.250Z", "consumedAt": "2026-12-01T09:00:31.000Z"}),
                "consumed",
                "1.2 s, 31 s",
            ),
            (json!({"row": "nudge", "rung": 2, "at": at}), "typed 2", ""),
            (
                json!({"row": "nudge", "rung": 1, "outcome": "submitted", "at": at,
                       "endedAt": "2026-12-01T09:00:00.300Z"}),
                "submitted 1",
                "0.3 s",
            ),
            (json!({"row": "hold", "at": at}), "held", ""),
            (
                json!({"row": "hold", "at": at, "endedAt": "2026-12-01T10:00:00.000Z"}),
                "over",
                "1 h",
            ),
        ] {
            assert_eq!((state(&row).as_str(), took(&row).as_str()), (stands, spans));
        }
    }
}
