//! Results and refusals as the blocks a model reads (tools.md 4).

use serde::Serialize;
use serde_json::Map;
use serde_json::Value;

use crate::messaging::List;
use crate::messaging::Note;
use crate::store::Error;
use crate::store::Fault;
use crate::store::Outcome;

/// What a tool answers: text blocks, and whether they are a refusal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rendered {
    pub(super) blocks: Vec<String>,
    pub(super) refused: bool,
}

impl Rendered {
    /// The blocks of a result or a refusal.
    ///
    /// # Errors
    /// The fault, which is no block.
    pub(super) fn of(outcome: Outcome<Vec<String>>) -> Result<Self, Fault> {
        match outcome {
            Ok(blocks) => Ok(Self {
                blocks,
                refused: false,
            }),
            Err(Error::Refusal(refusal)) => Ok(Self {
                blocks: vec![refusal.to_json().to_string()],
                refused: true,
            }),
            Err(Error::Fault(fault)) => Err(fault),
        }
    }
}

/// An object result: one block. Arguments the tool does not have are named in it.
pub(super) fn object(result: &impl Serialize, ignored: Vec<String>) -> Outcome<Vec<String>> {
    let mut value = json(result)?;
    if let (Value::Object(members), false) = (&mut value, ignored.is_empty()) {
        members.insert("ignored".into(), ignored.into());
    }
    Ok(vec![value.to_string()])
}

/// A list result: a plain block that does not parse as JSON, then the array. Gemini CLI reads a first block as JSON and refuses an
/// array there.
pub(super) fn list<T: Serialize>(
    mut list: List<T>,
    noun: &str,
    ignored: Vec<String>,
) -> Outcome<Vec<String>> {
    if !ignored.is_empty() {
        list.note_mut().ignored = ignored;
    }
    let count = match list.items.len() {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        many => format!("{many} {noun}s"),
    };
    Ok(vec![count, json(&list)?.to_string()])
}

/// A list that is never cut.
pub(super) fn whole<T: Serialize>(
    items: Vec<T>,
    noun: &str,
    ignored: Vec<String>,
) -> Outcome<Vec<String>> {
    let note: Option<Note> = None;
    list(List { items, note }, noun, ignored)
}

fn json(result: &impl Serialize) -> Outcome<Value> {
    serde_json::to_value(result)
        .map_err(|error| Fault::Corrupt(format!("a result is no JSON: {error}")).into())
}

/// `{"ok":true}`.
pub(super) fn ok() -> Map<String, Value> {
    Map::from_iter([("ok".to_owned(), Value::Bool(true))])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::Refusal;

    #[test]
    fn tools_105_lists_begin_with_a_block_that_is_no_json() {
        let blocks = |items: Vec<Value>| whole(items, "message", Vec::new()).unwrap();
        assert_eq!(blocks(vec![]), ["no messages", "[]"]);
        assert_eq!(blocks(vec![json!({"a": 1})]), ["1 message", r#"[{"a":1}]"#]);
        assert_eq!(blocks(vec![json!(1), json!(2)])[0], "2 messages");
    }

    #[test]
    fn tools_027_ignored_names_stand_in_the_object_or_in_the_note() {
        let ignored = || vec!["urgnet".to_owned()];
        assert_eq!(
            object(&ok(), ignored()).unwrap(),
            [r#"{"ok":true,"ignored":["urgnet"]}"#]
        );
        assert_eq!(object(&ok(), Vec::new()).unwrap(), [r#"{"ok":true}"#]);
        let blocks = whole(vec![json!({"id": 1})], "thread", ignored()).unwrap();
        assert_eq!(blocks, ["1 thread", r#"[{"id":1},{"ignored":["urgnet"]}]"#]);
    }

    #[test]
    fn refusals_are_blocks_and_faults_are_not() {
        let refused =
            Rendered::of(Err(Refusal::new("thread_done", "It is closed.").into())).unwrap();
        assert!(refused.refused);
        assert_eq!(
            refused.blocks,
            [r#"{"error":"thread_done","message":"It is closed."}"#]
        );
        assert!(Rendered::of(Err(Fault::DiskFull.into())).is_err());
    }
}
