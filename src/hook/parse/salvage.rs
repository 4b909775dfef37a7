//! Whole records in a line that does not parse (usage.md 3): two on a line, a cut one before it, NUL bytes of a crash.

use serde::de::DeserializeOwned;

/// How many times its length a line may cost, however hostile.
const COST: usize = 8;

/// What was found.
pub(super) struct Found<T> {
    pub records: Vec<T>,
    /// Whether something beside them was there.
    pub left_over: bool,
}

/// Looks for whole records, from the first opening brace on.
pub(super) fn records<T: DeserializeOwned>(line: &[u8]) -> Found<T> {
    let clean: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
    let mut found = Found {
        records: Vec::new(),
        left_over: false,
    };
    let (mut at, mut spent) = (0, 0);
    while spent <= clean.len() * COST {
        let rest = clean[at..].trim_ascii_start();
        if rest.is_empty() {
            return found;
        }
        let mut reader = serde_json::Deserializer::from_slice(rest).into_iter::<T>();
        let whole = reader.next();
        // A failed try has read as far as its error; a success is not read again.
        if let Some(Err(error)) = &whole {
            spent += error.column();
        }
        match whole {
            Some(Ok(record)) if rest.starts_with(b"{") => {
                at = clean.len() - rest.len() + reader.byte_offset();
                found.records.push(record);
            }
            _ => {
                found.left_over = true;
                let Some(next) = next_brace(&rest[1..]) else {
                    return found;
                };
                at = clean.len() - rest.len() + 1 + next;
            }
        }
    }
    found.left_over = true;
    found
}

/// Where the next object with a field begins.
fn next_brace(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"{\"")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Record {
        id: String,
    }

    fn found(line: &[u8]) -> (Vec<String>, bool) {
        let found = records::<Record>(line);
        let ids = found.records.into_iter().map(|record| record.id).collect();
        (ids, found.left_over)
    }

    #[test]
    fn usage_013_whole_records_are_found_and_the_rest_is_told() {
        for (line, ids, left_over) in [
            (&br#"{"id":"a"}{"id":"b"}"#[..], &["a", "b"][..], false),
            (br#"{"id":"cut {"id":"b"}"#, &["b"], true),
            (b"\0\0\0{\"id\":\"a\"}\n", &["a"], false),
            (br#"{"id":"a"} and noise"#, &["a"], true),
            (br#"{"id":"#, &[], true),
            (b"\0\0", &[], false),
            (b"[1]", &[], true),
        ] {
            let (found, over) = found(line);
            assert_eq!(found, ids, "{}", String::from_utf8_lossy(line));
            assert_eq!(over, left_over, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_hostile_line_is_given_up() {
        let line = "{\"x\":".repeat(50_000);
        assert!(found(line.as_bytes()).1);
    }
}
