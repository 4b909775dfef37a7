//! The answer of a look: what kind of moment it is, why, and what stands in the composer (pager.md 4).

use std::fmt;

use super::agent::Agent;
use super::sample::Sample;
use crate::pager::line;

/// What a look found, in order of precedence: the first that holds wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Not the pane that was joined, or none at all.
    WrongPane,
    /// No agent in front of the terminal.
    NoAgent,
    /// Keys would go to a mode of tmux or of the CLI.
    Mode,
    /// A question waits for a person.
    Dialog,
    /// A turn runs, the screen moves, or a person types.
    Busy,
    /// The agent has just started.
    Starting,
    /// The composer holds something.
    Draft,
    /// Nothing can be said.
    Unknown,
    /// Composer found, empty, still: the line may be typed.
    Ready,
}

impl Kind {
    /// The `state` of [`crate::api::PaneLook`].
    #[must_use]
    pub fn state(self) -> &'static str {
        match self {
            Self::WrongPane => "wrong_pane",
            Self::NoAgent => "no_agent",
            Self::Mode => "mode",
            Self::Dialog => "dialog",
            Self::Busy => "busy",
            Self::Starting => "starting",
            Self::Draft => "draft",
            Self::Unknown => "unknown",
            Self::Ready => "ready",
        }
    }

    /// The `reason` of a `blocked` report; `None` for [`Kind::Ready`], which blocks nothing.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::WrongPane => Some("no_pane"),
            Self::Starting => Some("busy"),
            Self::Ready => None,
            other => Some(other.state()),
        }
    }
}

/// What stands in the composer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standing {
    /// No composer was found.
    #[default]
    None,
    /// Nothing but blanks or a placeholder, the cursor at home.
    Empty,
    /// Nothing but blanks, the real cursor off its home cell.
    Blank,
    /// A wake's line and nothing else; its tag.
    OwnLine(String),
    /// A wake's line with other text around it.
    OwnLinePlus,
    /// A canary's nonce left behind.
    Canary,
    /// Other text.
    Text,
}

impl Standing {
    /// Whether the text is a wake's line and nothing else.
    #[must_use]
    pub fn is_own_line(&self) -> bool {
        matches!(self, Self::OwnLine(_))
    }

    /// The detail of a [`Kind::Draft`] verdict; `None` where the composer holds nothing.
    #[must_use]
    pub fn draft(&self) -> Option<&'static str> {
        match self {
            Self::None | Self::Empty => None,
            Self::Blank => Some("blank_text"),
            Self::OwnLine(_) => Some("own_line"),
            Self::OwnLinePlus => Some("own_line_plus"),
            Self::Canary => Some("canary"),
            Self::Text => Some("text"),
        }
    }
}

/// Screen text without its whitespace, for comparison only: it never leaves this process, so it does not print.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Squeezed(String);

impl Squeezed {
    /// Drops all whitespace of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(text.chars().filter(|c| !c.is_whitespace()).collect())
    }

    /// The text itself, for comparison.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Squeezed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Squeezed({} chars)", self.0.chars().count())
    }
}

/// A look's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What kind of moment it is.
    pub kind: Kind,
    /// Which sort of it, in pager.md 4's words; empty for [`Kind::Ready`].
    pub detail: &'static str,
    /// Rule name, row, cell counts, pids. Never a word of the screen.
    pub evidence: String,
    /// What stands in the composer, whatever the kind.
    pub composer: Standing,
    /// A busy marker stands in the live region.
    pub busy_marker: bool,
    /// The title says busy.
    pub busy_title: bool,
    /// Kind and detail by the screen alone, without the hook's turn.
    pub screen: (Kind, &'static str),
    /// The agent's process, where one was found.
    pub agent: Option<Agent>,
    /// The next look's `previous_sample`; `None` where there was no screen to sample.
    pub sample: Option<Sample>,
    /// The composer's text.
    pub text: Squeezed,
    /// The transcript above the composer.
    pub above: Squeezed,
}

impl Verdict {
    /// A verdict that needed no look at the screen.
    pub(super) fn bare((kind, detail, evidence): (Kind, &'static str, String)) -> Self {
        Self {
            kind,
            detail,
            evidence,
            composer: Standing::None,
            busy_marker: false,
            busy_title: false,
            screen: (kind, detail),
            agent: None,
            sample: None,
            text: Squeezed::default(),
            above: Squeezed::default(),
        }
    }

    /// A verdict of this kind and nothing else.
    #[cfg(test)]
    pub fn of(kind: Kind, detail: &'static str) -> Self {
        Self::bare((kind, detail, String::new()))
    }

    /// The `reason` of a `blocked` report.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        self.kind.reason()
    }

    /// The `state` of [`crate::api::PaneLook`].
    #[must_use]
    pub fn state(&self) -> &'static str {
        self.kind.state()
    }

    /// Whether the line may be typed now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.kind == Kind::Ready
    }

    /// Whether the composer holds exactly `line`, all whitespace aside (rows wrap where the pane ends).
    #[must_use]
    pub fn composer_is(&self, line: &str) -> bool {
        self.composer != Standing::None && !line.is_empty() && self.text == Squeezed::of(line)
    }

    /// How often `line` stands in the transcript above the composer: more often than before the text is evidence of submission (pager.md 5).
    #[must_use]
    pub fn echoes(&self, line: &str) -> usize {
        line::occurrences(self.above.as_str(), Squeezed::of(line).as_str())
    }

    /// Whether a busy marker or title shows.
    #[must_use]
    pub fn looks_busy(&self) -> bool {
        self.busy_marker || self.busy_title
    }

    /// Whether a turn is the reason for [`Kind::Busy`], rather than a screen that moves or a person who types.
    #[must_use]
    pub fn in_turn(&self) -> bool {
        self.kind == Kind::Busy && !matches!(self.detail, "moving" | "person")
    }
}
