//! Events: what a part says about its own work (tools.md 6, event). They never change and wake nobody.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::OptionalExtension;
use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use super::park;
use super::usage;
use crate::identity::Caller;
use crate::store::EventSeq;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::new_id;
use crate::store::parse_id;
use crate::store::quote;
use crate::store::text;

/// Largest `detail` as compact JSON, in bytes.
const DETAIL_BYTES: usize = 32 * 1024;

/// Deepest nesting of `detail`.
const DETAIL_DEPTH: usize = 32;

/// 2^53−1: the largest integer every JSON reader agrees on.
const LARGEST_COUNT: f64 = 9_007_199_254_740_991.0;

/// The arguments of `event`, types read, bounds not yet checked.
#[derive(Debug, Clone, Default)]
pub struct EventArgs {
    /// Free; `composing`, `limited` and `error` mean something to us.
    pub kind: String,
    /// Free object.
    pub detail: Option<Map<String, Value>>,
    /// The agent's own word on its cost.
    pub usage: Option<Map<String, Value>>,
    /// An earlier event of the project.
    pub parent_event_id: Option<String>,
    /// Label of an agent this one started.
    pub spawned_agent_label: Option<String>,
    /// RFC 3339.
    pub started_at: Option<String>,
    /// RFC 3339.
    pub ended_at: Option<String>,
}

/// What `event` answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// Id of the new event.
    pub event_id: String,
    /// With `limited`: until when the part is parked; null after clearing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_until: Option<Value>,
    /// With `error` and `detail.contradicts`: filled in by who asks `knowledge`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<Value>,
}

/// Numbers an agent reports about one piece of work.
#[derive(Debug, Clone, Default, PartialEq)]
struct Usage {
    counts: BTreeMap<&'static str, i64>,
    cost_usd: Option<f64>,
    model: Option<String>,
}

/// Stores an event of the caller's part. `limited` also parks the part or ends its park; the caller then lets `wake` consider it.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`, `event_not_found`; nothing is stored then.
pub fn record(tx: &Tx<'_>, caller: &Caller, args: EventArgs, now: Time) -> Outcome<Recorded> {
    let kind = text::line("type", &args.kind)?;
    text::not_blank("type", &kind)?;
    text::at_most_chars("type", &kind, 64)?;
    let detail = args.detail.map(check_detail).transpose()?;
    let usage = args
        .usage
        .map(|usage| check_usage(&usage))
        .transpose()?
        .unwrap_or_default();
    let parent = match &args.parent_event_id {
        Some(id) => Some(find(tx, caller, id)?),
        None => None,
    };
    let spawned = match &args.spawned_agent_label {
        Some(label) => {
            let label = text::line("spawnedAgentLabel", label)?;
            text::at_most_chars("spawnedAgentLabel", &label, 100)?;
            Some(label).filter(|label| !label.is_empty())
        }
        None => None,
    };
    let started = time("startedAt", args.started_at.as_deref())?;
    let ended = time("endedAt", args.ended_at.as_deref())?;
    if let (Some(started), Some(ended)) = (started, ended)
        && ended < started
    {
        return Err(invalid("endedAt is before startedAt; give them in order").into());
    }
    let reset = match kind.as_str() {
        "limited" => Some(reset_at(detail.as_ref())?),
        _ => None,
    };
    let thread = match kind.as_str() {
        "composing" => Some(composing_thread(tx, caller, detail.as_ref())?),
        _ => None,
    };

    let id = new_id();
    tx.execute(
        "INSERT INTO event (id, project, part, type, detail, parent, spawned, started_at, ended_at, at,
                            input_tokens, output_tokens, cache_tokens, cost_usd, model)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        (
            &id,
            caller.project,
            caller.part,
            &kind,
            detail.map(|detail| Value::Object(detail).to_string()),
            parent,
            spawned,
            started,
            ended,
            now,
            usage.counts.get("input_tokens"),
            usage.counts.get("output_tokens"),
            usage.counts.get("cache_tokens"),
            usage.cost_usd,
            &usage.model,
        ),
    )?;
    let count = |name| usage.counts.get(name).copied().unwrap_or(0);
    let tokens = usage::Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_tokens"),
        ..usage::Tokens::default()
    };
    let model = usage.model.as_deref();
    usage::own_word(tx, caller.part, &id, tokens, model, usage.cost_usd, now)?;
    let signal = |topic, id: &str| Signal {
        topic,
        project: Some(caller.project),
        part: Some(caller.part),
        id: id.to_owned(),
    };
    tx.signal(signal(Topic::Event, &id));
    if let Some(thread) = thread {
        tx.signal(signal(Topic::Composing, &thread));
    }
    let limited_until = match reset {
        Some(reset) => Some(
            park::set(tx, caller.part, reset, now)?
                .map_or(Value::Null, |until| until.rfc3339().into()),
        ),
        None => None,
    };
    Ok(Recorded {
        event_id: id,
        limited_until,
        contradiction: None,
    })
}

fn invalid(what: &str) -> Refusal {
    Refusal::new("invalid_argument", format!("Nothing was done: {what}."))
}

fn find(connection: &Connection, caller: &Caller, id: &str) -> Outcome<EventSeq> {
    let parsed = parse_id(id).ok_or_else(|| {
        invalid("parentEventId is not a UUID; give one an earlier event returned")
    })?;
    let found = connection
        .prepare_cached("SELECT seq FROM event WHERE id = ?1 AND project = ?2")?
        .query_row((parsed, caller.project), |row| row.get(0))
        .optional()?;
    found.ok_or_else(|| {
        Refusal::new(
            "event_not_found",
            "Nothing was done: no event of this project has that parentEventId. Take an id that event returned.",
        )
        .into()
    })
}

fn time(argument: &str, value: Option<&str>) -> Result<Option<Time>, Refusal> {
    value
        .map(|text| {
            Time::parse(text).ok_or_else(|| {
                invalid(&format!(
                    "{argument} is {}; give RFC 3339 with offset, as 2026-12-01T09:30:00Z",
                    quote(text)
                ))
            })
        })
        .transpose()
}

/// Texts inside are held to the rule for bodies; size and depth are bounded.
fn check_detail(detail: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    fn walk(value: Value, depth: usize) -> Result<Value, Refusal> {
        if depth > DETAIL_DEPTH {
            return Err(invalid("detail nests deeper than 32; flatten it"));
        }
        Ok(match value {
            Value::String(text) => Value::String(text::lines("detail", &text)?),
            Value::Array(items) => Value::Array(
                items
                    .into_iter()
                    .map(|item| walk(item, depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(name, field)| {
                        Ok((text::lines("detail", &name)?, walk(field, depth + 1)?))
                    })
                    .collect::<Result<_, Refusal>>()?,
            ),
            other => other,
        })
    }
    let Value::Object(detail) = walk(Value::Object(detail), 1)? else {
        return Ok(Map::new());
    };
    let size = serde_json::to_string(&detail).map_or(0, |text| text.len());
    text::at_most("detail", "bytes of JSON", size, DETAIL_BYTES)?;
    Ok(detail)
}

fn check_usage(usage: &Map<String, Value>) -> Result<Usage, Refusal> {
    let mut checked = Usage::default();
    for name in ["input_tokens", "output_tokens", "cache_tokens"] {
        let Some(value) = usage.get(name).filter(|value| !value.is_null()) else {
            continue;
        };
        let count = number(value)
            .filter(|n| n.fract() == 0.0 && (0.0..=LARGEST_COUNT).contains(n))
            .ok_or_else(|| invalid(&format!("usage.{name} is no integer from 0 to 2^53-1")))?;
        checked.counts.insert(name, count as i64);
    }
    if let Some(value) = usage.get("cost_usd").filter(|value| !value.is_null()) {
        let cost = number(value)
            .filter(|cost| cost.is_finite() && *cost >= 0.0)
            .ok_or_else(|| invalid("usage.cost_usd is no number from 0 on"))?;
        checked.cost_usd = Some(cost);
    }
    if let Some(value) = usage.get("model").filter(|value| !value.is_null()) {
        let model = match value {
            Value::String(model) => text::line("usage.model", model)?,
            other => other.to_string(),
        };
        text::at_most_chars("usage.model", &model, 100)?;
        checked.model = Some(model).filter(|model| !model.is_empty());
    }
    Ok(checked)
}

/// A number, also where a client quoted it.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// `detail.resetAt` of a `limited` event: a time, or none to end the park. Anything else is refused, for a park nobody meant is mail
/// nobody reads.
fn reset_at(detail: Option<&Map<String, Value>>) -> Result<Option<Time>, Refusal> {
    match detail.and_then(|detail| detail.get("resetAt")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if Time::parse(text).is_some() => Ok(Time::parse(text)),
        Some(other) => {
            let shown = other
                .as_str()
                .map_or_else(|| other.to_string(), str::to_owned);
            Err(invalid(&format!(
                "detail.resetAt is {}; give RFC 3339 with offset, as 2026-12-01T09:30:00Z, or leave it out to end the park",
                quote(&shown)
            )))
        }
    }
}

fn composing_thread(
    connection: &Connection,
    caller: &Caller,
    detail: Option<&Map<String, Value>>,
) -> Outcome<String> {
    let id = detail
        .and_then(|detail| detail.get("threadId"))
        .and_then(Value::as_str)
        .and_then(parse_id)
        .ok_or_else(|| invalid("composing needs detail.threadId, a thread's UUID"))?;
    let known: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM thread WHERE id = ?1 AND project = ?2)")?
        .query_row((&id, caller.project), |row| row.get(0))?;
    if !known {
        return Err(Refusal::new(
            "thread_not_found",
            "Nothing was done: no thread of this project has that id. Take one from inbox, threads or search.",
        )
        .into());
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn tools_088_usage_bounds() {
        for bad in [
            json!({"input_tokens": -1}),
            json!({"input_tokens": 1.5}),
            json!({"input_tokens": 1e30}),
            json!({"cost_usd": -0.1}),
            json!({"cost_usd": "NaN"}),
            json!({"model": "x".repeat(101)}),
        ] {
            assert!(check_usage(&object(bad.clone())).is_err(), "{bad}");
        }
        let read = check_usage(&object(
            json!({"input_tokens": "1234", "output_tokens": 1234.0, "other": []}),
        ))
        .unwrap();
        assert_eq!(read.counts["input_tokens"], 1234);
        assert_eq!(read.counts["output_tokens"], 1234);
    }

    #[test]
    fn tools_087_detail_is_bounded_in_size_and_depth() {
        let fits = json!({"a": "x".repeat(DETAIL_BYTES - 8)});
        assert!(check_detail(object(fits)).is_ok());
        let over = json!({"a": "x".repeat(DETAIL_BYTES - 7)});
        assert_eq!(check_detail(object(over)).unwrap_err().code, "too_large");
        let mut deep = json!(1);
        for _ in 0..33 {
            deep = json!([deep]);
        }
        assert!(check_detail(object(json!({"a": deep}))).is_err());
    }

    #[test]
    fn tools_090_reset_at_is_a_time_or_nothing() {
        for bad in [
            json!("soon"),
            json!(""),
            json!(12345),
            json!("2026-12-01T09:30:00"),
        ] {
            assert!(reset_at(Some(&object(json!({"resetAt": bad})))).is_err());
        }
        assert_eq!(reset_at(None).unwrap(), None);
        assert_eq!(
            reset_at(Some(&object(json!({"resetAt": null})))).unwrap(),
            None
        );
    }
}
