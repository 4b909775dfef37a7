//! What happens to a delivery, and what it asks for.

use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use crate::api::ReportResult;
use crate::api::Stage;
use crate::api::WakeOffer;
use crate::pager::facts::Turn;
use crate::pager::journal::Stage as Written;
use crate::pager::read::Kind;
use crate::pager::read::Verdict;
use crate::pager::tmux::Outcome;
use crate::store::Time;

/// How long after a key of a client that shows the pane a person counts as typing, in milliseconds.
const PERSON_MS: i64 = 5_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A poll answer holds this wake and nudge.
    Offered(WakeOffer),
    /// A poll answer names the part without this wake and nudge.
    Withdrawn,
    /// The pane was looked at.
    Looked(Look),
    /// The answer to `confirm`; `None` when none came in five seconds.
    Confirmed(Option<ReportResult>),
    /// The answer to `typed`.
    TypedAnswered(ReportResult),
    /// The text's child ended; with it comes the look it took.
    TextSent(Outcome, Option<Look>),
    /// An Enter's child ended, likewise.
    EnterSent(Outcome, Option<Look>),
    /// The journal could not be written: what stood behind it was not done.
    JournalFailed,
    /// The pager stops.
    Stop,
}

/// Something to be done, in order. What follows a [`Action::Journal`] is done only if that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Tell the relay.
    Report(Stage),
    /// Write the journal.
    Journal(Written),
    /// Paste the line into the pane that the last look saw.
    Paste,
    /// Press Enter there.
    Enter,
}

/// One look at the pane, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// When the screen was read.
    pub at: Time,
    /// What it says.
    pub verdict: Verdict,
    /// Last key of a client that shows this pane.
    pub person: Option<Time>,
    /// The hook's turn as last polled.
    pub turn: Turn,
    /// The pane that was typed into, or is to be, is another one now or none.
    pub lost: bool,
    /// A typing slot and the pane's lock are ours.
    pub claimed: bool,
}

impl Look {
    /// Whether a key would reach nothing but the composer: no mode, dialog or turn, nobody at the keys. The screen may move, for it
    /// has just been typed into.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        let quiet = match self.verdict.kind {
            Kind::Ready | Kind::Draft => true,
            Kind::Busy => self.verdict.detail == "moving" && !self.verdict.looks_busy(),
            _ => false,
        };
        let person = self
            .person
            .is_some_and(|key| self.at.since(key) < PERSON_MS);
        quiet && !person
    }

    /// A number that differs when anything was drawn.
    #[must_use]
    pub fn picture(&self) -> Option<u64> {
        let sample = self.verdict.sample.as_ref()?;
        let mut hasher = DefaultHasher::new();
        (sample.hash, &sample.title, sample.cursor).hash(&mut hasher);
        Some(hasher.finish())
    }
}
