//! `GET /api/admin/wakes`: the ledger, its newest rows as JSON or CSV, or what it says of the last 7 days.

use std::sync::Arc;
use std::time::Duration;

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
use super::usage;
use crate::activity::zone::Zone;
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
use crate::wake::reconcile;
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
        Format::Json => csv::json("rows", rows),
        Format::Csv => csv::csv(&COLUMNS, &rows),
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
    let zone = Zone::find(None)?;
    let span = reconcile::Span {
        project,
        part,
        from,
        to: Time(now.0 + 1),
        zone: &zone,
    };
    let turns = reconcile::by_part(reconcile::lines(connection, &span, now)?);
    let mut view = summary_view(&summary);
    view["turns"] = turns
        .iter()
        .map(|line| usage::reconciled(line, &zone))
        .collect();
    view["from"] = from.rfc3339().into();
    view["to"] = now.rfc3339().into();
    Ok(view)
}

/// The names of a row's fields, in the order of the columns of CSV.
const COLUMNS: [&str; 22] = [
    "row",
    "at",
    "endedAt",
    "part",
    "owner",
    "wakeId",
    "tag",
    "lane",
    "rung",
    "state",
    "outcome",
    "reason",
    "until",
    "count",
    "storedAt",
    "presentedAt",
    "consumedAt",
    "cause",
    "threadId",
    "cli",
    "cliVersion",
    "tmux",
];

fn fields(row: Row) -> Fields {
    let time = |time: Option<Time>| json!(time.map(Time::rfc3339));
    let values: [Value; 22] = [
        row.what.as_str().into(),
        row.at.rfc3339().into(),
        time(row.ended_at),
        row.part.into(),
        row.owner.into(),
        row.wake.into(),
        row.tag.into(),
        row.lane.into(),
        row.rung.into(),
        row.state.into(),
        row.outcome.into(),
        row.reason.into(),
        time(row.until),
        row.count.into(),
        time(row.stored_at),
        time(row.presented_at),
        time(row.consumed_at),
        row.cause.into(),
        row.thread.into(),
        row.cli.into(),
        row.cli_version.into(),
        row.tmux.into(),
    ];
    COLUMNS.into_iter().zip(values).collect()
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
