//! `GET /api/admin/wakes`: the ledger, its newest rows as JSON or CSV, or what it says of the last 7 days.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::Response;
use http::header;
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::scope;
use crate::http::app::App;
use crate::http::extract::Admin;
use crate::http::extract::Params;
use crate::http::failure::Failure;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::quote;
use crate::wake::ledger;
use crate::wake::ledger::Filter;
use crate::wake::ledger::Row;
use crate::wake::span;
use crate::wake::summary;
use crate::wake::summary::Figures;
use crate::wake::summary::Summary;

/// Rows of one answer, unless asked otherwise, and at most.
const ROWS: u32 = 200;
const MOST: u32 = 1_000;

/// What a report looks back on.
const SPAN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What to read of the ledger.
#[derive(Debug, Deserialize)]
pub(super) struct Query {
    project: Option<String>,
    part: Option<String>,
    reason: Option<String>,
    /// RFC 3339.
    since: Option<String>,
    limit: Option<u32>,
    #[serde(default)]
    format: Format,
    /// The summary in place of the rows.
    #[serde(default)]
    report: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Json,
    Csv,
}

/// Rows newest first, or the report.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Admin(_): Admin,
    Params(query): Params<Query>,
) -> Result<Response, Failure> {
    if query.report {
        if query.format == Format::Csv {
            return Err(Failure::bad_request(
                "invalid_argument",
                "a report is JSON only",
                "leave format out",
            ));
        }
        let now = app.now();
        let summary = app
            .store
            .read(move |connection| report(connection, &query, now));
        return Ok(Json(json!({ "report": summary.await? })).into_response());
    }
    let format = query.format;
    let rows = app.store.read(move |connection| rows(connection, &query));
    let rows: Vec<Fields> = rows.await?.into_iter().map(fields).collect();
    Ok(match format {
        Format::Json => {
            let rows: Vec<Value> = rows.into_iter().map(object).collect();
            Json(json!({ "rows": rows })).into_response()
        }
        Format::Csv => (
            [(header::CONTENT_TYPE, "text/csv; charset=utf-8")],
            csv(&rows),
        )
            .into_response(),
    })
}

fn since(query: &Query) -> Outcome<Option<Time>> {
    let Some(typed) = &query.since else {
        return Ok(None);
    };
    let time = Time::parse(typed).ok_or_else(|| {
        Refusal::new(
            "invalid_argument",
            format!(
                "since is a time such as 2026-12-01T09:30:00Z, not {}",
                quote(typed)
            ),
        )
    })?;
    Ok(Some(time))
}

/// The project, and the part if one is named.
fn place(connection: &Connection, query: &Query) -> Outcome<(ProjectSeq, Option<PartSeq>)> {
    let project = scope::project(connection, query.project.as_deref())?;
    let part = match &query.part {
        Some(name) => Some(scope::part(connection, &project, name)?.seq),
        None => None,
    };
    Ok((project.seq, part))
}

fn rows(connection: &Connection, query: &Query) -> Outcome<Vec<Row>> {
    let (project, part) = place(connection, query)?;
    let filter = Filter {
        project,
        part,
        reason: query.reason.clone(),
        since: since(query)?,
        limit: query.limit.unwrap_or(ROWS).min(MOST),
    };
    ledger::rows(connection, &filter)
}

fn report(connection: &Connection, query: &Query, now: Time) -> Outcome<Value> {
    let (project, part) = place(connection, query)?;
    let from = since(query)?.unwrap_or(now - SPAN);
    let summary = span::summary(connection, project, part, from, now)?;
    let mut view = summary_view(&summary);
    view["from"] = from.rfc3339().into();
    view["to"] = now.rfc3339().into();
    Ok(view)
}

/// A row by the names of its fields, in the order of the columns of CSV.
type Fields = [(&'static str, Value); 22];

fn fields(row: Row) -> Fields {
    let time = |time: Option<Time>| json!(time.map(Time::rfc3339));
    [
        ("row", row.what.as_str().into()),
        ("at", row.at.rfc3339().into()),
        ("endedAt", time(row.ended_at)),
        ("part", row.part.into()),
        ("owner", row.owner.into()),
        ("wakeId", row.wake.into()),
        ("tag", row.tag.into()),
        ("lane", row.lane.into()),
        ("rung", row.rung.into()),
        ("state", row.state.into()),
        ("outcome", row.outcome.into()),
        ("reason", row.reason.into()),
        ("until", time(row.until)),
        ("count", row.count.into()),
        ("storedAt", time(row.stored_at)),
        ("presentedAt", time(row.presented_at)),
        ("consumedAt", time(row.consumed_at)),
        ("cause", row.cause.into()),
        ("threadId", row.thread.into()),
        ("cli", row.cli.into()),
        ("cliVersion", row.cli_version.into()),
        ("tmux", row.tmux.into()),
    ]
}

fn object(fields: Fields) -> Value {
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(
        known
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>(),
    )
}

/// RFC 4180, with the names in the first line.
fn csv(rows: &[Fields]) -> String {
    let names = "row,at,endedAt,part,owner,wakeId,tag,lane,rung,state,outcome,reason,until,count,storedAt,presentedAt,consumedAt,\
                 cause,threadId,cli,cliVersion,tmux";
    let mut text = format!("{names}\r\n");
    for row in rows {
        let values: Vec<String> = row.iter().map(|(_, value)| quoted(value)).collect();
        text.push_str(&values.join(","));
        text.push_str("\r\n");
    }
    text
}

fn quoted(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains(['"', ',', '\r', '\n']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn summary_view(summary: &Summary) -> Value {
    let groups = |key: &str, groups: &[(String, Figures)]| -> Vec<Value> {
        let views = groups.iter().map(|(name, figures)| {
            let mut view = json!({ key: name });
            if let (Value::Object(view), Value::Object(more)) = (&mut view, figures_view(figures)) {
                view.extend(more);
            }
            view
        });
        views.collect()
    };
    let holds = summary.holds.iter().map(|held| {
        json!({"part": held.part, "reason": held.reason.as_str(), "count": held.count, "heldMs": held.held_ms})
    });
    let misses = summary.misses.iter().map(|miss| {
        json!({
            "wakeId": miss.id,
            "tag": miss.tag,
            "part": miss.part,
            "issuedAt": miss.issued_at.rfc3339(),
            "outcome": miss.outcome,
            "cause": miss.cause,
            "threadId": miss.thread,
        })
    });
    json!({
        "all": figures_view(&summary.all),
        "parts": groups("part", &summary.parts),
        "clis": groups("cli", &summary.clis),
        "tmux": groups("tmux", &summary.tmux),
        "holds": holds.collect::<Vec<_>>(),
        "misses": misses.collect::<Vec<_>>(),
    })
}

fn figures_view(figures: &Figures) -> Value {
    let percentiles = |found: Option<summary::Percentiles>| {
        found.map(|found| json!({"p50": found.p50, "p95": found.p95, "p99": found.p99}))
    };
    json!({
        "issued": figures.issued,
        "consumed": figures.consumed,
        "unanswered": figures.unanswered,
        "cleared": figures.cleared,
        "canceled": figures.canceled,
        "open": figures.open,
        "successRate": figures.success_rate(),
        "presentedMs": percentiles(figures.presented),
        "consumedMs": percentiles(figures.consumption),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_with_a_comma_or_a_quote_stays_one_field() {
        for (value, text) in [
            (Value::Null, ""),
            (json!(3), "3"),
            (json!("web"), "web"),
            (json!("Bo, \"the\" builder"), "\"Bo, \"\"the\"\" builder\""),
        ] {
            assert_eq!(quoted(&value), text);
        }
    }
}
