//! The log: what arrived and what was submitted, one JSON object a line.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// An open log, or none.
pub struct Log {
    file: Option<File>,
    started: Instant,
}

impl Log {
    /// Opens the file for appending: an agent started again in the same pane goes on with it.
    pub fn open(path: Option<&Path>, started: Instant) -> Self {
        let file = path.and_then(|path| {
            std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .ok()
        });
        Self { file, started }
    }

    /// A byte arrived.
    pub fn byte(&mut self, byte: u8, at: Instant) {
        let millis = at.duration_since(self.started).as_millis();
        self.line(&format!(r#"{{"ms":{millis},"byte":{byte}}}"#));
    }

    /// Something happened.
    pub fn note(&mut self, event: &str, text: &str) {
        let millis = self.started.elapsed().as_millis();
        let text = escaped(text);
        self.line(&format!(
            r#"{{"ms":{millis},"event":"{event}","text":"{text}"}}"#
        ));
    }

    fn line(&mut self, line: &str) {
        if let Some(file) = &mut self.file {
            let _ = writeln!(file, "{line}");
        }
    }
}

fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
            c => c.to_string(),
        })
        .collect()
}
