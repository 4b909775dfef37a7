//! What comes after a nudge (wake.md 5): pure.

use std::time::Duration;

use crate::api::TurnView;
use crate::store::Time;

/// Nudges of one wake at most.
pub(super) const LAST: u32 = 4;

/// Since the nudge of that number: how long until the next, or after the last until the wake has gone unanswered.
const STEPS: [Duration; LAST as usize] = [
    Duration::from_secs(90),
    Duration::from_secs(5 * 60),
    Duration::from_secs(15 * 60),
    Duration::from_secs(15 * 60),
];

/// New mail is announced by the next nudge at once if the last is older than this.
pub(super) const AT_ONCE: Duration = Duration::from_secs(60);

/// What the hook knows of the part's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing, or nothing since the nudge.
    Unknown,
    /// One is running: the clock stands still.
    Running,
    /// The last one ended then: the clock runs from there.
    Ended(Time),
}

impl From<&TurnView> for Turn {
    fn from(view: &TurnView) -> Self {
        match view.state.as_str() {
            "busy" | "blocked" => Self::Running,
            "idle" => view
                .since
                .as_deref()
                .and_then(Time::parse)
                .map_or(Self::Unknown, Self::Ended),
            _ => Self::Unknown,
        }
    }
}

/// A wake whose line was typed and which nobody came for yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Nudges so far, 1 to 4.
    pub nudges: u32,
    /// When the last was typed.
    pub nudged_at: Time,
    /// Whether mail came since that nothing holds back.
    pub new_mail: bool,
    /// The part's turn.
    pub turn: Turn,
}

/// What is due now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing yet.
    Wait,
    /// The next nudge.
    Nudge,
    /// Nothing more: the wake has gone unanswered.
    Unanswered,
}

/// What the ladder says at `now`.
#[must_use]
pub fn next(standing: &Standing, now: Time) -> Next {
    let nudges = standing.nudges.clamp(1, LAST);
    let since = match standing.turn {
        Turn::Running => return Next::Wait,
        Turn::Ended(end) => standing.nudged_at.max(end),
        Turn::Unknown => standing.nudged_at,
    };
    let step = STEPS[nudges as usize - 1];
    if nudges == LAST {
        return if now >= since + step {
            Next::Unanswered
        } else {
            Next::Wait
        };
    }
    let announces = standing.new_mail && now > since + AT_ONCE;
    if announces || now >= since + step {
        Next::Nudge
    } else {
        Next::Wait
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NUDGED: Time = Time(1_000_000);

    fn standing(nudges: u32) -> Standing {
        Standing {
            nudges,
            nudged_at: NUDGED,
            new_mail: false,
            turn: Turn::Unknown,
        }
    }

    fn after(standing: &Standing, seconds: u64) -> Next {
        next(standing, NUDGED + Duration::from_secs(seconds))
    }

    #[test]
    fn rungs_are_due_after_their_times() {
        for (nudges, seconds, then) in [
            (1, 90, Next::Nudge),
            (2, 300, Next::Nudge),
            (3, 900, Next::Nudge),
            (4, 900, Next::Unanswered),
        ] {
            assert_eq!(after(&standing(nudges), seconds - 1), Next::Wait);
            assert_eq!(after(&standing(nudges), seconds), then);
        }
    }

    #[test]
    fn new_mail_brings_the_next_rung_forward_but_adds_none() {
        let mut new = standing(2);
        new.new_mail = true;
        assert_eq!(after(&new, 60), Next::Wait);
        assert_eq!(after(&new, 61), Next::Nudge);
        new.nudges = 4;
        assert_eq!(after(&new, 61), Next::Wait);
        assert_eq!(after(&new, 900), Next::Unanswered);
    }

    #[test]
    fn a_running_turn_stops_the_clock_until_it_ends() {
        let mut busy = standing(1);
        busy.turn = Turn::Running;
        assert_eq!(after(&busy, 100_000), Next::Wait);
        busy.turn = Turn::Ended(NUDGED + Duration::from_secs(1_200));
        assert_eq!(after(&busy, 1_289), Next::Wait);
        assert_eq!(after(&busy, 1_290), Next::Nudge);
    }

    #[test]
    fn the_words_of_the_hook_are_understood() {
        let view = |state: &str, since: Option<&str>| TurnView {
            state: state.into(),
            since: since.map(Into::into),
            tag: None,
        };
        assert_eq!(Turn::from(&view("busy", None)), Turn::Running);
        assert_eq!(Turn::from(&view("blocked", None)), Turn::Running);
        assert_eq!(Turn::from(&view("none", None)), Turn::Unknown);
        let ended = Turn::Ended(Time(1_000));
        assert_eq!(
            Turn::from(&view("idle", Some("1970-01-01T00:00:01.000Z"))),
            ended
        );
    }

    proptest! {
        #[test]
        fn at_most_four_nudges_ever(news in prop::collection::vec(any::<bool>(), 1..600)) {
            let mut wake = standing(1);
            let mut now = NUDGED;
            let mut unanswered = false;
            for new_mail in news {
                now = now + Duration::from_secs(30);
                wake.new_mail = new_mail;
                match next(&wake, now) {
                    Next::Wait => {}
                    Next::Nudge => {
                        prop_assert!(now.since(wake.nudged_at) > 60_000);
                        wake.nudges += 1;
                        wake.nudged_at = now;
                    }
                    Next::Unanswered => {
                        unanswered = true;
                        break;
                    }
                }
            }
            prop_assert!(wake.nudges <= LAST);
            // 40 min after the first nudge the ladder is through whatever came in between.
            prop_assert!(unanswered || now.since(NUDGED) < 40 * 60_000);
        }
    }
}
