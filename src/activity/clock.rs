//! Whose clock a report's times are of (usage.md 7): ages are measured on the sender's, what is stored is on ours.

use std::time::Duration;

use crate::store::Time;

/// Clocks this close are taken to be the same.
const SAME: Duration = Duration::from_secs(30);

/// A report older than this when it was sent says nothing of the present.
const FRESH: Duration = Duration::from_secs(60);

/// How the sender's clock stands to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SenderClock {
    /// Our time when the report came.
    now: Time,
    /// The sender's time when it sent it.
    sent: Time,
    /// Milliseconds to be added to its times.
    shift: i64,
}

impl SenderClock {
    /// The clock of a report sent at `sent` by its own clock and come at `now` by ours. Without a time of sending it is ours.
    #[must_use]
    pub fn new(sent: Option<Time>, now: Time) -> Self {
        let sent = sent.unwrap_or(now);
        let ahead = now.0 - sent.0;
        let same = Duration::from_millis(ahead.unsigned_abs()) <= SAME;
        Self {
            now,
            sent,
            shift: if same { 0 } else { ahead },
        }
    }

    /// A time of the report, on our clock.
    #[must_use]
    pub fn ours(&self, at: Time) -> Time {
        Time(at.0.saturating_add(self.shift))
    }

    /// Whether its times are moved.
    #[must_use]
    pub fn is_shifted(&self) -> bool {
        self.shift != 0
    }

    /// Whether what happened at `at`, by the sender's clock, was news when it was sent.
    #[must_use]
    pub fn is_fresh(&self, at: Time) -> bool {
        self.sent <= at + FRESH
    }

    /// Our time when the report came.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Time = Time(1_796_126_400_000);

    #[test]
    fn only_a_clock_that_is_off_is_set() {
        for (sent, at, ours) in [
            (None, 5_000, 5_000),
            (Some(NOON), -3_600_000, -3_600_000),
            (Some(Time(NOON.0 - 30_000)), -31_000, -31_000),
            (Some(Time(NOON.0 - 30_001)), -30_001, 0),
            (Some(Time(NOON.0 + 7_200_000)), 7_199_000, -1_000),
        ] {
            let clock = SenderClock::new(sent, NOON);
            assert_eq!(
                clock.ours(Time(NOON.0 + at)),
                Time(NOON.0 + ours),
                "{sent:?}"
            );
        }
    }

    #[test]
    fn ages_are_measured_on_the_senders_clock() {
        let hour_slow = SenderClock::new(Some(Time(NOON.0 - 3_600_000)), NOON);
        assert!(hour_slow.is_fresh(Time(NOON.0 - 3_660_000)));
        assert!(!hour_slow.is_fresh(Time(NOON.0 - 3_660_001)));
        assert!(hour_slow.is_shifted());
        let same = SenderClock::new(None, NOON);
        assert!(same.is_fresh(NOON));
        assert!(!same.is_fresh(Time(NOON.0 - 60_001)));
    }
}
