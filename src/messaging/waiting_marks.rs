//! What was shown and is not yet written: one job per part stands in the writer's queue, however often the part asks meanwhile, so that
//! no agent that asks in a loop fills the queue for the others. Kept in memory as the queue itself is (DESIGN 3).

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::store::MessageSeq;
use crate::store::PartSeq;
use crate::store::Time;

/// Messages shown, and when the last of them was.
pub type Shown = (Vec<MessageSeq>, Time);

/// What waits for each part's job.
#[derive(Debug, Default)]
pub struct WaitingMarks {
    parts: Mutex<HashMap<PartSeq, Shown>>,
}

impl WaitingMarks {
    /// Adds what was shown. True if no job of the part waits: the caller puts one into the queue, which [takes](Self::take) all there is.
    pub fn add(&self, part: PartSeq, shown: &[MessageSeq], now: Time) -> bool {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = false;
        let (messages, at) = parts.entry(part).or_insert_with(|| {
            first = true;
            (Vec::new(), now)
        });
        *at = now.max(*at);
        for message in shown {
            if !messages.contains(message) {
                messages.push(*message);
            }
        }
        first
    }

    /// Takes what waits for the part; for the job when it runs, and for the caller whose job found no place in the queue.
    pub fn take(&self, part: PartSeq) -> Option<Shown> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.remove(&part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_takes_what_was_shown_until_it_runs() {
        let marks = WaitingMarks::default();
        let (web, api) = (PartSeq(1), PartSeq(2));
        let [one, two] = [MessageSeq(1), MessageSeq(2)];
        assert!(marks.add(web, &[one], Time(5)));
        assert!(!marks.add(web, &[one, two], Time(7)));
        assert!(!marks.add(web, &[], Time(6)));
        assert!(marks.add(api, &[], Time(6)));
        assert_eq!(marks.take(web), Some((vec![one, two], Time(7))));
        assert_eq!(marks.take(web), None);
        assert!(marks.add(web, &[two], Time(9)));
    }
}
