//! Levels and capabilities of a membership (access.md 1).

use rusqlite::types::FromSql;
use rusqlite::types::FromSqlError;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ValueRef;

/// What a member may do in a project; each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Reads, acks, closes own threads.
    Readonly,
    /// Also sends, replies, learns.
    Write,
    /// Everything.
    Owner,
}

impl Level {
    /// The word of the tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Readonly => "readonly",
            Self::Write => "write",
            Self::Owner => "owner",
        }
    }

    /// Reads that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Readonly, Self::Write, Self::Owner]
            .into_iter()
            .find(|level| level.as_str() == text)
    }
}

impl FromSql for Level {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// What one person may do in one project, as of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// Level of the membership; `Owner` for owners and admins of the org.
    pub level: Level,
    /// May send urgent messages.
    pub urgent: bool,
    /// May flag a thread for the person.
    pub needs_human: bool,
    /// Banned, in the project or the org.
    pub banned: bool,
}
