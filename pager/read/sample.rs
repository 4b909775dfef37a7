//! Stillness: two equal samples, with a third when something was drawn between them (pager.md 4, "Sample").

/// Least distance of two equal samples, in milliseconds.
pub const STILL_MS: i64 = 1_500;
/// Least distance of the third sample, asked for when the activity second moved under an equal picture.
pub const AGAIN_MS: i64 = 700;
/// How long a still sample vouches for the next one although the activity second moves on, as a footer clock makes it.
pub const WATCH_MS: i64 = 3_000;

/// What of a screen must stand still, and how long it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Of the cells and styles above the footer, the drawn cursor left out.
    pub hash: u64,
    /// The pane's title.
    pub title: String,
    /// Column, row and visibility of the real cursor.
    pub cursor: (u16, u16, bool),
    /// Width and height.
    pub size: (u16, u16),
    /// The pane's process.
    pub pane_pid: i32,
    /// The agent's process.
    pub agent_pid: i32,
    /// Activity of the window, in seconds since the epoch.
    pub activity: i64,
    /// When it was taken.
    pub taken_at: i64,
    /// When the first of the unbroken run of equal samples was taken.
    pub since: i64,
    /// Activity second of that first sample.
    pub activity_since: i64,
    /// A sample that was equal although the activity second had moved, and waits for a third.
    pub doubt_at: Option<i64>,
    /// Whether the screen stands still.
    pub still: bool,
    /// In how many samples of this agent a composer was seen.
    pub composers: u32,
}

impl Sample {
    /// Judges this sample, just taken, after `previous`.
    #[must_use]
    pub fn after(mut self, previous: Option<&Self>) -> Self {
        let Some(previous) = previous else {
            return self;
        };
        if previous.agent_pid == self.agent_pid && previous.pane_pid == self.pane_pid {
            self.composers = self.composers.saturating_add(previous.composers);
        }
        if !self.equals(previous) {
            return self;
        }
        self.since = previous.since;
        self.activity_since = previous.activity_since;
        let before = if previous.still {
            previous.activity
        } else {
            previous.activity_since
        };
        let moved = self.activity != before;
        let vouched = previous.still && self.taken_at - previous.taken_at <= WATCH_MS;
        match previous.doubt_at {
            Some(at) if self.taken_at - at >= AGAIN_MS => self.still = true,
            Some(at) => self.doubt_at = Some(at),
            None if self.taken_at - self.since < STILL_MS => self.doubt_at = None,
            None if moved && !vouched => self.doubt_at = Some(self.taken_at),
            None => self.still = true,
        }
        self
    }

    /// How long until a next equal sample could make the screen still, in milliseconds; 0 when it is.
    #[must_use]
    pub fn settles_in(&self) -> i64 {
        match self.doubt_at {
            _ if self.still => 0,
            Some(at) => (at + AGAIN_MS - self.taken_at).max(0),
            None => (self.since + STILL_MS - self.taken_at).max(0),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.title == other.title
            && self.cursor == other.cursor
            && self.size == other.size
            && self.pane_pid == other.pane_pid
            && self.agent_pid == other.agent_pid
    }
}
