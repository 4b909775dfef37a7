//! A row as it came, held to its bounds (usage.md 6): pure. One that breaks them is refused alone.

use std::time::Duration;

use serde_json::Map;
use serde_json::Value;

use super::Reply;
use super::Tokens;
use crate::activity::clock::SenderClock;
use crate::store::Time;

/// Largest count of one reply.
const MOST: u64 = 1_000_000_000;

/// Largest cost of one reply, in dollars.
const DEAREST: f64 = 10_000.0;

/// Longest key and longest model, in characters.
const KEY: usize = 200;
const MODEL: usize = 100;

/// A row may be dated this far ahead of our clock.
const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether numbers that came another way are within the bounds of a reply.
pub(super) fn is_reply(tokens: &Tokens, cost: Option<f64>) -> bool {
    let most = MOST.cast_signed();
    let counts = [tokens.input, tokens.output, tokens.cache_read];
    counts.iter().all(|count| *count <= most) && cost.is_none_or(|cost| cost <= DEAREST)
}

/// Reads a row.
///
/// # Errors
/// What is wrong with it.
pub(super) fn row(row: &Value, clock: &SenderClock) -> Result<Reply, String> {
    let row = row.as_object().ok_or("is no object")?;
    let key = match row.get("key") {
        Some(Value::String(key)) => key.clone(),
        _ => return Err("key is no text".into()),
    };
    plain("key", &key, 1, KEY)?;
    let at = row.get("at").and_then(Value::as_str).and_then(Time::parse);
    let at = clock.ours(at.ok_or("at is not RFC 3339 with offset")?);
    if at > clock.now() + AHEAD {
        return Err("at is more than 24 h ahead".into());
    }
    let turn = match row.get("turn") {
        None | Some(Value::Null) => None,
        Some(Value::String(turn)) => {
            plain("turn", turn, 1, KEY)?;
            Some(turn.clone())
        }
        Some(_) => return Err("turn is no text".into()),
    };
    let tokens = Tokens {
        input: count(row, "input_tokens")?,
        output: count(row, "output_tokens")?,
        cache_read: count(row, "cache_read_tokens")?,
        cache_write: count(row, "cache_write_tokens")?,
        cache_write_1h: count(row, "cache_write_1h_tokens")?,
        reasoning: count(row, "reasoning_tokens")?,
    };
    if tokens.cache_write_1h > tokens.cache_write {
        return Err("cache_write_1h_tokens is more than cache_write_tokens".into());
    }
    Ok(Reply {
        key,
        at,
        turn,
        model: model(row)?,
        tokens,
        cost: cost(row)?,
        sidechain: row.get("sidechain") == Some(&Value::Bool(true)),
        shifted: clock.is_shifted(),
    })
}

/// Reads the `usage` object of another runtime as one reply of now; `None` if there is nothing in it.
///
/// # Errors
/// What is wrong with it.
pub(super) fn object(
    usage: &Value,
    key: Option<&str>,
    clock: &SenderClock,
) -> Result<Option<Reply>, String> {
    let usage = usage.as_object().ok_or("usage is no object")?;
    let tokens = Tokens {
        input: count(usage, "input_tokens")?,
        output: count(usage, "output_tokens")?,
        cache_read: count(usage, "cache_tokens")?,
        ..Tokens::default()
    };
    let cost = cost(usage)?;
    if tokens == Tokens::default() && cost.unwrap_or(0) == 0 {
        return Ok(None);
    }
    let key = match key {
        Some(key) => {
            plain("key", key, 1, KEY)?;
            key.to_owned()
        }
        None => crate::store::new_id(),
    };
    Ok(Some(Reply {
        key,
        at: clock.now(),
        turn: None,
        model: model(usage)?,
        tokens,
        cost,
        sidechain: false,
        shifted: false,
    }))
}

fn count(row: &Map<String, Value>, name: &str) -> Result<i64, String> {
    let count = match row.get(name) {
        None | Some(Value::Null) => 0,
        Some(value) => value
            .as_u64()
            .filter(|count| *count <= MOST)
            .ok_or_else(|| format!("{name} is no integer from 0 to {MOST}"))?,
    };
    Ok(count.cast_signed())
}

/// In millionths of a dollar.
fn cost(row: &Map<String, Value>) -> Result<Option<i64>, String> {
    match row.get("cost_usd") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_f64()
            .filter(|cost| (0.0..=DEAREST).contains(cost))
            .map(|cost| Some((cost * 1e6).round() as i64))
            .ok_or_else(|| format!("cost_usd is no number from 0 to {DEAREST}")),
    }
}

fn model(row: &Map<String, Value>) -> Result<String, String> {
    match row.get("model") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(model)) => plain("model", model, 0, MODEL).map(|()| model.clone()),
        Some(_) => Err("model is no text".into()),
    }
}

fn plain(field: &str, text: &str, least: usize, most: usize) -> Result<(), String> {
    let length = text.chars().count();
    if length < least || length > most || text.chars().any(char::is_control) {
        return Err(format!(
            "{field} is not {least}-{most} characters without control characters"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOON: Time = Time(1_796_126_400_000);

    fn with(name: &str, value: Value) -> Value {
        let mut row = json!({"key": "m1", "at": NOON.rfc3339(), "model": "m", "output_tokens": 4});
        row[name] = value;
        row
    }

    #[test]
    fn usage_037_a_row_that_breaks_a_bound_says_which() {
        let clock = SenderClock::new(None, NOON);
        for (name, bad) in [
            ("input_tokens", json!(-1)),
            ("output_tokens", json!(1.5)),
            ("cache_read_tokens", json!(1_000_000_001)),
            ("cache_write_tokens", json!("4")),
            ("cache_write_1h_tokens", json!(1)),
            ("cost_usd", json!(10_000.01)),
            ("cost_usd", json!(-0.1)),
            ("key", json!("x".repeat(201))),
            ("key", json!("")),
            ("key", json!("a\u{1b}b")),
            ("key", Value::Null),
            ("turn", json!("")),
            ("model", json!("x".repeat(101))),
            ("at", json!((NOON + AHEAD * 2).rfc3339())),
            ("at", json!("noon")),
        ] {
            let why = row(&with(name, bad.clone()), &clock).unwrap_err();
            assert!(why.starts_with(name), "{bad}: {why}");
        }
        assert!(row(&json!([]), &clock).is_err());
    }

    #[test]
    fn bounds_themselves_are_taken() {
        let clock = SenderClock::new(None, NOON);
        for (name, good) in [
            ("input_tokens", json!(1_000_000_000)),
            ("input_tokens", Value::Null),
            ("cost_usd", json!(10_000)),
            ("key", json!("é".repeat(200))),
            ("model", json!("")),
            ("at", json!((NOON + AHEAD).rfc3339())),
            ("unknown_field", json!({})),
        ] {
            assert!(row(&with(name, good.clone()), &clock).is_ok(), "{good}");
        }
    }

    #[test]
    fn a_row_of_a_clock_that_is_off_is_set_to_ours() {
        let slow = SenderClock::new(Some(Time(NOON.0 - 7_200_000)), NOON);
        let read = row(
            &with("at", json!(Time(NOON.0 - 7_201_000).rfc3339())),
            &slow,
        )
        .unwrap();
        assert_eq!((read.at, read.shifted), (Time(NOON.0 - 1_000), true));
    }

    #[test]
    fn usage_039_nothing_is_no_reply() {
        let clock = SenderClock::new(None, NOON);
        let zero = json!({"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "model": "m"});
        assert_eq!(object(&zero, Some("k"), &clock), Ok(None));
        let some = json!({"input_tokens": 5, "cache_tokens": 7, "cost_usd": 0.0042});
        let read = object(&some, Some("k"), &clock).unwrap().unwrap();
        assert_eq!((read.tokens.input, read.tokens.cache_read), (5, 7));
        assert_eq!(read.cost, Some(4_200));
        assert!(object(&json!({"input_tokens": -1}), None, &clock).is_err());
    }
}
