//! What the usage hook posts and hears (usage.md 6): one activity per event of the agent CLI, and the model replies it read.

use serde::Deserialize;
use serde::Serialize;

/// Most rows of one `POST /api/usage`.
pub const MAX_ROWS: usize = 500;

/// `POST /api/activity`: one event of an agent CLI.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityReport {
    /// Connect code.
    pub code: String,
    /// Part.
    pub part: String,
    /// `claude`, `codex`, `gemini` or another runtime: `[a-z0-9_-]{1,32}`.
    pub provider: String,
    /// The CLI's own session id.
    pub session: String,
    /// What happened.
    pub kind: ActivityKind,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The sender's present time when it sent this, RFC 3339: ages are measured on the sender's clock.
    #[serde(rename = "sentAt", default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
    /// The turn's id where the CLI or the hook has one, also of a `blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// On `turn_start`: the tag of the typed line the prompt began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// On `turn_start`: who prompted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Why it is blocked, how the turn ended, or that a session began by compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// With `limited`: when the provider's limit ends, RFC 3339, where the CLI says it.
    #[serde(rename = "resetAt", default, skip_serializing_if = "Option::is_none")]
    pub reset_at: Option<String>,
    /// Socket of the tmux server the hook ran in. Never for Codex, whose one server runs all hooks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmux: Option<String>,
    /// Pane the hook ran in, `%3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
    /// The CLI's version, where the event says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Reports the hook had to drop since the last post that was answered.
    #[serde(default)]
    pub dropped: u64,
    /// First characters of the prompt; only where the person switched excerpts on (usage.md 10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Last characters of the answer; only where the person switched excerpts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// The five kinds of activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of usage.md 2")]
pub enum ActivityKind {
    SessionStart,
    TurnStart,
    TurnEnd,
    Blocked,
    SessionEnd,
}

/// Who prompted a turn that no wake began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A prompt was submitted: typed by a person, or by the pager.
    Human,
    /// The CLI prompted itself, for instance when a background agent ended.
    #[serde(rename = "self")]
    Itself,
}

/// `reason` of an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// `blocked`: a permission dialog.
    Permission,
    /// `blocked`: the agent asks its person something.
    Question,
    /// `turn_end`: the agent stopped.
    Stop,
    /// `turn_end`: an error of the CLI or its provider.
    Error,
    /// `turn_end`: the person broke it off.
    Interrupted,
    /// `turn_end`: a provider's limit.
    Limited,
    /// `session_start`: the same conversation goes on after compaction.
    Compaction,
}

/// Answer to an activity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActivityAnswer {
    /// Always true.
    pub ok: bool,
    /// The turn this belongs to, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// `POST /api/usage`. `R` is a [`UsageRow`] for who sends; the relay reads each row by itself, so that a bad one is refused alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageReport<R = UsageRow> {
    /// Connect code.
    pub code: String,
    /// Part.
    pub part: String,
    /// As in [`ActivityReport`].
    pub provider: String,
    /// As in [`ActivityReport`].
    pub session: String,
    /// The sender's present time, RFC 3339.
    #[serde(rename = "sentAt", default, skip_serializing_if = "Option::is_none")]
    pub sent_at: Option<String>,
    /// The turn it was posted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// What was passed over, by why: `unknown`, `broken`, `before_join`, …
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub skipped: std::collections::BTreeMap<String, u64>,
    /// The replies, at most [`MAX_ROWS`].
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<R>,
    /// In place of `rows`, by a runtime without a hook of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<serde_json::Value>,
    /// With `usage`: what makes a repeat harmless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// One model reply (usage.md 4). Counts are 0 to 10⁹.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageRow {
    /// What names the reply for its provider, 1–200 characters.
    pub key: String,
    /// The line's timestamp, RFC 3339.
    pub at: String,
    /// The turn the transcript itself names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The model, up to 100 characters.
    #[serde(default)]
    pub model: String,
    /// Tokens read, without cached ones.
    #[serde(default)]
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    #[serde(default)]
    pub output_tokens: u64,
    /// Tokens read from the cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Of `cache_write_tokens`: kept for an hour.
    #[serde(default)]
    pub cache_write_1h_tokens: u64,
    /// Of `output_tokens`: reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// What the provider says it cost, 0 to 10,000 USD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether a child of the session made it.
    #[serde(default)]
    pub sidechain: bool,
}

/// Answer to a usage post. Either counts, or `skipped` for a post without a token in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageAnswer {
    /// Always true.
    pub ok: bool,
    /// Rows not known before.
    #[serde(default)]
    pub new: u64,
    /// Rows of which a number rose.
    #[serde(default)]
    pub raised: u64,
    /// Rows that changed nothing.
    #[serde(default)]
    pub same: u64,
    /// Rows that were not stored, and why.
    #[serde(default)]
    pub refused: Vec<RefusedRow>,
    /// `empty`: all counts were zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// A row that was not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRow {
    /// Its key, as far as it can be shown.
    pub key: String,
    /// What is wrong with it.
    pub why: String,
}
