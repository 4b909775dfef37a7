//! Lists: how many elements an answer holds, and the note at its end (tools.md 4, Results).

use std::ops::RangeInclusive;

use serde::Serialize;
use serde::ser::SerializeSeq;
use serde::ser::Serializer;

use crate::store::Refusal;

/// Most bytes of JSON a list may have.
pub const LIST_BYTES: usize = 24 * 1024;

/// Of these, what is kept free for the note and what an edge adds to it.
const NOTE_BYTES: usize = 512;

/// Elements, and at most one note to the reader. Serializes as the array of both, the note last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T> {
    /// The data.
    pub items: Vec<T>,
    /// Word to the reader.
    pub note: Option<Note>,
}

/// An element that is no data: it has neither `messageId`, `id`, `threadId` nor `part`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The list was cut; go on with `before`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// Last id given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// A word of advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
    /// Arguments the tool does not have; the edge names them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl<T> List<T> {
    /// The note, made if there is none.
    pub fn note_mut(&mut self) -> &mut Note {
        self.note.get_or_insert_with(Note::default)
    }
}

impl<T: Serialize> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = self.items.len() + usize::from(self.note.is_some());
        let mut array = serializer.serialize_seq(Some(length))?;
        for item in &self.items {
            array.serialize_element(item)?;
        }
        if let Some(note) = &self.note {
            array.serialize_element(note)?;
        }
        array.end()
    }
}

/// Cuts a list to its bytes; `id` gives what its `before` takes. Only a cut leaves a note.
pub(super) fn cut<T: Serialize>(mut items: Vec<T>, id: impl Fn(&T) -> &str) -> List<T> {
    let mut room = LIST_BYTES - NOTE_BYTES;
    let mut kept = 0;
    for item in &items {
        // One more for the comma.
        let Some(rest) = room.checked_sub(size(item) + 1) else {
            break;
        };
        room = rest;
        kept += 1;
    }
    let note = (kept < items.len()).then(|| Note {
        more: true,
        before: items[..kept].last().map(|item| id(item).to_owned()),
        ..Note::default()
    });
    items.truncate(kept);
    List { items, note }
}

/// Bytes of a value's compact JSON.
pub(super) fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 2, |json| json.len())
}

/// Reads a list's `limit`.
///
/// # Errors
/// `invalid_argument`, naming the bounds; a limit is never clamped.
pub(super) fn limit(
    given: Option<i64>,
    bounds: RangeInclusive<i64>,
    default: i64,
) -> Result<i64, Refusal> {
    match given {
        None => Ok(default),
        Some(limit) if bounds.contains(&limit) => Ok(limit),
        Some(_) => Err(Refusal::new(
            "invalid_argument",
            format!(
                "Nothing was listed: limit is an integer {}–{}.",
                bounds.start(),
                bounds.end()
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_fits_has_no_note() {
        let list = cut(vec!["a", "b"], |item| item);
        assert_eq!(serde_json::to_string(&list).unwrap(), r#"["a","b"]"#);
    }

    #[test]
    fn a_cut_list_says_where_to_go_on() {
        let items: Vec<String> = (0..60)
            .map(|n| format!("{n:02}{}", "x".repeat(500)))
            .collect();
        let list = cut(items, |item| &item[..2]);
        let json = serde_json::to_string(&list).unwrap();
        assert!(json.len() <= LIST_BYTES);
        assert!(json.len() > LIST_BYTES - NOTE_BYTES - 600);
        let last = list.items.last().unwrap()[..2].to_owned();
        assert!(json.ends_with(&format!(r#"{{"more":true,"before":"{last}"}}]"#)));
    }

    #[test]
    fn limits_are_refused_and_not_clamped() {
        assert_eq!(limit(None, 1..=50, 30), Ok(30));
        assert_eq!(limit(Some(50), 1..=50, 30), Ok(50));
        for bad in [0, 51, -1] {
            let refusal = limit(Some(bad), 1..=50, 30).unwrap_err();
            assert!(refusal.message.contains("1–50"));
        }
    }
}
