//! What `relayroom-pager --canary --json` prints: one object per joined pane (pager.md 8). `relayroom doctor --wake` reads it.

use serde::Deserialize;
use serde::Serialize;

/// How the canary of one pane ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CanaryOutcome {
    /// The word was seen and erased, the composer is empty as before.
    Passed,
    /// Something stood against it: not one byte was typed.
    Refused,
    /// Something unforeseen after the text was sent: `left` says what may still stand in the composer.
    Failed,
}

/// One pane's canary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryLine {
    /// The pane, `%3`; `None` where none was found.
    pub pane: Option<String>,
    /// The part.
    pub part: String,
    /// How it ended.
    pub outcome: CanaryOutcome,
    /// Unless it passed: what stood against it, `draft/text` or `relay/no_answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in words, or what was measured. Never a word of the screen.
    pub text: String,
    /// From the text to the look that saw it, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_ms: Option<u64>,
    /// From the first `BSpace` to the look that saw the composer empty, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_ms: Option<u64>,
    /// Prompts seen to be submitted: the canary presses no Enter, a person may.
    pub submits: u32,
    /// Letters of the canary that were in the composer when it was last seen.
    pub left: u32,
    /// What the agent's hook last told: `busy`, `blocked`, `idle` or `none`.
    pub hook: String,
    /// Age of that, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_age: Option<u64>,
    /// Whether it was told from this pane, where the relay knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_here: Option<bool>,
    /// tmux's version.
    pub tmux: String,
    /// The agent CLI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<String>,
    /// Its version, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_version: Option<String>,
    /// Revision of the rule table its screen was read by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<u32>,
}
