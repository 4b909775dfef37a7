//! How a JSON text is laid out: its indentation, its line ends, whether it is one line; and a value rendered the same way.

use serde_json::Value;

/// Indentation where a file shows none.
const UNIT: &str = "  ";

/// Whether a file is one line. An empty object is not: it is filled as a person writes it.
pub(super) fn is_one_line(text: &str) -> bool {
    let body = text.trim();
    !body.contains('\n') && body != "{}"
}

/// Blanks at the beginning of the line of `at`.
pub(super) fn indent(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    blanks(&text[line..at]).to_owned()
}

/// One step of indentation.
pub(super) fn unit(text: &str) -> String {
    text.lines()
        .skip(1)
        .map(blanks)
        .find(|blanks| !blanks.is_empty())
        .unwrap_or(UNIT)
        .to_owned()
}

fn blanks(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// How lines end.
pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// `value` over several lines, as editors lay it out.
pub(super) fn pretty(value: &Value, indent: &str, unit: &str, newline: &str) -> String {
    let inner = format!("{indent}{unit}");
    let (open, close, entries): (char, char, Vec<String>) = match value {
        Value::Object(map) if !map.is_empty() => {
            let entry = |(key, value): (&String, &Value)| {
                let value = pretty(value, &inner, unit, newline);
                format!("{}: {value}", Value::from(key.as_str()))
            };
            ('{', '}', map.iter().map(entry).collect())
        }
        Value::Array(list)
            if list
                .iter()
                .any(|value| value.is_object() || value.is_array()) =>
        {
            let entry = |value: &Value| pretty(value, &inner, unit, newline);
            ('[', ']', list.iter().map(entry).collect())
        }
        plain => return plain.to_string(),
    };
    let lines: Vec<String> = entries
        .into_iter()
        .map(|entry| format!("{newline}{inner}{entry}"))
        .collect();
    format!("{open}{}{newline}{indent}{close}", lines.join(","))
}
