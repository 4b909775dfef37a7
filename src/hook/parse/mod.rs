//! Lines of transcripts as rows (usage.md 4): per CLI a state that takes one record after the other. Pure: what a line means depends on
//! the lines before it and on nothing else, so a transcript read in two runs gives the rows of one.

pub mod claude;
pub mod codex;
pub mod gemini;
mod lenient;
mod rows;
mod salvage;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::io::Read;
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::rows::Rows;
use super::event::Provider;

/// What is known of a transcript besides its lines.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Whether a child of the session writes it.
    pub sidechain: bool,
    /// The session, where the file does not name its own.
    pub session: String,
    /// The present time, RFC 3339, for a line without one.
    pub now: String,
    /// The totals in the file of a Codex child's parent; `None` if that file is gone.
    pub parent: Option<HashSet<codex::Totals>>,
}

/// What the lines so far come to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Of a transcript of Claude Code.
    Claude(claude::State),
    /// Of Codex.
    Codex(Box<codex::State>),
    /// Of Gemini CLI.
    Gemini(gemini::State),
}

/// A CLI's way of writing transcripts.
trait Transcript {
    /// One line, as far as it matters.
    type Record: DeserializeOwned;

    /// Takes the next record.
    fn take(&mut self, record: Self::Record, context: &Context, rows: &mut Rows);
}

/// A line that was too long to be held in memory, and could not be read to its end.
#[derive(Debug)]
pub enum Unread {
    /// It is no record.
    Broken,
    /// Reading failed, or its time was up.
    Io,
}

impl State {
    /// Before the first line.
    #[must_use]
    pub fn new(provider: Provider) -> Self {
        match provider {
            Provider::Claude => Self::Claude(claude::State::default()),
            Provider::Codex => Self::Codex(Box::default()),
            Provider::Gemini => Self::Gemini(gemini::State::default()),
        }
    }

    /// What a line that matters contains; `None` if the rule cannot be read, and then every line matters.
    #[must_use]
    pub fn needle(&self) -> Option<&'static Regex> {
        static CLAUDE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(claude::NEEDLE).ok());
        static CODEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(codex::NEEDLE).ok());
        static GEMINI: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(gemini::NEEDLE).ok());
        match self {
            Self::Claude(_) => CLAUDE.as_ref(),
            Self::Codex(_) => CODEX.as_ref(),
            Self::Gemini(_) => GEMINI.as_ref(),
        }
    }

    /// Takes a line, with or without its line break.
    pub fn line(&mut self, line: &[u8], context: &Context, rows: &mut Rows) {
        match self {
            Self::Claude(state) => whole(state, line, context, rows),
            Self::Codex(state) => whole(&mut **state, line, context, rows),
            Self::Gemini(state) => whole(state, line, context, rows),
        }
    }

    /// Takes a line, or a document, that is too long to be held in memory.
    ///
    /// # Errors
    /// [`Unread`]; nothing was taken then.
    pub fn stream(
        &mut self,
        line: impl Read,
        context: &Context,
        rows: &mut Rows,
    ) -> Result<(), Unread> {
        match self {
            Self::Claude(state) => streamed(state, line, context, rows),
            Self::Codex(state) => streamed(&mut **state, line, context, rows),
            Self::Gemini(state) => streamed(state, line, context, rows),
        }
    }

    /// Whether the newest reply is the last of its turn: that of `turn`, where the CLI names its turns.
    #[must_use]
    pub fn is_settled(&self, turn: Option<&str>) -> bool {
        match self {
            Self::Claude(state) => state.is_settled(turn),
            Self::Codex(state) => state.is_settled(turn),
            Self::Gemini(state) => state.is_settled(),
        }
    }
}

fn whole<T: Transcript>(state: &mut T, line: &[u8], context: &Context, rows: &mut Rows) {
    match serde_json::from_slice(line) {
        Ok(record) => state.take(record, context, rows),
        Err(_) => {
            let found = salvage::records(line);
            if found.left_over {
                rows.skip("broken");
            }
            for record in found.records {
                state.take(record, context, rows);
            }
        }
    }
}

fn streamed<T: Transcript>(
    state: &mut T,
    line: impl Read,
    context: &Context,
    rows: &mut Rows,
) -> Result<(), Unread> {
    match serde_json::from_reader(line) {
        Ok(record) => state.take(record, context, rows),
        Err(error) if error.is_io() => return Err(Unread::Io),
        Err(_) => return Err(Unread::Broken),
    }
    Ok(())
}
