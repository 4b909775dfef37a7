//! The last words of a Gemini session, from its transcript (usage.md 10): what its hook says of them repeats words.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;

/// How much of a file's end is looked at, in bytes.
const END: u64 = 256 << 10;

/// The text of the last reply; `None` if none is near the file's end.
#[must_use]
pub fn last(transcript: &Path) -> Option<String> {
    let file = File::open(transcript).ok()?;
    let length = file.metadata().ok()?.len();
    let start = length.saturating_sub(END);
    let mut end = vec![0; usize::try_from(length - start).ok()?];
    file.read_exact_at(&mut end, start).ok()?;
    end.rsplit(|byte| *byte == b'\n').find_map(text)
}

fn text(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    if message.get("type")? != "gemini" {
        return None;
    }
    let text = match message.get("content")? {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(name: &str) -> Option<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        last(&root.join("tests/fixtures/transcripts/gemini").join(name))
    }

    #[test]
    fn usage_045_the_last_reply_is_what_the_transcript_says() {
        for (name, text) in [
            (
                "0.61.0-simple/session-2026-11-30T18-52-dcffc5ad.jsonl",
                Some("A simple answer."),
            ),
            (
                "0.61.0-tools/session-2026-11-30T18-55-aed3914a.jsonl",
                Some("Both files are fine.There is nothing else to do."),
            ),
            (
                "0.61.0-interrupted/session-2026-11-30T19-00-2b357946.jsonl",
                None,
            ),
            ("absent.jsonl", None),
        ] {
            assert_eq!(recorded(name).as_deref(), text, "{name}");
        }
    }
}
