//! Bytes to JSON-RPC messages (tools.md 2, check 10). Readers differ in what they make of a repeated member or half a surrogate pair;
//! what every later step sees is decided here, once.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::Error;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde_json::Map;
use serde_json::Value;

/// One message of a client.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// It wants an answer.
    Request {
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    /// It wants none: a notification, or a response to something we never asked.
    Silent,
    /// No message of JSON-RPC 2.0.
    Invalid,
}

/// What a body holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    One(Message),
    Batch(Vec<Message>),
}

/// Reads a body; `None` if it is no JSON.
pub(super) fn read(bytes: &[u8]) -> Option<Body> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = mend_surrogates(bytes);
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let way = Way {
        stand: Stand::Root,
        repeated: &Cell::new(false),
    };
    let value = way.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(match value {
        Value::Array(elements) => Body::Batch(elements.into_iter().map(classify).collect()),
        value => Body::One(classify(value)),
    })
}

fn classify(value: Value) -> Message {
    let Value::Object(mut object) = value else {
        return Message::Invalid;
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Message::Invalid;
    }
    let id = object.remove("id");
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Message::Invalid,
        None if object.contains_key("result") || object.contains_key("error") => {
            return Message::Silent;
        }
        None => return Message::Invalid,
    };
    let params = match object.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Message::Invalid,
    };
    match id {
        None => Message::Silent,
        Some(id @ (Value::String(_) | Value::Number(_))) => Message::Request { id, method, params },
        Some(_) => Message::Invalid,
    }
}

/// Reads half of a surrogate pair, which no text can hold, as U+FFFD: JavaScript clients cut strings in the middle of an emoji.
pub(super) fn mend_surrogates(bytes: &[u8]) -> Cow<'_, [u8]> {
    let half = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6)?;
        let digits = std::str::from_utf8(escape.strip_prefix(b"\\u")?).ok()?;
        u16::from_str_radix(digits, 16)
            .ok()
            .filter(|unit| (0xd800..0xe000).contains(unit))
    };
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\\') {
        let escape = at + found;
        let (kept, length) = match half(escape) {
            Some(high) if high < 0xdc00 && half(escape + 6).is_some_and(|low| low >= 0xdc00) => {
                (true, 12)
            }
            Some(_) => (false, 6),
            None => (true, 2),
        };
        let end = (escape + length).min(bytes.len());
        if !kept && mended.is_none() {
            mended = Some(bytes[..at].to_vec());
        }
        if let Some(mended) = &mut mended {
            mended.extend_from_slice(&bytes[at..escape]);
            mended.extend_from_slice(if kept {
                &bytes[escape..end]
            } else {
                b"\\ufffd"
            });
        }
        at = end;
    }
    match mended {
        Some(mut mended) => {
            mended.extend_from_slice(&bytes[at..]);
            mended.into()
        }
        None => bytes.into(),
    }
}

/// Where a value stands on the way from the message to the arguments of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Root,
    Message,
    Params,
    Arguments,
}

impl Stand {
    fn member(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Root | Self::Message, "params") => Some(Self::Params),
            (Self::Params, "arguments") => Some(Self::Arguments),
            _ => None,
        }
    }
}

/// Reads a value. A message in which a member name is repeated on the way to its arguments is read as null, and so as no message:
/// which of the two values a reader takes must not decide what is done.
#[derive(Clone, Copy)]
struct Way<'a> {
    stand: Stand,
    /// A name was repeated in the message at hand.
    repeated: &'a Cell<bool>,
}

impl Way<'_> {
    fn at(self, stand: Stand) -> Self {
        Self { stand, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for Way<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Way<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        if self.stand == Stand::Root {
            while let Some(element) = elements.next_element_seed(self.at(Stand::Message))? {
                array.push(element);
            }
        } else {
            while let Some(element) = elements.next_element()? {
                array.push(element);
            }
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let is_message = matches!(self.stand, Stand::Root | Stand::Message);
        if is_message {
            self.repeated.set(false);
        }
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = match self.stand.member(&name) {
                Some(stand) => members.next_value_seed(self.at(stand))?,
                None => members.next_value()?,
            };
            if object.insert(name, value).is_some() {
                self.repeated.set(true);
            }
        }
        Ok(if is_message && self.repeated.get() {
            Value::Null
        } else {
            Value::Object(object)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn request(method: &str, params: Value) -> Body {
        Body::One(Message::Request {
            id: json!(1),
            method: method.into(),
            params: params.as_object().unwrap().clone(),
        })
    }

    #[test]
    fn a_byte_order_mark_and_half_surrogates_are_read_over() {
        let text = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"x\\ud83d\",\
                    \"b\":\"\\ud83d\\ude00\",\"c\":\"\\ude00y\",\"d\":\"\\\\ud83d\",\"e\":\"\\ud83d\\ud83d\\ude00\"}}";
        let expected = json!({"a": "x\u{fffd}", "b": "😀", "c": "\u{fffd}y", "d": "\\ud83d", "e": "\u{fffd}😀"});
        assert_eq!(read(text.as_bytes()), Some(request("m", expected)));
    }

    #[test]
    fn what_is_no_json_and_what_is_no_message_are_told_apart() {
        for text in ["{bad", "", "{} {}", "{\"a\":\"\\u12\"}", "\u{feff}"] {
            assert_eq!(read(text.as_bytes()), None, "{text:?}");
        }
        for text in [
            "\"x\"",
            "null",
            "{}",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[1]}",
        ] {
            assert_eq!(
                read(text.as_bytes()),
                Some(Body::One(Message::Invalid)),
                "{text}"
            );
        }
        for text in [
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        ] {
            assert_eq!(
                read(text.as_bytes()),
                Some(Body::One(Message::Silent)),
                "{text}"
            );
        }
    }

    #[test]
    fn repeated_names_on_the_way_to_the_arguments_make_no_message() {
        let around = |inner: &str| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{inner}}}")
        };
        for text in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"m\"}".to_owned(),
            around("{\"name\":\"a\",\"name\":\"b\"}"),
            around("{\"arguments\":{\"to\":\"a\",\"to\":\"b\"}}"),
        ] {
            assert_eq!(
                read(text.as_bytes()),
                Some(Body::One(Message::Invalid)),
                "{text}"
            );
        }
        let inside = around("{\"arguments\":{\"detail\":{\"a\":1,\"a\":2}}}");
        let expected = json!({"arguments": {"detail": {"a": 2}}});
        assert_eq!(read(inside.as_bytes()), Some(request("m", expected)));
        let batch = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"m\"},{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]";
        let expected = Body::Batch(vec![Message::Invalid, Message::Silent]);
        assert_eq!(read(batch.as_bytes()), Some(expected));
    }

    proptest! {
        /// Whatever JSON arrives is read as the library reads it, as long as nothing is doubled.
        #[test]
        fn reads_what_was_written(text in "\\PC*", number in any::<i64>(), float in -1e9..1e9) {
            let params = json!({"arguments": {"text": text, "n": number, "f": float, "list": [text, null]}});
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}).to_string();
            let as_read: Value = serde_json::from_str(&body).unwrap();
            prop_assert_eq!(read(body.as_bytes()), Some(request("m", as_read["params"].clone())));
        }

        /// No bytes make the reader panic.
        #[test]
        fn survives_anything(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[\\\\ud8-f0-9\"{}:,]*") {
            let _ = read(&bytes);
            let _ = read(text.as_bytes());
        }
    }
}
