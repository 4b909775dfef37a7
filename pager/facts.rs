//! What one look at a pane brings home: plain data, gathered by `tmux` and `proc`, judged by `read` (pager.md 1 and 4).
//!
//! Instants are `i64` milliseconds since the epoch unless a field says seconds, which is what tmux reports.

/// Which pane this is, for good: compared before every key (pager.md 1).
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Identity {
    /// Path of the tmux socket.
    pub socket: String,
    /// Process id of the tmux server.
    pub server_pid: i32,
    /// Start of the tmux server, in seconds since the epoch.
    pub server_start: i64,
    /// The pane's id, `%3`.
    pub pane: String,
    /// Process the pane was started with.
    pub pane_pid: i32,
}

/// One line of `list-panes -a`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaneFacts {
    /// Which pane.
    pub identity: Identity,
    /// Session it was listed under, `$1`; may change.
    pub session_id: String,
    /// Name of that session.
    pub session_name: String,
    /// Id of its window, `@2`.
    pub window_id: String,
    /// Index of its window in that session.
    pub window_index: u32,
    /// Name of its window.
    pub window_name: String,
    /// Index of the pane in its window.
    pub pane_index: u32,
    /// Width in cells.
    pub width: u16,
    /// Height in rows.
    pub height: u16,
    /// Whether the pane's process has ended and the pane was kept.
    pub dead: bool,
    /// Exit status of a dead pane, where tmux knows it.
    pub dead_status: Option<i32>,
    /// Whether a tmux mode (copy mode, a chooser) has the keys.
    pub in_mode: bool,
    /// Name of that mode, empty without one.
    pub mode: String,
    /// Whether keys to the pane are switched off (`select-pane -d`).
    pub input_off: bool,
    /// Whether keys go to every pane of the window.
    pub synchronized: bool,
    /// Column of the real cursor, from 0; equals the width after the last column.
    pub cursor_x: u16,
    /// Row of the real cursor, from 0.
    pub cursor_y: u16,
    /// Whether the real cursor is shown.
    pub cursor_shown: bool,
    /// Last activity in the window, in seconds since the epoch.
    pub window_activity: i64,
    /// Value of the option `@relayroom`, empty where unset.
    pub option: String,
    /// The pane's title, untouched.
    pub title: String,
}

/// Why there is no pane to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absent {
    /// No tmux server answers on the socket.
    NoServer,
    /// The target or the pinned pane is not listed.
    Gone,
    /// More than one pane names the part; their ids.
    Twice(Vec<String>),
    /// It is the pager's own pane.
    Own,
    /// tmux failed or its line could not be parsed, so nothing is known.
    Unreadable,
}

/// A process as the kernel lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its parent's id.
    pub ppid: i32,
    /// Its process group.
    pub pgrp: i32,
    /// Its argument words; bytes that are not UTF-8 replaced.
    pub argv: Vec<String>,
    /// Path of its executable, where it may be read.
    pub exe: Option<String>,
    /// Its working folder, where it may be read: Codex's idle title ends in that folder's name.
    pub cwd: Option<String>,
    /// When it started, in milliseconds since the epoch.
    pub start: i64,
    /// Whether it is stopped by a signal or the terminal.
    pub stopped: bool,
    /// Whether its group is the foreground group of its terminal.
    pub foreground: bool,
}

/// One line of `list-clients`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFacts {
    /// Last key from this client, in seconds since the epoch.
    pub activity: i64,
    /// Whether the client may only watch.
    pub read_only: bool,
    /// The pane it shows and types into, `%3`.
    pub pane: String,
}

/// All that is known of one pane at one instant. What is missing reads as unknown, never as quiet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The pane that was joined or pinned; `None` before the first match.
    pub expected: Option<Identity>,
    /// The pane, or why there is none.
    pub pane: Result<PaneFacts, Absent>,
    /// The pane's process and everything below it; `None` when the list could not be read.
    pub processes: Option<Vec<Process>>,
    /// The server's clients.
    pub clients: Vec<ClientFacts>,
    /// Output of `capture-pane -e -p -J`; `None` when it failed or was not asked for.
    pub capture: Option<Vec<u8>>,
    /// Version of the agent CLI, where somebody could tell it. The reader falls back to the executable's path.
    pub cli_version: Option<String>,
    /// Whether tmux refused the last send because the client is read-only.
    pub refused_read_only: bool,
}

/// What a part's hook says of its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnState {
    /// A turn runs.
    Busy,
    /// A turn waits for a person.
    Blocked,
    /// The last turn ended.
    Idle,
    /// No report.
    #[default]
    None,
}

/// The turn as the last poll answer told it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// Its state.
    pub state: TurnState,
    /// Since when, where the relay knows.
    pub since: Option<i64>,
    /// Tag of the wake it began with.
    pub tag: Option<String>,
}
