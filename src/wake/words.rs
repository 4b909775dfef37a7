//! The words of the capability, as tables, JSON and pages have them.

use crate::store::words;

words! {
    /// Why a due wake was not issued, in the order of the checks of wake.md 4.
    #[expect(missing_docs, reason = "the names are the hold reasons of wake.md 4")]
    HoldReason {
        Paused = "paused",
        Limited = "limited",
        HumanCeiling = "human_ceiling",
        Cooldown = "cooldown",
        PingPong = "ping_pong",
        Broadcast = "broadcast",
        Budget = "budget",
    }

    /// Whose allowance a nudge counts against; a later one is never lowered to an earlier by mail that joins.
    Lane {
        Normal = "normal",
        Urgent = "urgent",
        Human = "human",
    }

    /// What a wake is for.
    Kind {
        Mail = "mail",
        Reminder = "reminder",
        Again = "again",
    }

    /// Where a wake stands (wake.md 3).
    State {
        Waiting = "waiting",
        Leased = "leased",
        Presented = "presented",
        Unconfirmed = "unconfirmed",
        Done = "done",
    }

    /// How a wake ended.
    Ending {
        Consumed = "consumed",
        Cleared = "cleared",
        Unanswered = "unanswered",
        Canceled = "canceled",
    }
}

/// What [`super::consider()`] decided for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Nothing is due.
    Nothing,
    /// A wake was issued.
    Issued(Option<Note>),
    /// An open wake covers it.
    Waiting(Option<Note>),
    /// Due, and held back.
    Held(HoldReason),
}

impl Decision {
    /// The word of a recipient's `wake` in the answers of send and reply (tools.md 6); [`Decision::Nothing`] is `none`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Issued(_) => "issued",
            Self::Waiting(_) => "waiting",
            Self::Held(_) => "held",
        }
    }

    /// The word of a recipient's `reason`, if there is one.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Issued(note) | Self::Waiting(note) => note.map(Note::as_str),
            Self::Held(reason) => Some(reason.as_str()),
        }
    }
}

/// What a sender should know of a wake that was issued or joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// No pager was heard for the part in the last 90 s.
    NoPager,
    /// The urgent allowance is spent: it goes through the normal lane. Said before [`Note::NoPager`], for it answers what was asked for.
    NormalLane,
}

impl Note {
    /// The word of tools.md 6, send.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoPager => "no_pager",
            Self::NormalLane => "normal_lane",
        }
    }
}
