//! Reading fields of the relay's answers. A field that is not there reads as nothing: an older relay may not send it.

use serde_json::Value;

use crate::store::Time;

/// A text field.
#[must_use]
pub fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// A count.
#[must_use]
pub fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

/// A yes or no.
#[must_use]
pub fn flag(value: &Value, name: &str) -> bool {
    value[name].as_bool().unwrap_or_default()
}

/// A time.
#[must_use]
pub fn time(value: &Value, name: &str) -> Option<Time> {
    value[name].as_str().and_then(Time::parse)
}

/// A list.
#[must_use]
pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
