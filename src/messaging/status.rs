//! The states of a thread and what moves it from one to another (tools.md 7). Pure.

use rusqlite::types::FromSql;
use rusqlite::types::FromSqlError;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ValueRef;

use crate::store::Refusal;
use crate::store::quote;

/// State of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Waits for an addressee.
    Open,
    /// An addressee wrote last.
    Answered,
    /// A participant asked for time.
    Holding,
    /// Settled. Final for agents.
    Closed,
    /// Called off by a person. Final for agents.
    Canceled,
}

impl Status {
    /// All five, in the order of tools.md 1.
    pub const ALL: [Self; 5] = [
        Self::Open,
        Self::Answered,
        Self::Holding,
        Self::Closed,
        Self::Canceled,
    ];

    /// The word of the tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Holding => "holding",
            Self::Closed => "closed",
            Self::Canceled => "canceled",
        }
    }

    /// Reads that word.
    ///
    /// # Errors
    /// `invalid_argument`, naming the five.
    pub fn read(word: &str) -> Result<Self, Refusal> {
        Self::find(word.trim()).ok_or_else(|| {
            Refusal::new(
                "invalid_argument",
                format!(
                    "Nothing was done: status is {}; give open, answered, holding, closed or canceled.",
                    quote(word)
                ),
            )
        })
    }

    fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Live threads are in inboxes, unread counts and wakes; done ones are not.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Open | Self::Answered | Self::Holding)
    }
}

impl FromSql for Status {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::find(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// What the one who replies is to the thread before the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writer {
    /// Wrote its first message.
    pub opener: bool,
    /// Was a recipient of any of its messages.
    pub addressee: bool,
}

/// The state of a live thread after a reply; done threads take none.
#[must_use]
pub fn after_reply(status: Status, writer: Writer, fyi: bool, holding: bool) -> Status {
    let answers = writer.addressee && !writer.opener;
    let asks_again = writer.opener && !fyi;
    match status {
        Status::Open | Status::Answered | Status::Holding if holding => Status::Holding,
        Status::Open if answers => Status::Answered,
        Status::Answered | Status::Holding if asks_again => Status::Open,
        Status::Holding if answers => Status::Answered,
        unchanged => unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::Status::*;
    use super::*;

    const OPENER: Writer = Writer {
        opener: true,
        addressee: false,
    };
    // The opener becomes an addressee with the first answer it gets; it stays the opener.
    const ANSWERED_OPENER: Writer = Writer {
        opener: true,
        addressee: true,
    };
    const ADDRESSEE: Writer = Writer {
        opener: false,
        addressee: true,
    };
    const OUTSIDER: Writer = Writer {
        opener: false,
        addressee: false,
    };

    #[test]
    fn every_row_of_the_table() {
        for (before, writer, fyi, holding, after) in [
            (Open, ADDRESSEE, false, false, Answered),
            (Open, ADDRESSEE, true, false, Answered),
            (Open, OPENER, false, false, Open),
            (Open, ANSWERED_OPENER, false, false, Open),
            (Open, OUTSIDER, false, false, Open),
            (Answered, OPENER, false, false, Open),
            (Answered, ANSWERED_OPENER, false, false, Open),
            (Answered, ANSWERED_OPENER, true, false, Answered),
            (Answered, ADDRESSEE, false, false, Answered),
            (Answered, OUTSIDER, false, false, Answered),
            (Open, ADDRESSEE, false, true, Holding),
            (Answered, OPENER, false, true, Holding),
            (Holding, ADDRESSEE, true, true, Holding),
            (Holding, OPENER, false, false, Open),
            (Holding, ANSWERED_OPENER, true, false, Holding),
            (Holding, ADDRESSEE, false, false, Answered),
            (Holding, ADDRESSEE, true, false, Answered),
            (Holding, OUTSIDER, false, false, Holding),
            (Closed, ADDRESSEE, false, true, Closed),
            (Canceled, OPENER, false, false, Canceled),
        ] {
            assert_eq!(
                after_reply(before, writer, fyi, holding),
                after,
                "{before:?} {writer:?} fyi={fyi} holding={holding}"
            );
        }
    }

    #[test]
    fn words_are_read_back() {
        for status in Status::ALL {
            assert_eq!(Status::read(status.as_str()), Ok(status));
        }
        assert_eq!(Status::read("done").unwrap_err().code, "invalid_argument");
    }
}
