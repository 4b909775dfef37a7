//! JSON types that server, pager, hook and CLI share, and nothing else. Field names are those of `pager.md` 2 and `access.md` 6.

pub mod canary;
pub mod hook;
pub mod line;

use serde::Deserialize;
use serde::Serialize;

/// Longest a poll may wait, in milliseconds.
pub const MAX_WAIT_MS: u64 = 25_000;

/// Most parts of one poll.
pub const MAX_PARTS: usize = 512;

/// Longest text of a pager's request, in characters.
pub const MAX_TEXT: usize = 200;

/// `POST /api/pager/poll`: one call for all parts of one pager.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PollRequest {
    /// Hash that names the pager; the same after its restart. 1–64 characters of `[0-9a-zA-Z_-]`.
    pub pager: String,
    /// Host name, for people.
    pub machine: String,
    /// The pager's own version.
    pub version: String,
    /// tmux's version, empty if no server was found.
    #[serde(default)]
    pub tmux: String,
    /// Socket the panes are on.
    #[serde(default)]
    pub socket: String,
    /// How long the answer may be waited for, at most [`MAX_WAIT_MS`].
    #[serde(default)]
    pub wait_ms: u64,
    /// `rev` of the last answer: the relay answers at once when its state differs.
    #[serde(default)]
    pub seen: String,
    /// False: look without lease or heartbeat (`--dry-run`).
    #[serde(default = "yes")]
    pub claim: bool,
    /// The parts served, at most [`MAX_PARTS`].
    pub parts: Vec<PollPart>,
}

fn yes() -> bool {
    true
}

/// One served part and what its pane looks like.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PollPart {
    /// Connect code of its project.
    pub code: String,
    /// The part's name.
    pub part: String,
    /// Agent CLI in the pane (`claude`, `codex`, `gemini`, …), where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli: Option<String>,
    /// Its version, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_version: Option<String>,
    /// The pane, absent until one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<PaneLook>,
}

/// A pager's last look at a pane. Never quotes the screen.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct PaneLook {
    /// `%3`.
    pub id: String,
    /// `$1`.
    pub session: String,
    /// Whether the agent's process was seen.
    pub agent: bool,
    /// Verdict in lower case: `ready`, `busy`, `dialog`, `draft`, `mode`, `no_agent`, `wrong_pane`, `unknown`, `starting`.
    pub state: String,
    /// Detail of the verdict, such as `text` or `choice`.
    #[serde(default)]
    pub detail: String,
    /// Since when the verdict holds, RFC 3339.
    pub since: String,
    /// Rule name, row, cell counts, pids.
    #[serde(default)]
    pub evidence: String,
    /// Verdict of the screen alone.
    #[serde(default)]
    pub screen: String,
    /// Since when that holds unbroken, RFC 3339.
    #[serde(default)]
    pub screen_since: String,
}

/// Answer to a poll: everything this pager has to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PollAnswer {
    /// Names this state; sent back as `seen`.
    pub rev: String,
    /// The relay's own id, whatever URL it is reached by.
    pub instance: String,
    /// Delay before the next poll, where the relay asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// One entry per part asked for, in the same order.
    pub parts: Vec<PollPartAnswer>,
}

/// What a pager has to know of one part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PollPartAnswer {
    /// Connect code as asked.
    pub code: String,
    /// Part as asked.
    pub part: String,
    /// `unknown_code`, `unknown_part`, `not_yours`, `banned`, `held`; the other fields are absent then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// With `held`: the machine whose pager has the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Unread messages in live threads.
    #[serde(default)]
    pub unread: u64,
    /// `#rrggbb` for the status line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    /// Why mail waits without a wake: a hold's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// What the agent's hook says of its turn.
    #[serde(default)]
    pub turn: TurnView,
    /// Where the part's hook last reported from, if it ever did; only in answers to polls without a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookSeen>,
    /// A wake of the part is open, whether or not its line may be typed now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// A wake to be typed, leased to this pager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<WakeOffer>,
}

/// The last report of a part's hook.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct HookSeen {
    /// When it came, RFC 3339.
    pub at: String,
    /// Socket of the tmux server it ran in, where it said one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tmux: Option<String>,
    /// Pane it ran in, `%3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pane: Option<String>,
}

/// A part's turn as its hook reported it.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct TurnView {
    /// `busy`, `blocked`, `idle`, or `none` without any report.
    pub state: String,
    /// Since when, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Tag of the wake the turn began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
}

impl Default for TurnView {
    fn default() -> Self {
        Self {
            state: "none".into(),
            since: None,
            tag: None,
        }
    }
}

/// A wake handed out with its lease.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct WakeOffer {
    /// UUID of the wake: the fencing token of every report.
    pub wake_id: String,
    /// Six letters, typed with the line.
    pub tag: String,
    /// 1 to 4.
    pub nudge: u32,
    /// The line to be typed, as it stands.
    pub line: String,
    /// How long the lease lasts from now, in milliseconds.
    #[serde(rename = "lease_ms")]
    pub lease_ms: u64,
}

/// `POST /api/pager/report`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReportRequest {
    /// As in the poll.
    pub pager: String,
    /// Connect code.
    pub code: String,
    /// Part.
    pub part: String,
    /// The wake.
    #[serde(rename = "wakeId")]
    pub wake_id: String,
    /// Which nudge of it.
    pub nudge: u32,
    /// UUID invented by the pager: a repeat is answered, not applied.
    pub event: String,
    /// When it happened, RFC 3339.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub stage: Stage,
}

/// Stages of a delivery (pager.md 2, wake.md 8).
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// May the line be typed now?
    Confirm,
    /// Something holds it up.
    Blocked {
        /// `dialog`, `draft`, `busy`, `mode`, `no_agent`, `no_pane`, `unknown`.
        reason: String,
        /// Detail of the verdict.
        #[serde(default)]
        detail: String,
        /// Rule name, row, cell counts.
        #[serde(default)]
        evidence: String,
    },
    /// The line stands in the composer; Enter was not pressed.
    Typed {
        /// Tag of the line.
        tag: String,
    },
    /// The line left the composer.
    Submitted {
        /// What was seen.
        #[serde(default)]
        evidence: String,
        /// Enters pressed by the pager.
        #[serde(default)]
        enters: u32,
        /// Tag of the line that was submitted, perhaps an earlier wake's.
        #[serde(default)]
        tag: String,
    },
    /// What became of the line is not known.
    Unconfirmed {
        /// `vanished`, `not_rendered`, `enter_ignored`, `restart`, `pane_gone`.
        why: String,
    },
    /// The lease is given back.
    Released,
}

/// Answer to a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportResult {
    /// Taken; for `confirm`: type it.
    Ok,
    /// Nothing loud is left: type nothing.
    Cleared,
    /// This event was applied before.
    Already,
    /// The wake, or this nudge of it, is over.
    Stale,
    /// Another pager holds the wake.
    NotHolder,
}

/// `{"result": …}`.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ReportAnswer {
    /// See [`ReportResult`].
    pub result: ReportResult,
}

/// Error body of every JSON route but `/mcp` and `/oauth`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Reason code.
    pub error: String,
    /// What was wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// For the log.
    pub request_id: String,
    /// Further fields of a refusal, such as the names that are `bad`.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// `GET /health`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Health {
    /// Whether a write through the writer succeeded within the last second.
    pub ok: bool,
    /// The relay's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why not, if not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}
