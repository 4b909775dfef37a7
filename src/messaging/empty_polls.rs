//! The word of advice to an agent that polls an empty inbox (tools.md 6, inbox; case A09). Kept in memory: it is advice, and a restart
//! may forget it.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;

use super::inbox::Inbox;
use crate::store::PartSeq;
use crate::store::Time;

/// From the sixth empty answer within this many milliseconds on, the hint is given.
const WINDOW_MS: i64 = 60_000;

/// Empty answers before the first hint.
const PATIENCE: usize = 5;

/// When each part last got an empty inbox.
#[derive(Debug, Default)]
pub struct EmptyPolls {
    parts: Mutex<HashMap<PartSeq, VecDeque<Time>>>,
}

impl EmptyPolls {
    /// Notes an answer that is about to leave and gives it the hint if the part keeps asking for nothing.
    pub fn advise(&self, part: PartSeq, inbox: &mut Inbox, now: Time) {
        if inbox.list.items.is_empty() && self.insists(part, now) {
            inbox.list.note_mut().hint = Some("No mail. End your turn; you will be woken.");
        }
    }

    fn insists(&self, part: PartSeq, now: Time) -> bool {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = parts.entry(part).or_default();
        recent.retain(|at| now.since(*at) < WINDOW_MS);
        if recent.len() == PATIENCE {
            recent.pop_front();
            recent.push_back(now);
            return true;
        }
        recent.push_back(now);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixth_empty_answer_within_a_minute_and_each_after_it() {
        let polls = EmptyPolls::default();
        let part = PartSeq(1);
        let answers: Vec<bool> = (0..8)
            .map(|n| polls.insists(part, Time(n * 9_000)))
            .collect();
        assert_eq!(
            answers,
            [false, false, false, false, false, true, true, true]
        );
        assert!(!polls.insists(PartSeq(2), Time(70_000)));
        assert!((0..20).all(|n| !polls.insists(part, Time(1_000_000 + n * 60_000))));
    }
}
