//! Values as CLIs write them: a field that is missing, null or of another kind is no reason to lose the line.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::Deserializer;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;
use serde::de::value::MapAccessDeserializer;

/// A count of tokens: whatever is no number is 0, a fraction is cut, less than 0 is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub u64);

/// A text, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text(pub Option<String>);

impl Text {
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// None for an empty one, too.
    pub fn filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// An object, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// What the value turned out to be; each type takes what it can use.
trait Kind<'de>: Default {
    fn number(_: u64) -> Self {
        Self::default()
    }

    fn text(_: &str) -> Self {
        Self::default()
    }

    fn object<A: MapAccess<'de>>(mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl Kind<'_> for Count {
    fn number(value: u64) -> Self {
        Self(value)
    }
}

impl Kind<'_> for Text {
    fn text(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }
}

impl<'de, T: Deserialize<'de>> Kind<'de> for Object<T> {
    fn object<A: MapAccess<'de>>(entries: A) -> Result<Self, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(|value| Self(Some(value)))
    }
}

struct Any<K>(PhantomData<K>);

impl<'de, K: Kind<'de>> Visitor<'de> for Any<K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<K, E> {
        Ok(K::default())
    }

    fn visit_u64<E>(self, value: u64) -> Result<K, E> {
        Ok(K::number(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<K, E> {
        Ok(K::number(u64::try_from(value).unwrap_or_default()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<K, E> {
        // Casting cuts the fraction and stops at the ends.
        Ok(K::number(value as u64))
    }

    fn visit_str<E>(self, text: &str) -> Result<K, E> {
        Ok(K::text(text))
    }

    fn visit_unit<E>(self) -> Result<K, E> {
        Ok(K::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<K, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(K::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<K, A::Error> {
        K::object(entries)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_can_stand_where_a_count_is_looked_for() {
        for (json, value) in [
            ("7", 7),
            ("7.9", 7),
            ("-1", 0),
            ("null", 0),
            ("\"7\"", 0),
            ("true", 0),
            ("[1,2]", 0),
            ("{\"a\":[{}]}", 0),
        ] {
            let count: Count = serde_json::from_str(json).unwrap();
            assert_eq!(count.0, value, "{json}");
        }
    }

    #[test]
    fn an_object_is_an_object_or_none() {
        let object = |json: &str| -> Option<std::collections::BTreeMap<String, Text>> {
            serde_json::from_str::<Object<_>>(json).unwrap().0
        };
        assert_eq!(object("{\"a\":\"x\"}").unwrap()["a"].as_str(), "x");
        for other in ["\"cli\"", "null", "[{}]", "1"] {
            assert_eq!(object(other), None, "{other}");
        }
    }
}
