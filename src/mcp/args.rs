//! Arguments, read as they are meant (tools.md 4): clients quote numbers, lists and objects, and send null for what they leave out.
//! What stays unclear is refused, and nothing is guessed: a text that is due stays text, also if it looks like JSON.

use serde_json::Map;
use serde_json::Value;

use super::message;
use super::schema::Kind;
use super::schema::Tool;
use crate::store::Refusal;
use crate::store::quote;

/// Names of ignored arguments that are shown, and characters of each.
const IGNORED_NAMES: usize = 10;
const IGNORED_CHARS: usize = 40;

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Args {
    members: Map<String, Value>,
    /// Names the tool does not have, as they are shown.
    pub(super) ignored: Vec<String>,
    /// What the names stand in: empty, or `lesson.`.
    within: &'static str,
}

type Read<T> = Result<T, Refusal>;

impl Args {
    /// Reads what stands in `arguments`: nothing, an object, or text of one.
    pub(super) fn read(tool: &Tool, arguments: &Value) -> Read<Self> {
        let mut members = match arguments {
            Value::Null => Map::new(),
            Value::Object(members) => members.clone(),
            Value::String(text) => match parsed(text) {
                Some(Value::Object(members)) => members,
                _ => return Err(invalid("arguments is no JSON object; give one")),
            },
            _ => return Err(invalid("arguments is no JSON object; give one")),
        };
        members.retain(|_, value| !value.is_null());
        let ignored = members
            .keys()
            .filter(|name| !tool.has(name))
            .take(IGNORED_NAMES)
            .map(|name| name.chars().take(IGNORED_CHARS).collect())
            .collect();
        Ok(Self {
            members,
            ignored,
            within: "",
        })
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.members.remove(name)
    }

    /// Text that may be absent.
    pub(super) fn text(&mut self, name: &str) -> Read<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => scalar(value).map(Some).ok_or_else(|| {
                invalid(&format!("{}{name} is no text; give a string", self.within))
            }),
        }
    }

    /// Text that must be there; blank is judged by the rule it is for.
    pub(super) fn required(&mut self, name: &str) -> Read<String> {
        self.text(name)?
            .ok_or_else(|| invalid(&format!("{}{name} is missing; give a string", self.within)))
    }

    /// Yes or no; absent is no.
    pub(super) fn flag(&mut self, name: &str) -> Read<bool> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(invalid(&format!("{name} is not clear; give true or false"))),
        }
    }

    /// A whole number; what it may be says the schema.
    pub(super) fn integer(&mut self, tool: &Tool, name: &str) -> Read<Option<i64>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let bounds = match tool.kind(name) {
            Some(Kind::Integer { least, most }) => *least..=*most,
            _ => i64::MIN..=i64::MAX,
        };
        whole(&value)
            .filter(|number| bounds.contains(number))
            .map(Some)
            .ok_or_else(|| {
                invalid(&format!(
                    "{name} is {}; give an integer {}–{}",
                    quote(&shown(&value)),
                    bounds.start(),
                    bounds.end()
                ))
            })
    }

    /// A list of texts; plain text is its one element, or several where commas part them.
    pub(super) fn list(&mut self, name: &str, commas: bool) -> Read<Option<Vec<String>>> {
        let no_list = || {
            invalid(&format!(
                "{name} is no list of texts; give an array of strings"
            ))
        };
        let elements = match self.take(name) {
            None => return Ok(None),
            Some(Value::Array(elements)) => elements,
            Some(Value::String(text)) => match parsed(&text) {
                Some(Value::Array(elements)) => elements,
                _ if commas => return Ok(Some(pieces(&text))),
                _ => vec![Value::String(text)],
            },
            Some(other) => vec![other],
        };
        elements
            .into_iter()
            .map(|element| scalar(element).ok_or_else(no_list))
            .collect::<Read<Vec<_>>>()
            .map(Some)
    }

    /// An object, or text of one.
    pub(super) fn object(&mut self, name: &str) -> Read<Option<Map<String, Value>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(Value::String(text)) => match parsed(&text) {
                Some(Value::Object(members)) => Ok(Some(members)),
                _ => Err(invalid(&format!("{name} is no JSON object; give one"))),
            },
            Some(_) => Err(invalid(&format!("{name} is no JSON object; give one"))),
        }
    }

    /// An object whose members are read like arguments; `within` is the name with a dot, for refusals.
    pub(super) fn inner(&mut self, name: &str, within: &'static str) -> Read<Option<Self>> {
        Ok(self.object(name)?.map(|mut members| {
            members.retain(|_, value| !value.is_null());
            Self {
                members,
                ignored: Vec::new(),
                within,
            }
        }))
    }
}

fn invalid(what: &str) -> Refusal {
    Refusal::new("invalid_argument", format!("Nothing was done: {what}."))
}

/// Text, or the JSON text of a number or boolean.
fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A whole number, also where it was written as `5.0` or quoted.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().and_then(from_float)),
        Value::String(text) => {
            let text = text.trim();
            text.parse()
                .ok()
                .or_else(|| text.parse().ok().and_then(from_float))
        }
        _ => None,
    }
}

/// Only numbers that a float holds exactly.
fn from_float(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
}

/// JSON inside a text.
fn parsed(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_slice(&message::mend_surrogates(text.as_bytes())).ok()
}

/// Names between commas, without blank ones.
fn pieces(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::schema;
    use super::*;

    fn read(tool: &str, arguments: Value) -> Args {
        Args::read(schema::find(tool).unwrap(), &arguments).unwrap()
    }

    #[test]
    fn tools_022_arguments_are_an_object_or_nothing() {
        for empty in [Value::Null, json!({}), json!("{}"), json!(" {} ")] {
            assert!(read("whoami", empty).members.is_empty());
        }
        for bad in [
            json!([1]),
            json!("[]"),
            json!("x"),
            json!(1),
            json!(true),
            json!(""),
        ] {
            let refusal = Args::read(schema::find("whoami").unwrap(), &bad).unwrap_err();
            assert_eq!(refusal.code, "invalid_argument", "{bad}");
        }
    }

    #[test]
    fn tools_024_numbers_and_flags_are_read_as_meant() {
        let inbox = schema::find("inbox").unwrap();
        for good in [json!(5), json!("5"), json!(5.0), json!(" 5 "), json!("5.0")] {
            let mut args = read("inbox", json!({"limit": good}));
            assert_eq!(args.integer(inbox, "limit"), Ok(Some(5)), "{good}");
        }
        for bad in [
            json!(51),
            json!(0),
            json!(1.5),
            json!("x"),
            json!(true),
            json!(1e30),
            json!([5]),
        ] {
            let refusal = read("inbox", json!({"limit": bad}))
                .integer(inbox, "limit")
                .unwrap_err();
            assert!(refusal.message.contains("1–50"), "{}", refusal.message);
        }
        for (flag, expected) in [
            (json!(true), Some(true)),
            (json!("true"), Some(true)),
            (json!("False"), Some(false)),
            (json!(null), Some(false)),
            (json!(1), None),
            (json!("yes"), None),
        ] {
            let mut args = read("inbox", json!({"unreadOnly": flag}));
            assert_eq!(args.flag("unreadOnly").ok(), expected, "{flag}");
        }
    }

    #[test]
    fn tools_025_lists_come_in_many_shapes() {
        let two = Some(vec!["web".to_owned(), "db".to_owned()]);
        for shape in [
            json!(["web", "db"]),
            json!("[\"web\",\"db\"]"),
            json!("web, db"),
            json!("web,db,"),
        ] {
            let mut args = read("send", json!({"to": shape}));
            assert_eq!(args.list("to", true), Ok(two.clone()), "{shape}");
        }
        let mut args = read("send", json!({"tags": "a, b", "to": 7}));
        assert_eq!(args.list("tags", false), Ok(Some(vec!["a, b".to_owned()])));
        assert_eq!(args.list("to", true), Ok(Some(vec!["7".to_owned()])));
        for bad in [json!([["web"]]), json!([null]), json!({"a": 1})] {
            assert!(
                read("send", json!({"to": bad})).list("to", true).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn tools_026_text_stays_text() {
        for (body, expected) in [
            (json!("{\"a\":1}"), Some("{\"a\":1}")),
            (json!(42), Some("42")),
            (json!(5.0), Some("5.0")),
            (json!(true), Some("true")),
            (json!({"a": 1}), None),
            (json!(["x"]), None),
        ] {
            let mut args = read("send", json!({"body": body}));
            assert_eq!(args.required("body").ok().as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn tools_027_unknown_names_are_kept_for_the_answer() {
        let args = read("send", json!({"urgnet": true, "to": [], "foo": null}));
        assert_eq!(args.ignored, ["urgnet"]);
        let many: Map<String, Value> = (0..50)
            .map(|n| (format!("{n}").repeat(60), json!(1)))
            .collect();
        let args = read("send", Value::Object(many));
        assert_eq!(args.ignored.len(), IGNORED_NAMES);
        assert!(args.ignored.iter().all(|name| name.len() <= IGNORED_CHARS));
    }

    #[test]
    fn objects_may_come_as_text_with_half_a_surrogate_in_it() {
        let mut args = read(
            "close",
            json!({"lesson": "{\"title\":\"a\\ud83d\",\"kind\":null}"}),
        );
        let mut lesson = args.inner("lesson", "lesson.").unwrap().unwrap();
        assert_eq!(lesson.text("title"), Ok(Some("a\u{fffd}".to_owned())));
        assert_eq!(lesson.text("kind"), Ok(None));
        let refusal = lesson.required("body").unwrap_err();
        assert!(
            refusal.message.contains("lesson.body"),
            "{}",
            refusal.message
        );
    }
}
