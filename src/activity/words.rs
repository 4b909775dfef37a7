//! The words of turns, as tables, JSON and pages have them.

use crate::store::words;

words! {
    /// What began a turn (usage.md 7).
    #[expect(missing_docs, reason = "the names are those of usage.md 7")]
    Cause {
        Wake = "wake",
        Human = "human",
        Itself = "self",
    }

    /// How a turn ended.
    #[expect(missing_docs, reason = "the names are those of usage.md 6 and 7")]
    Ending {
        Stop = "stop",
        Error = "error",
        Interrupted = "interrupted",
        Limited = "limited",
        SessionEnd = "session_end",
        Superseded = "superseded",
        Lost = "lost",
    }
}
