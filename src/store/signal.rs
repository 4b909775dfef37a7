//! What is told after a commit: to waiting pagers, and to pages.

use super::PartSeq;
use super::ProjectSeq;

/// What a signal is about (dashboard.md 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the topics of dashboard.md 3")]
pub enum Topic {
    Thread,
    Message,
    Read,
    Composing,
    Part,
    Pager,
    Wake,
    Hold,
    Event,
    Usage,
    Knowledge,
    Playbook,
    Settings,
    Member,
    Token,
    Attention,
}

/// One fact changed. The receiver reads the rest from the tables; a lost signal costs one sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What kind of thing changed.
    pub topic: Topic,
    /// The project it belongs to; `None` for what belongs to the whole relay.
    pub project: Option<ProjectSeq>,
    /// The part it concerns, if it is one part's.
    pub part: Option<PartSeq>,
    /// The outside id of what changed.
    pub id: String,
}
