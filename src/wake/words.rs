//! The words of the capability: what became of a wake, and why it was held.

use crate::store::MessageSeq;

/// What [`super::consider`] decided for a part.
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
    /// The urgent allowance is spent: it goes through the normal lane.
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

/// Why a due wake was not issued, in the order of wake.md 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are the hold reasons of wake.md 4")]
pub enum HoldReason {
    Paused,
    Limited,
    HumanCeiling,
    Cooldown,
    PingPong,
    Broadcast,
    Budget,
}

impl HoldReason {
    /// The word of the tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Limited => "limited",
            Self::HumanCeiling => "human_ceiling",
            Self::Cooldown => "cooldown",
            Self::PingPong => "ping_pong",
            Self::Broadcast => "broadcast",
            Self::Budget => "budget",
        }
    }
}

/// Where a message stands in a chain of agents' messages (wake.md 6): the values of `message.hops` and `message.follows`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Messages before it in the chain.
    pub hops: u32,
    /// The message right before it.
    pub follows: Option<MessageSeq>,
}
