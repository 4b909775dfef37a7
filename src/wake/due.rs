//! Which of a part's new mail asks for a wake, in which lane, or what holds all of it back (wake.md 4): pure.

use super::HoldReason;
use super::Kind;
use super::Lane;
use crate::store::MessageSeq;
use crate::store::PartSeq;
use crate::store::ThreadSeq;
use crate::store::Time;

/// A message that holds back the wake it would cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Why.
    pub reason: HoldReason,
    /// Until when, where that is known.
    pub until: Option<Time>,
}

/// One new message of a part: loud, neither shown nor covered by a nudge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct New {
    /// The message.
    pub message: MessageSeq,
    /// Its thread.
    pub thread: ThreadSeq,
    /// Its place in the thread.
    pub ordinal: i64,
    /// Who wrote it; `None`: a person.
    pub sender: Option<PartSeq>,
    /// Whether it is urgent.
    pub urgent: bool,
    /// Parts it was addressed to.
    pub reach: u32,
    /// Length of its chain.
    pub hops: u32,
    /// When it was stored.
    pub at: Time,
    /// Whether it waits for the next sweep, beyond its reply's cap.
    pub later: bool,
    /// What holds it back.
    pub held: Option<Held>,
}

/// What a wake is issued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// The sender; `None`: a person.
    pub part: Option<PartSeq>,
    /// The thread.
    pub thread: Option<ThreadSeq>,
    /// The message.
    pub message: Option<MessageSeq>,
}

impl Cause {
    /// A person, who asked for it by hand.
    pub const PERSON: Self = Self {
        part: None,
        thread: None,
        message: None,
    };
}

impl From<&New> for Cause {
    fn from(new: &New) -> Self {
        Self {
            part: new.sender,
            thread: Some(new.thread),
            message: Some(new.message),
        }
    }
}

/// A wake asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The lane wished for.
    pub lane: Lane,
    /// What for.
    pub kind: Kind,
    /// Caused by.
    pub cause: Cause,
}

/// The lane a message asks for.
#[must_use]
pub fn lane(new: &New) -> Lane {
    match new.sender {
        None => Lane::Human,
        Some(_) if new.urgent => Lane::Urgent,
        Some(_) => Lane::Normal,
    }
}

/// The wake that new mail, oldest first, asks for: in the highest lane of what is not held back, caused by the oldest message there.
/// `None` without new mail.
///
/// # Errors
/// What holds it back, if every message is held: the first reason in the order of the checks, until the first of them is free.
pub fn demand(new: &[New]) -> Option<Result<Demand, Held>> {
    if let Some(free) = new
        .iter()
        .filter(|new| new.held.is_none())
        .rev()
        .max_by_key(|new| lane(new))
    {
        return Some(Ok(Demand {
            lane: lane(free),
            kind: Kind::Mail,
            cause: free.into(),
        }));
    }
    let held = new.iter().filter_map(|new| new.held);
    let reason = held.clone().map(|held| held.reason).min()?;
    // A message held without a known end waits for the next sweep, which is sooner than any other.
    let until = held
        .clone()
        .all(|held| held.until.is_some())
        .then(|| held.filter_map(|held| held.until).min())
        .flatten();
    Some(Err(Held { reason, until }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn new(message: i64, sender: Option<i64>, urgent: bool, held: Option<HoldReason>) -> New {
        New {
            message: MessageSeq(message),
            thread: ThreadSeq(1),
            ordinal: message,
            sender: sender.map(PartSeq),
            urgent,
            reach: 1,
            hops: 0,
            at: Time(message),
            later: false,
            held: held.map(|reason| Held {
                reason,
                until: Some(Time(100 - message)),
            }),
        }
    }

    #[test]
    fn the_oldest_message_of_the_highest_lane_is_the_cause() {
        let mail = [
            new(1, Some(7), false, None),
            new(2, Some(8), true, None),
            new(3, Some(9), true, None),
        ];
        let demand = demand(&mail).unwrap().unwrap();
        assert_eq!(demand.lane, Lane::Urgent);
        assert_eq!(demand.cause.message, Some(MessageSeq(2)));
    }

    #[test]
    fn held_only_if_every_message_is_held() {
        let mail = [
            new(1, Some(7), true, Some(HoldReason::PingPong)),
            new(2, Some(8), false, None),
        ];
        let demand = demand(&mail).unwrap().unwrap();
        assert_eq!(demand.lane, Lane::Normal);
        assert_eq!(demand.cause.part, Some(PartSeq(8)));
    }

    #[test]
    fn the_first_reason_counts_until_the_first_message_is_free() {
        let mail = [
            new(1, Some(7), false, Some(HoldReason::PingPong)),
            new(2, Some(8), false, Some(HoldReason::Cooldown)),
        ];
        let held = demand(&mail).unwrap().unwrap_err();
        assert_eq!(held.reason, HoldReason::Cooldown);
        assert_eq!(held.until, Some(Time(98)));
        assert_eq!(demand(&[]), None);
    }

    proptest! {
        #[test]
        fn any_burst_asks_for_one_wake_in_its_highest_free_lane(
            mail in prop::collection::vec((any::<Option<bool>>(), any::<bool>(), any::<bool>()), 1..30)
        ) {
            let mail: Vec<New> = mail
                .into_iter()
                .enumerate()
                .map(|(n, (sender, urgent, held))| {
                    new(n as i64, sender.map(i64::from), urgent, held.then_some(HoldReason::Cooldown))
                })
                .collect();
            let highest = mail.iter().filter(|new| new.held.is_none()).map(lane).max();
            match demand(&mail).unwrap() {
                Ok(demand) => {
                    prop_assert_eq!(Some(demand.lane), highest);
                    let oldest = mail.iter().find(|new| new.held.is_none() && Some(lane(new)) == highest);
                    prop_assert_eq!(demand.cause.message, oldest.map(|new| new.message));
                }
                Err(held) => {
                    prop_assert_eq!(highest, None);
                    prop_assert_eq!(held.reason, HoldReason::Cooldown);
                }
            }
        }
    }
}
