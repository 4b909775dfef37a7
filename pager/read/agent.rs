//! Whether an agent is in front of the terminal (pager.md 4, "Agent present").

/// The agent's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Name of its rule table: `claude`, `codex`, `gemini`, ….
    pub cli: String,
    /// Its version, where known.
    pub version: Option<String>,
    /// Its process.
    pub pid: i32,
    /// When it started, in milliseconds since the epoch.
    pub start: i64,
}
