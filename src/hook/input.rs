//! What an agent CLI hands over: JSON on standard input, or as an argument (usage.md 1, step 1).

use std::fmt;
use std::io;
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use serde::Deserializer;
use serde::de::MapAccess;
use serde::de::Visitor;
use serde_json::Map;
use serde_json::Value;

/// Longest event that is looked at, in bytes; the rest is read away, so that who writes it meets no closed pipe.
const MOST: usize = 1 << 20;

/// How long standard input may take.
const PATIENCE: Duration = Duration::from_millis(200);

/// Reads standard input to its end, at most its first MiB, for at most 200 ms.
#[must_use]
pub fn standard() -> Vec<u8> {
    from(io::stdin())
}

fn from(mut input: impl Read + Send + 'static) -> Vec<u8> {
    let begun = Instant::now();
    let (to, arriving) = mpsc::channel();
    std::thread::spawn(move || {
        let mut chunk = vec![0; 64 << 10];
        loop {
            match input.read(&mut chunk) {
                Ok(0) | Err(_) => return,
                // Nobody listens behind the limit or the time; reading on is all that is left to do.
                Ok(length) => drop(to.send(chunk[..length].to_vec())),
            }
        }
    });
    let mut bytes = Vec::new();
    while bytes.len() < MOST {
        match arriving.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
            Ok(chunk) => bytes.extend(chunk),
            Err(_) => break,
        }
    }
    bytes.truncate(MOST);
    bytes
}

/// The fields of a JSON object. One that is cut or broken still has the fields before that place; all CLIs write names and ids first.
#[must_use]
pub fn fields(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let _ = reader.deserialize_map(Collect(&mut fields));
    fields
}

struct Collect<'f>(&'f mut Map<String, Value>);

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some((name, value)) = entries.next_entry()? {
            self.0.insert(name, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn usage_023_a_cut_event_keeps_the_fields_before_the_cut() {
        let whole = br#"{"session_id":"s","hook_event_name":"Stop","prompt":"a long one"}"#;
        let cut = fields(&whole[..whole.len() - 6]);
        assert_eq!(cut.len(), 2);
        assert_eq!(cut["hook_event_name"], "Stop");
        for bad in [&b""[..], b"[]", b"nonsense", b"{", b"\xff"] {
            assert!(fields(bad).is_empty());
        }
    }

    #[test]
    fn usage_023_five_megabytes_are_read_and_one_is_kept() {
        assert_eq!(from(io::repeat(b'x').take(5 << 20)).len(), MOST);
    }

    #[test]
    fn input_that_never_ends_is_left() {
        let (reader, writer) = io::pipe().unwrap();
        (&writer).write_all(b"{}").unwrap();
        let begun = Instant::now();
        assert_eq!(from(reader), b"{}");
        assert!(begun.elapsed() < Duration::from_secs(1));
        drop(writer);
    }
}
