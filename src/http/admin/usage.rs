//! `GET /api/admin/usage`: the ledger of tokens as JSON or CSV, and, where asked for, wakes beside the turns they caused.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::Response;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

use super::csv;
use super::csv::Fields;
use super::csv::Format;
use super::scope;
use crate::activity::Cause;
use crate::activity::ledger;
use crate::activity::ledger::By;
use crate::activity::ledger::Figures;
use crate::activity::ledger::Filter;
use crate::activity::ledger::Grouping;
use crate::activity::ledger::Line;
use crate::activity::ledger::Page;
use crate::activity::ledger::Unit;
use crate::activity::price::Prices;
use crate::activity::zone::Zone;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::quote;
use crate::wake::reconcile;

/// Days of a page, unless asked otherwise, and at most.
const DAYS: u32 = 7;
const MOST_DAYS: u32 = 3_660;

/// Lines of a JSON page, unless asked otherwise. CSV has all.
const LINES: usize = 1_000;

/// What to read of the ledger; all filters together.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    project: Option<String>,
    part: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    cause: Option<String>,
    /// A wake's id or tag.
    wake: Option<String>,
    thread: Option<String>,
    /// `7d`, days of the zone with the present one, or `24h`.
    range: Option<String>,
    /// RFC 3339, in place of a range.
    from: Option<String>,
    to: Option<String>,
    #[serde(default)]
    by: ByWord,
    unit: Option<UnitWord>,
    /// `Europe/Berlin` or `+05:30`; UTC unless named.
    zone: Option<String>,
    #[serde(default)]
    format: Format,
    limit: Option<usize>,
    /// Also wakes beside turns, per part and day.
    #[serde(default)]
    reconcile: bool,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ByWord {
    #[default]
    Part,
    Model,
    Provider,
    Cause,
    Wake,
    Thread,
    All,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UnitWord {
    Hour,
    Day,
}

impl From<ByWord> for By {
    fn from(word: ByWord) -> Self {
        match word {
            ByWord::Part => Self::Part,
            ByWord::Model => Self::Model,
            ByWord::Provider => Self::Provider,
            ByWord::Cause => Self::Cause,
            ByWord::Wake => Self::Wake,
            ByWord::Thread => Self::Thread,
            ByWord::All => Self::All,
        }
    }
}

impl From<UnitWord> for Unit {
    fn from(word: UnitWord) -> Self {
        match word {
            UnitWord::Hour => Self::Hour,
            UnitWord::Day => Self::Day,
        }
    }
}

/// The page that was asked for.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(query): Params<Query>,
) -> Result<Response, Failure> {
    let now = app.now();
    let prices = Arc::clone(&app.settings.prices);
    let format = query.format;
    let found = app
        .store
        .read(move |connection| read(connection, &query, &prices, now))
        .await?;
    Ok(match format {
        Format::Json => Json(found.json()).into_response(),
        Format::Csv => {
            let rows: Vec<Fields> = found
                .page
                .lines
                .iter()
                .map(|line| found.row(line))
                .collect();
            csv::csv(&found.columns(), &rows)
        }
    })
}

/// What was found, and what was asked for in full.
struct Found {
    zone: Zone,
    from: Time,
    to: Time,
    by: By,
    unit: Option<Unit>,
    as_of: Option<String>,
    page: Page,
    reconciled: Option<Vec<reconcile::Line>>,
}

fn read(connection: &Connection, query: &Query, prices: &Prices, now: Time) -> Outcome<Found> {
    let zone = Zone::find(query.zone.as_deref())?;
    let (from, to) = span(query, &zone, now)?;
    let project = scope::project(connection, query.project.as_deref())?;
    let part = match &query.part {
        Some(name) => Some(scope::part(connection, &project, name)?.seq),
        None => None,
    };
    let filter = Filter {
        project: project.seq,
        part,
        provider: query.provider.clone(),
        model: query.model.clone(),
        cause: query.cause.as_deref().map(cause).transpose()?,
        wake: query.wake.clone(),
        thread: match &query.thread {
            Some(typed) => Some(scope::thread(connection, typed)?.1),
            None => None,
        },
        from,
        to,
    };
    let (by, unit) = (query.by.into(), query.unit.map(Unit::from));
    let grouping = Grouping {
        by,
        unit,
        zone: &zone,
        prices,
        limit: query
            .limit
            .or((query.format == Format::Json).then_some(LINES)),
    };
    let page = ledger::page(connection, &filter, &grouping)?;
    let reconciled = match query.reconcile {
        false => None,
        true => {
            let span = reconcile::Span {
                project: project.seq,
                part,
                from,
                to,
                zone: &zone,
            };
            Some(reconcile::lines(connection, &span, now)?)
        }
    };
    Ok(Found {
        from,
        to,
        by,
        unit,
        as_of: prices.as_of().map(str::to_owned),
        page,
        reconciled,
        zone,
    })
}

fn invalid(message: String) -> Refusal {
    Refusal::new("invalid_argument", message)
}

fn cause(word: &str) -> Result<Cause, Refusal> {
    let known = Cause::ALL.iter().find(|cause| cause.as_str() == word);
    known.copied().ok_or_else(|| {
        invalid(format!(
            "cause is one of wake, human, self, not {}",
            quote(word)
        ))
    })
}

/// From when to when. Days are whole days of the zone, so that a page does not change its first day from hour to hour.
fn span(query: &Query, zone: &Zone, now: Time) -> Result<(Time, Time), Refusal> {
    let time = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => Time::parse(text).map(Some).ok_or_else(|| {
            let text = quote(text);
            invalid(format!(
                "{name} is a time such as 2026-12-01T09:30:00Z, not {text}"
            ))
        }),
    };
    let to = time("to", &query.to)?.unwrap_or(Time(now.0 + 1));
    if let Some(from) = time("from", &query.from)? {
        return Ok((from, to));
    }
    let Some(range) = &query.range else {
        return Ok((zone.days_before(now, DAYS - 1), to));
    };
    let bad = || invalid(format!("range is such as 7d or 24h, not {}", quote(range)));
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0);
    if let Some(days) = range.strip_suffix('d') {
        let days = number(days)
            .filter(|days| *days <= MOST_DAYS)
            .ok_or_else(bad)?;
        return Ok((zone.days_before(now, days - 1), to));
    }
    let hours = range.strip_suffix('h').and_then(number);
    let hours = hours
        .filter(|hours| *hours <= MOST_DAYS * 24)
        .ok_or_else(bad)?;
    let from = Time(now.0 - i64::from(hours - 1) * 3_600_000);
    Ok((zone.hour(from), to))
}

impl Found {
    /// The names of a line's fields.
    fn columns(&self) -> Vec<&'static str> {
        let mut columns = Vec::new();
        columns.extend(self.unit.map(|_| "at"));
        columns.extend(match self.by {
            By::Wake => vec!["wakeId", "tag"],
            By::Thread => vec!["threadId", "subject"],
            by => vec![by.as_str()],
        });
        columns.extend(FIGURES);
        columns
    }

    fn row(&self, line: &Line) -> Fields {
        let mut values: Vec<Value> = Vec::new();
        values.extend(line.at.map(|at| Value::from(self.zone.rfc3339(at))));
        values.push(line.name.as_str().into());
        if matches!(self.by, By::Wake | By::Thread) {
            values.push(json!(line.label));
        }
        values.extend(figures(&line.figures));
        self.columns().into_iter().zip(values).collect()
    }

    fn json(&self) -> Value {
        let rows = self
            .page
            .lines
            .iter()
            .map(|line| csv::object(self.row(line)));
        let total = FIGURES.into_iter().zip(figures(&self.page.total)).collect();
        let mut answer = json!({
            "zone": self.zone.name(),
            "from": self.zone.rfc3339(self.from),
            "to": self.zone.rfc3339(self.to),
            "by": self.by.as_str(),
            "pricesAsOf": self.as_of,
            "rows": rows.collect::<Vec<_>>(),
            "total": csv::object(total),
            "omitted": self.page.omitted,
            "unpricedModels": self.page.unpriced_models,
        });
        if let Some(lines) = &self.reconciled {
            let lines = lines.iter().map(|line| reconciled(line, &self.zone));
            answer["reconcile"] = lines.collect();
        }
        answer
    }
}

/// The names of figures: the five of a usage, then the finer ones.
const FIGURES: [&str; 10] = [
    "replies",
    "input_tokens",
    "output_tokens",
    "cache_tokens",
    "cost_usd",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "reasoning_tokens",
    "unpriced_tokens",
];

fn figures(figures: &Figures) -> [Value; 10] {
    let tokens = figures.tokens;
    [
        figures.replies.into(),
        tokens.input.into(),
        tokens.output.into(),
        (tokens.cache_read + tokens.cache_write).into(),
        json!(figures.cost.usd()),
        tokens.cache_read.into(),
        tokens.cache_write.into(),
        tokens.cache_write_1h.into(),
        tokens.reasoning.into(),
        figures.cost.unpriced.into(),
    ]
}

/// A line of wakes beside turns.
pub(super) fn reconciled(line: &reconcile::Line, zone: &Zone) -> Value {
    json!({
        "part": line.part,
        "day": zone.rfc3339(line.day),
        "issued": line.issued,
        "typed": line.typed,
        "presented": line.presented,
        "silent": line.silent,
        "woken": line.woken,
        "duplicates": line.duplicates,
        "duplicateTokens": line.duplicate_tokens,
        "human": line.human,
        "self": line.own,
        "skipped": line.skipped,
        "dropped": line.dropped,
        "foreignTags": line.foreign_tags,
        "lastReport": line.last_report.map(Time::rfc3339),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        let uri = format!("/?{text}").parse().unwrap();
        axum::extract::Query::try_from_uri(&uri).unwrap().0
    }

    #[test]
    fn ranges_are_whole_days_or_hours() {
        let zone = Zone::find(Some("+05:30")).unwrap();
        let now = Time::parse("2026-11-08T12:40:00+05:30").unwrap();
        for (text, from) in [
            ("", "2026-11-02T00:00:00+05:30"),
            ("range=1d", "2026-11-08T00:00:00+05:30"),
            ("range=24h", "2026-11-07T13:00:00+05:30"),
            ("from=2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"),
        ] {
            let (found, to) = span(&query(text), &zone, now).unwrap();
            assert_eq!(Some(found), Time::parse(from), "{text}");
            assert_eq!(to, Time(now.0 + 1));
        }
        for bad in [
            "range=d",
            "range=0d",
            "range=7",
            "range=4000d",
            "from=noon",
            "range=-1h",
        ] {
            assert!(span(&query(bad), &zone, now).is_err(), "{bad}");
        }
    }
}
