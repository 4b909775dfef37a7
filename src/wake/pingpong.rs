//! When two parts answer each other too fast (wake.md 6): pure.

use std::time::Duration;

use crate::store::PartSeq;
use crate::store::Time;

/// Alternating messages that trip the brake.
pub(super) const TRIP: usize = 6;

/// Messages older than this do not count.
pub(super) const WINDOW: Duration = Duration::from_secs(5 * 60);

/// How the two parts of a pair are kept: the lower number first.
pub(super) fn pair(one: PartSeq, other: PartSeq) -> (i64, i64) {
    (one.0.min(other.0), one.0.max(other.0))
}

/// How many messages of the run that ends at the newest alternate between the two parts. `newest_first` are a thread's messages with
/// sender (`None`: a person) and time; a person's or a third part's message ends the run, one more by the same part does not count.
pub(super) fn alternations<E>(
    newest_first: impl Iterator<Item = Result<(Option<PartSeq>, Time), E>>,
    pair: (i64, i64),
    now: Time,
) -> Result<usize, E> {
    let mut count = 0;
    let mut last = None;
    for message in newest_first {
        let (sender, at) = message?;
        let Some(sender) = sender.filter(|sender| sender.0 == pair.0 || sender.0 == pair.1) else {
            break;
        };
        if at <= now - WINDOW || count == TRIP {
            break;
        }
        if last != Some(sender) {
            count += 1;
            last = Some(sender);
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    const NOW: Time = Time(10_000_000);

    /// Messages newest first, one every 10 s; 0 is a person.
    fn count(senders: &[i64]) -> usize {
        let messages = senders.iter().enumerate().map(|(age, sender)| {
            let sender = (*sender != 0).then_some(PartSeq(*sender));
            Ok::<_, Infallible>((sender, NOW - Duration::from_secs(10 * age as u64)))
        });
        let Ok(count) = alternations(messages, (1, 2), NOW);
        count
    }

    #[test]
    fn alternating_messages_are_counted() {
        for (senders, expected) in [
            (&[1, 2, 1, 2, 1, 2][..], 6),
            (&[1, 2, 1, 2, 1], 5),
            (&[1, 1, 2, 2, 1], 3),
            (&[1, 2, 0, 2, 1, 2, 1], 2),
            (&[1, 2, 3, 2, 1, 2, 1], 2),
            (&[0, 1, 2], 0),
            (&[], 0),
        ] {
            assert_eq!(count(senders), expected, "{senders:?}");
        }
    }

    #[test]
    fn what_is_older_than_five_minutes_does_not_count() {
        let messages = (0..6_i64).map(|n| {
            let at = NOW - Duration::from_secs(75 * n as u64);
            Ok::<_, Infallible>((Some(PartSeq(1 + n % 2)), at))
        });
        assert_eq!(alternations(messages, (1, 2), NOW), Ok(4));
    }

    proptest! {
        #[test]
        fn never_more_than_the_messages_of_the_pair(senders in prop::collection::vec(0_i64..4, 0..20)) {
            let run = senders.iter().take_while(|sender| matches!(sender, 1 | 2)).count();
            prop_assert!(count(&senders) <= run.min(TRIP));
        }

        #[test]
        fn a_person_in_between_starts_the_count_anew(senders in prop::collection::vec(1_i64..3, 0..12)) {
            let mut with_person = senders.clone();
            with_person.push(0);
            with_person.extend([1, 2, 1, 2, 1, 2]);
            prop_assert_eq!(count(&with_person), count(&senders));
        }
    }
}
