//! Which error type to use where: a [`Refusal`] for what the caller can mend, a [`Fault`] for what they cannot. They are different
//! types from the bottom up (DESIGN 2.7); an [`Error`] is one of them.

use serde_json::Map;
use serde_json::Value;

/// The result of a rule.
pub type Outcome<T> = Result<T, Error>;

/// Why a call did not succeed. Either way nothing of it was stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller can act on it.
    #[error("{}", .0.message)]
    Refusal(Box<Refusal>),
    /// Only the person or we can.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A refusal: what was wrong and what to change.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// The code of `tools.md` 4, for programs.
    pub code: &'static str,
    /// At most 240 bytes, quoting at most 40 characters of the call ([`quote`]).
    pub message: String,
    /// Further fields of the refusal's JSON object.
    pub fields: Map<String, Value>,
}

impl Refusal {
    /// A refusal without further fields.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            fields: Map::new(),
        }
    }

    /// Adds a field to its JSON object.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// `{"error":code,"message":…, …}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("error".into(), self.code.into());
        object.insert("message".into(), self.message.clone().into());
        object.extend(self.fields.clone());
        Value::Object(object)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(Box::new(refusal))
    }
}

/// What went wrong on our side. Its text is for the log; the caller only learns that nothing was stored and that the same call may be
/// repeated.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The disk, or the quota, is full.
    #[error("the disk of the database is full")]
    DiskFull,
    /// Any other error of SQLite.
    #[error("database: {0}")]
    Sqlite(rusqlite::Error),
    /// The file system refused.
    #[error("file system: {0}")]
    Io(#[from] std::io::Error),
    /// The writer's queue is full.
    #[error("the write queue is full")]
    Busy,
    /// The relay is stopping.
    #[error("the relay is stopping")]
    Stopped,
    /// Another job of the same commit failed in a way that took the whole commit back.
    #[error("the commit was taken back: {0}")]
    Commit(String),
    /// A rule panicked.
    #[error("a rule panicked: {0}")]
    Panic(String),
    /// The file holds what no rule writes.
    #[error("the file contradicts itself: {0}")]
    Corrupt(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull,
            _ => Self::Sqlite(error),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Fault(error.into())
    }
}

/// Bytes a quotation may have before it is cut, so that the text around it fits into a refusal.
const QUOTE_BYTES: usize = 96;

/// At most 40 characters, and about 100 bytes, of something the caller sent, for a refusal's text; control characters are shown as
/// `\u{1b}`.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut shown = String::from("\"");
    for (index, c) in text.chars().enumerate() {
        if index == 40 || shown.len() >= QUOTE_BYTES {
            shown.push('…');
            break;
        }
        if c.is_control() {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quote_cuts_at_forty_characters_and_shows_controls() {
        assert_eq!(quote("a\u{1b}b"), "\"a\\u{1b}b\"");
        assert_eq!(quote(&"é".repeat(41)), format!("\"{}…\"", "é".repeat(40)));
        for long in ["😀", "\u{9b}"] {
            assert!(quote(&long.repeat(41)).len() <= 107);
        }
    }

    #[test]
    fn refusal_puts_code_and_message_first() {
        let refusal = Refusal::new("thread_done", "is closed").with("status", "closed");
        assert_eq!(
            refusal.to_json().to_string(),
            r#"{"error":"thread_done","message":"is closed","status":"closed"}"#
        );
    }
}
