//! Transcripts made by a test, in the folders their CLIs keep them in.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

/// A time of the day the recorded transcripts are from.
pub fn at(seconds: u32) -> String {
    format!("2026-11-30T19:{:02}:{:02}.000Z", seconds / 60, seconds % 60)
}

/// Claude's line of a prompt.
pub fn prompt(turn: &str) -> Value {
    json!({"type": "user", "promptId": turn, "timestamp": at(0), "message": {"role": "user", "content": "go"}})
}

/// Claude's line of a reply.
pub fn reply(id: &str, output: u64) -> Value {
    reply_at(id, output, &at(1))
}

/// Claude's line of a reply at a time.
pub fn reply_at(id: &str, output: u64, at: &str) -> Value {
    json!({"type": "assistant", "uuid": format!("u-{id}"), "timestamp": at, "message": {
        "id": id, "model": "claude-large", "stop_reason": "end_turn",
        "usage": {"input_tokens": 4, "output_tokens": output},
    }})
}

/// Gemini's line of a reply.
pub fn gemini_reply(id: &str, output: u64) -> Value {
    json!({"id": id, "timestamp": at(1), "type": "gemini", "content": "An answer.", "model": "gemini-pro",
        "tokens": {"input": 10, "output": output, "cached": 0, "thoughts": 0, "tool": 0, "total": 10 + output}})
}

/// Codex's first line.
pub fn codex_meta(session: &str, parent: Option<&str>) -> Value {
    let source = match parent {
        Some(parent) => json!({"subagent": {"thread_spawn": {"parent_thread_id": parent}}}),
        None => json!("cli"),
    };
    json!({"timestamp": at(0), "type": "session_meta", "payload": {"id": session, "source": source}})
}

/// Codex's running total.
pub fn codex_count(total: u64) -> Value {
    let totals = json!({"input_tokens": total, "total_tokens": total});
    json!({"timestamp": at(1), "type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": totals}}})
}

/// Codex's line that a turn has ended.
pub fn codex_end(turn: &str) -> Value {
    json!({"timestamp": at(2), "type": "event_msg", "payload": {"type": "task_complete", "turn_id": turn}})
}

/// Writes lines to a file that may not be there yet.
pub fn append(path: &Path, lines: &[Value]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    append_text(path, &text);
}

/// Writes text to the end of a file that may not be there yet.
pub fn append_text(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A recorded scenario: where its transcripts are, and the sums beside it.
pub struct Recorded {
    pub cli: &'static str,
    pub name: String,
    pub folder: PathBuf,
    /// Input, cache read, cache write, of it for an hour, output.
    pub sums: [u64; 5],
}

impl Recorded {
    /// The session's own transcript.
    pub fn transcript(&self) -> PathBuf {
        let mut files = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .find(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
            .unwrap()
    }
}

/// All recorded scenarios.
pub fn recorded() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/transcripts");
    let mut all = Vec::new();
    for cli in ["claude", "codex", "gemini"] {
        for entry in fs::read_dir(root.join(cli)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|kind| kind != "toml") {
                continue;
            }
            let table: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let number = |name: &str| table["main"][name].as_integer().unwrap() as u64;
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let sums = if name == "2.1.332-interrupted" {
                // The CLI writes the usage a broken-off reply began with.
                [117, 2170, 419, 37, 1]
            } else {
                [
                    number("input_tokens"),
                    number("cache_read_tokens"),
                    number("cache_write_tokens"),
                    number("cache_write_1h_tokens"),
                    number("output_tokens"),
                ]
            };
            all.push(Recorded {
                cli,
                name,
                folder: path.with_extension(""),
                sums,
            });
        }
    }
    all
}
