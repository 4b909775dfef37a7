//! `relayroom usage`: tokens and cost, and wakes beside the turns they caused (usage.md 8).

use serde_json::Value;

use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use super::text;

/// Arguments of `usage`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// How far back: days with the present one, such as 7d, or hours, such as 24h
    #[arg(long, default_value = "7d")]
    range: String,
    /// What lines are of
    #[arg(long, value_enum, default_value_t = By::Part)]
    by: By,
    /// A line per hour or day, too
    #[arg(long, value_enum)]
    unit: Option<Unit>,
    /// As CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Part,
    Model,
    Cause,
    Thread,
    Wake,
}

impl By {
    fn as_str(self) -> &'static str {
        match self {
            Self::Part => "part",
            Self::Model => "model",
            Self::Cause => "cause",
            Self::Thread => "thread",
            Self::Wake => "wake",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Unit {
    Hour,
    Day,
}

impl Unit {
    fn as_str(self) -> &'static str {
        match self {
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }
}

/// Prints a page of the ledger.
///
/// # Errors
/// Exit 2 for a range that is none; other refusals of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let mut query = client.project();
    query.push(context.zone());
    query.push(("range", arguments.range.clone()));
    query.push(("by", arguments.by.as_str().to_owned()));
    query.extend(
        arguments
            .unit
            .map(|unit| ("unit", unit.as_str().to_owned())),
    );
    if arguments.csv {
        query.push(("format", "csv".to_owned()));
        return print_csv(context, &client, &query).await;
    }
    query.push(("reconcile", "true".to_owned()));
    let answer = client.get("usage", &query).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let page = page(&answer, arguments);
    context
        .screen
        .table(&page, "nothing counted in this time")?;
    let turns = turns(field::list(&answer, "reconcile"), Days::Each);
    if !turns.is_empty() {
        if context.screen.terminal {
            context.screen.line("")?;
        }
        context.screen.table(&turns, "")?;
    }
    notes(context, &answer);
    Ok(())
}

async fn print_csv(
    context: &Context,
    client: &Client,
    query: &[(&'static str, String)],
) -> Result<(), Failure> {
    let mut answer = client.stream("usage", query).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = answer.piece().await? {
        bytes.extend_from_slice(&piece);
    }
    String::from_utf8_lossy(&bytes)
        .lines()
        .try_for_each(|line| context.screen.line(line))
}

fn page(answer: &Value, arguments: &Arguments) -> Table {
    let mut headings = Vec::new();
    headings.extend(arguments.unit.map(Unit::as_str));
    headings.push(arguments.by.as_str());
    headings.extend([
        "replies",
        "input",
        "cache read",
        "cache write",
        "output",
        "usd",
    ]);
    let label = match arguments.by {
        By::Wake => Some("tag"),
        By::Thread => Some("subject"),
        By::Part | By::Model | By::Cause => None,
    };
    headings.extend(label);
    let mut table = Table::new(&headings);
    for row in field::list(answer, "rows") {
        let mut cells = Vec::new();
        cells.extend(
            arguments
                .unit
                .map(|unit| Cell::text(begin(field::word(row, "at"), unit))),
        );
        cells.push(match arguments.by {
            By::Wake => Cell::id(field::word(row, "wakeId")),
            By::Thread => Cell::id(field::word(row, "threadId")),
            by => Cell::text(field::word(row, by.as_str())).styled(Style::Bold),
        });
        cells.extend(figures(row));
        cells.extend(label.map(|label| Cell::text(field::word(row, label))));
        table.row(cells);
    }
    let total = &answer["total"];
    if field::number(total, "replies") > 0 {
        let mut cells = Vec::new();
        cells.extend(arguments.unit.map(|_| Cell::default()));
        cells.push(Cell::text("total").styled(Style::Dim));
        cells.extend(figures(total));
        cells.extend(label.map(|_| Cell::default()));
        table.row(cells);
    }
    table
}

/// `2026-11-01`, or with its hour.
fn begin(at: &str, unit: Unit) -> &str {
    let end = match unit {
        Unit::Hour => 16,
        Unit::Day => 10,
    };
    at.get(..end).unwrap_or(at)
}

fn figures(row: &Value) -> [Cell; 6] {
    let tokens = |name| Cell::tokens(field::number(row, name));
    [
        Cell::number(field::number(row, "replies")),
        tokens("input_tokens"),
        tokens("cache_read_tokens"),
        tokens("cache_write_tokens"),
        tokens("output_tokens"),
        Cell::text(&usd(row)),
    ]
}

/// Without a price there is none; `+` where only some of the tokens have one.
fn usd(row: &Value) -> String {
    let some = if field::number(row, "unpriced_tokens") > 0 {
        "+"
    } else {
        ""
    };
    match row["cost_usd"].as_f64() {
        Some(usd) => format!("{usd:.2}{some}"),
        None => String::new(),
    }
}

/// Whether turns are told per day or all together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Days {
    /// A line per part and day.
    Each,
    /// A line per part.
    Together,
}

/// Wakes beside the turns they caused.
#[must_use]
pub fn turns(lines: &[Value], days: Days) -> Table {
    let mut headings = vec!["", "part"];
    if days == Days::Each {
        headings.push("day");
    }
    headings.extend([
        "wakes",
        "typed",
        "presented",
        "silent",
        "woken",
        "twice",
        "its tokens",
        "human",
        "self",
        "missing",
    ]);
    let mut table = Table::new(&headings);
    for line in lines {
        let number = |name| Cell::number(field::number(line, name));
        let mut cells = vec![
            Cell::text("turns").styled(Style::Dim),
            Cell::text(field::word(line, "part")).styled(Style::Bold),
        ];
        if days == Days::Each {
            cells.push(Cell::text(begin(field::word(line, "day"), Unit::Day)));
        }
        cells.extend([
            number("issued"),
            number("typed"),
            number("presented"),
            number("silent"),
            number("woken"),
            number("duplicates"),
            Cell::tokens(field::number(line, "duplicateTokens")),
            number("human"),
            number("self"),
            Cell::text(&missing(line)),
        ]);
        table.row(cells);
    }
    table
}

/// What of the ledger is missing.
fn missing(line: &Value) -> String {
    [
        ("skipped", "lines skipped"),
        ("dropped", "reports dropped"),
        ("foreignTags", "foreign tags"),
    ]
    .into_iter()
    .map(|(name, words)| (field::number(line, name), words))
    .filter(|(count, _)| *count > 0)
    .map(|(count, words)| format!("{count} {words}"))
    .collect::<Vec<_>>()
    .join(", ")
}

/// What a reader of the figures has to know.
fn notes(context: &Context, answer: &Value) {
    let zone = field::word(answer, "zone");
    let from = begin(field::word(answer, "from"), Unit::Hour).replace('T', " ");
    let mut note = format!("from {from}, {}", text::line(zone));
    let omitted = field::number(answer, "omitted");
    if omitted > 0 {
        note.push_str(&format!("; {omitted} more lines with --csv"));
    }
    if let Some(as_of) = answer["pricesAsOf"].as_str() {
        note.push_str(&format!(
            "; costs are estimates by prices of {}",
            text::line(as_of)
        ));
        let unpriced = field::number(&answer["total"], "unpriced_tokens");
        if unpriced > 0 {
            let models: Vec<String> = field::list(answer, "unpricedModels")
                .iter()
                .filter_map(Value::as_str)
                .map(text::line)
                .collect();
            note.push_str(&format!(
                "; {} tokens have no price ({})",
                text::tokens(unpriced),
                models.join(", ")
            ));
        }
    }
    context.screen.note(note);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_has_no_price_costs_nothing_that_is_shown() {
        for (row, shown) in [
            (json!({"cost_usd": 4.5, "unpriced_tokens": 0}), "4.50"),
            (json!({"cost_usd": 4.5, "unpriced_tokens": 3}), "4.50+"),
            (json!({"unpriced_tokens": 3}), ""),
        ] {
            assert_eq!(usd(&row), shown);
        }
    }

    #[test]
    fn what_is_missing_is_told_in_words() {
        let line = json!({"skipped": 2, "dropped": 0, "foreignTags": 1});
        assert_eq!(missing(&line), "2 lines skipped, 1 foreign tags");
        assert_eq!(missing(&json!({})), "");
        assert_eq!(
            begin("2026-11-01T09:00:00+05:30", Unit::Hour),
            "2026-11-01T09:00"
        );
    }
}
