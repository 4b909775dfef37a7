//! Who writes or reads: a part by its token, or a person in the lane `human`.

use crate::identity::Caller;
use crate::identity::slug;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::UserSeq;

/// On whose behalf a rule runs. All people together are `human`.
#[derive(Debug, Clone, Copy)]
pub enum Author<'a> {
    /// An agent.
    Part(&'a Caller),
    /// A person, in a project they may see.
    Person {
        /// The account.
        user: UserSeq,
        /// The project.
        project: ProjectSeq,
    },
}

impl Author<'_> {
    /// The project it acts in.
    #[must_use]
    pub fn project(&self) -> ProjectSeq {
        match self {
            Self::Part(caller) => caller.project,
            Self::Person { project, .. } => *project,
        }
    }

    /// The account it counts for.
    #[must_use]
    pub fn user(&self) -> UserSeq {
        match self {
            Self::Part(caller) => caller.user,
            Self::Person { user, .. } => *user,
        }
    }

    /// Its part; `None` for the person's lane, as in the tables.
    #[must_use]
    pub fn part(&self) -> Option<PartSeq> {
        match self {
            Self::Part(caller) => Some(caller.part),
            Self::Person { .. } => None,
        }
    }

    /// The name it writes under.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Part(caller) => &caller.part_slug,
            Self::Person { .. } => slug::HUMAN,
        }
    }

    /// Refuses parts below level `write`.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        match self {
            Self::Part(caller) => caller.may_write(),
            Self::Person { .. } => Ok(()),
        }
    }

    /// Refuses urgency to parts without the capability.
    pub(super) fn may_urge(&self, urgent: bool) -> Result<(), Refusal> {
        match self {
            Self::Part(caller) if urgent && !caller.urgent => Err(Refusal::new(
                "urgent_not_granted",
                "Nothing was sent: urgent is not granted to you. Send it without urgent, or ask the person.",
            )),
            _ => Ok(()),
        }
    }

    /// Whether it may flag a thread for the person.
    pub(super) fn may_flag(&self) -> bool {
        match self {
            Self::Part(caller) => caller.needs_human,
            Self::Person { .. } => true,
        }
    }
}
