//! What `relayroom wakes --report` prints: figures, turns, holds and misses. Where piped, the first field of a record says which it is.

use serde_json::Value;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use super::text;
use super::usage;
use super::usage::Days;

/// Prints a report of the relay.
///
/// # Errors
/// A write that fails.
pub fn print(context: &Context, report: &Value) -> Result<(), Failure> {
    let screen = &context.screen;
    if screen.json {
        return screen.object(json!({ "report": report }));
    }
    if field::number(&report["all"], "issued") == 0 && field::list(report, "holds").is_empty() {
        return screen.table(&Table::new(&[]), "no wakes within the last 7 days");
    }
    let turns = usage::turns(field::list(report, "turns"), Days::Together);
    let tables = [
        figures(report),
        turns,
        holds(report),
        misses(context, report),
    ];
    for (index, table) in tables.iter().filter(|table| !table.is_empty()).enumerate() {
        if index > 0 && screen.terminal {
            screen.line("")?;
        }
        screen.table(table, "")?;
    }
    Ok(())
}

fn figures(report: &Value) -> Table {
    let mut table = Table::new(&[
        "of",
        "name",
        "issued",
        "consumed",
        "rate",
        "presented p50/95/99",
        "consumed p50/95/99",
        "others",
    ]);
    let mut row = |of: &str, name: &str, figures: &Value| {
        let rate = figures["successRate"].as_f64();
        table.row(vec![
            Cell::text(of).styled(Style::Dim),
            Cell::text(name).styled(Style::Bold),
            Cell::number(field::number(figures, "issued")),
            Cell::number(field::number(figures, "consumed")),
            Cell::text(&rate.map_or_else(String::new, percent)),
            Cell::text(&percentiles(&figures["presentedMs"])),
            Cell::text(&percentiles(&figures["consumedMs"])),
            Cell::text(&others(figures)),
        ]);
    };
    row("all", "", &report["all"]);
    for (of, list) in [("part", "parts"), ("cli", "clis"), ("tmux", "tmux")] {
        for group in field::list(report, list) {
            row(of, field::word(group, of), group);
        }
    }
    table
}

/// Cut, not rounded: one miss in a thousand is not 100 %.
fn percent(rate: f64) -> String {
    format!("{:.1} %", (rate * 1_000.0).floor() / 10.0)
}

fn percentiles(found: &Value) -> String {
    let spans = ["p50", "p95", "p99"].map(|name| found[name].as_i64().map(text::span));
    spans.into_iter().flatten().collect::<Vec<_>>().join(" / ")
}

/// How the wakes ended that were not consumed.
fn others(figures: &Value) -> String {
    ["unanswered", "cleared", "canceled", "open"]
        .into_iter()
        .map(|name| (field::number(figures, name), name))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn holds(report: &Value) -> Table {
    let mut table = Table::new(&["", "part", "reason", "holds", "held"]);
    for hold in field::list(report, "holds") {
        table.row(vec![
            Cell::text("hold").styled(Style::Dim),
            Cell::text(field::word(hold, "part")).styled(Style::Bold),
            Cell::text(field::word(hold, "reason")),
            Cell::number(field::number(hold, "count")),
            Cell::text(&text::span(hold["heldMs"].as_i64().unwrap_or_default())),
        ]);
    }
    table
}

fn misses(context: &Context, report: &Value) -> Table {
    let mut table = Table::new(&["", "part", "wake", "age", "ended", "cause", "thread"]);
    for miss in field::list(report, "misses") {
        table.row(vec![
            Cell::text("miss").styled(Style::Dim),
            Cell::text(field::word(miss, "part")).styled(Style::Bold),
            Cell::text(field::word(miss, "tag")),
            Cell::age(field::time(miss, "issuedAt"), context.now()),
            Cell::text(field::word(miss, "outcome")),
            Cell::text(field::word(miss, "cause")).styled(Style::Warning),
            Cell::id(field::word(miss, "threadId")),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_told_in_words() {
        let figures = json!({"unanswered": 1, "cleared": 0, "open": 2});
        assert_eq!(others(&figures), "1 unanswered, 2 open");
        assert_eq!(
            percentiles(&json!({"p50": 400, "p95": 1200, "p99": 61_000})),
            "0.4 s / 1.2 s / 1 min"
        );
        assert_eq!(percentiles(&Value::Null), "");
        assert_eq!(percent(0.9996), "99.9 %");
        assert_eq!(percent(1.0), "100.0 %");
    }
}
