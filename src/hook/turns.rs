//! `turns.json`: the open turn per session (usage.md 5), for CLIs that give their turns no id, and what of a turn's start its end repeats.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

use super::place::Place;
use crate::store::Time;

const FILE: &str = "turns.json";
const LOCK: &str = "turns.lock";

/// How long the lock is waited for: whoever holds it has it for milliseconds.
const WAIT: Duration = Duration::from_millis(100);

/// Two starts this close, in milliseconds, with an equal prompt are one prompt seen by two registered hooks.
const TWICE_MS: i64 = 2_000;

/// A session without a word for this long, in milliseconds, is forgotten.
const FORGET_MS: i64 = 14 * 24 * 3_600_000;

/// A session's last turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// Hash of its prompt.
    pub prompt: String,
    /// When it began, in milliseconds since 1970.
    pub at: i64,
    /// Whether its end was seen. The turn stays, so that a second hook ends the same one.
    pub ended: bool,
    /// The excerpt of its prompt, where excerpts are on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Every session's last turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turns(BTreeMap<String, Turn>);

impl Turns {
    /// Notes that `turn` began in `session`; returns its id, which is an earlier one's if this is the same start seen twice.
    pub fn start(&mut self, session: &str, turn: Turn) -> String {
        self.0.retain(|_, known| turn.at - known.at < FORGET_MS);
        if let Some(known) = self.0.get(session)
            && !known.ended
            && known.prompt == turn.prompt
            && (turn.at - known.at).abs() < TWICE_MS
        {
            return known.id.clone();
        }
        let id = turn.id.clone();
        self.0.insert(session.to_owned(), turn);
        id
    }

    /// The session's last turn.
    #[must_use]
    pub fn last(&self, session: &str) -> Option<&Turn> {
        self.0.get(session)
    }

    /// Notes that the session's turn ended.
    pub fn end(&mut self, session: &str) {
        if let Some(turn) = self.0.get_mut(session) {
            turn.ended = true;
        }
    }
}

/// Reads the turns, changes them, writes them back if they changed. Without lock or file: as if no turn were known.
pub fn with<T>(place: &Place, change: impl FnOnce(&mut Turns) -> T) -> T {
    let lock = place.lock(LOCK, WAIT);
    let before: Turns = place.load(FILE).unwrap_or_default();
    let mut turns = before.clone();
    let result = change(&mut turns);
    if lock.is_some() && turns != before {
        // A turn that cannot be noted gets another id at its end: its rows find their turn by time.
        let _ = place.save(FILE, &turns);
    }
    result
}

/// The last turn of a session, as it stands.
#[must_use]
pub fn last(place: &Place, session: &str) -> Option<Turn> {
    place.load::<Turns>(FILE)?.last(session).cloned()
}

/// A turn that begins now.
#[must_use]
pub fn beginning(id: String, prompt: &str, now: Time, title: Option<String>) -> Turn {
    Turn {
        id,
        prompt: super::place::hash(prompt.as_bytes()),
        at: now.0,
        ended: false,
        title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, prompt: &str, at: i64) -> Turn {
        beginning(id.to_owned(), prompt, Time(at), None)
    }

    #[test]
    fn usage_017_two_hooks_at_once_begin_one_turn() {
        let mut turns = Turns::default();
        assert_eq!(turns.start("s", turn("a", "go", 1_000)), "a");
        assert_eq!(turns.start("s", turn("b", "go", 1_030)), "a");
        assert_eq!(turns.start("other", turn("c", "go", 1_030)), "c");
        assert_eq!(turns.start("s", turn("d", "more", 1_040)), "d");
        assert_eq!(turns.start("s", turn("e", "more", 3_040)), "e");
    }

    #[test]
    fn the_same_prompt_after_its_end_is_another_turn() {
        let mut turns = Turns::default();
        turns.start("s", turn("a", "y", 0));
        turns.end("s");
        turns.end("s");
        assert_eq!(turns.last("s").unwrap().id, "a");
        assert_eq!(turns.start("s", turn("b", "y", 500)), "b");
    }

    #[test]
    fn old_sessions_are_forgotten() {
        let mut turns = Turns::default();
        turns.start("old", turn("a", "x", 0));
        turns.start("new", turn("b", "x", FORGET_MS));
        assert!(turns.last("old").is_none());
    }

    #[test]
    fn an_unreadable_file_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path());
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        with(&place, |turns| turns.start("s", turn("a", "x", 0)));
        assert_eq!(last(&place, "s").unwrap().id, "a");
    }
}
