//! Rows of named fields, as JSON objects or as CSV (RFC 4180).

use axum::Json;
use axum::response::IntoResponse;
use axum::response::Response;
use http::header;
use serde::Deserialize;
use serde_json::Map;
use serde_json::Value;

/// How rows are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Json,
    Csv,
}

/// Fields by name, in the order of the columns.
pub(super) type Fields = Vec<(&'static str, Value)>;

/// A row as JSON: what is not known is left out.
pub(super) fn object(fields: Fields) -> Value {
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(
        known
            .map(|(name, value)| (name.to_owned(), value))
            .collect::<Map<_, _>>(),
    )
}

/// Rows as JSON objects under `name`.
pub(super) fn json(name: &str, rows: Vec<Fields>) -> Response {
    let rows: Vec<Value> = rows.into_iter().map(object).collect();
    let mut answer = Map::new();
    answer.insert(name.to_owned(), rows.into());
    Json(Value::Object(answer)).into_response()
}

/// Rows as CSV, under the names of `columns`.
pub(super) fn csv(columns: &[&str], rows: &[Fields]) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/csv; charset=utf-8")];
    (kind, text(columns, rows)).into_response()
}

fn text(columns: &[&str], rows: &[Fields]) -> String {
    let mut text = format!("{}\r\n", columns.join(","));
    for row in rows {
        let values: Vec<String> = row.iter().map(|(_, value)| quoted(value)).collect();
        text.push_str(&values.join(","));
        text.push_str("\r\n");
    }
    text
}

/// A text that a spreadsheet would take for a formula gets an apostrophe in front (dashboard.md 8).
fn quoted(value: &Value) -> String {
    let Value::String(text) = value else {
        return match value {
            Value::Null => String::new(),
            other => other.to_string(),
        };
    };
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = match formula {
        true => format!("'{text}"),
        false => text.clone(),
    };
    if text.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_with_a_comma_or_a_quote_stays_one_field() {
        for (value, text) in [
            (Value::Null, ""),
            (json!(3), "3"),
            (json!(-3), "-3"),
            (json!("web"), "web"),
            (json!("=1+1"), "'=1+1"),
            (json!("Bo, \"the\" builder"), "\"Bo, \"\"the\"\" builder\""),
        ] {
            assert_eq!(quoted(&value), text);
        }
    }

    #[test]
    fn names_stand_in_the_first_line() {
        let rows = vec![vec![("a", json!(1)), ("b", Value::Null)]];
        assert_eq!(text(&["a", "b"], &rows), "a,b\r\n1,\r\n");
        assert_eq!(object(rows[0].clone()), json!({"a": 1}));
    }
}
