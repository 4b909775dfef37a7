//! When to ask the relay again, and when to say that it does not answer (pager.md 2).

use std::time::Duration;

use super::client::Class;
use super::client::Failure;
use crate::store::Time;

/// Distance of tries while the token is not taken, or code, part or version are not known.
pub const SLOW: Duration = Duration::from_secs(60);
/// How long a part held by another pager is left alone, besides up to five random seconds.
pub const ELSEWHERE: Duration = Duration::from_secs(45);
const GOOD_MS: i64 = 60_000;
const FIRST: f64 = 0.5;
const LONGEST: f64 = 30.0;
/// Longer than this nobody is told to stay away.
const LONGEST_ASKED: Duration = Duration::from_secs(600);

/// Waits that grow at random, so that pagers cut off together do not come back together.
#[derive(Debug, Clone, PartialEq)]
pub struct Backoff {
    last: f64,
    good_since: Option<Time>,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            last: FIRST,
            good_since: None,
        }
    }
}

impl Backoff {
    /// The wait after a failure: `min(30, U(0.5, 3 × last))` seconds, `random` from 0 to 1.
    pub fn next(&mut self, random: f64) -> Duration {
        self.good_since = None;
        let longest = self.last * 3.0;
        self.last = (FIRST + random.clamp(0.0, 1.0) * (longest - FIRST)).min(LONGEST);
        Duration::from_secs_f64(self.last)
    }

    /// Notes a success; after 60 s of them waits begin small again.
    pub fn good(&mut self, now: Time) {
        let since = *self.good_since.get_or_insert(now);
        if now.since(since) >= GOOD_MS {
            self.last = FIRST;
        }
    }

    /// When to call again after `failure`.
    pub fn after(&mut self, failure: &Failure, random: f64) -> Duration {
        let wait = match failure.class {
            Class::Transient => self.next(random),
            Class::Auth | Class::Gone => SLOW,
            Class::Conflict => ELSEWHERE + Duration::from_secs(5).mul_f64(random),
        };
        let Some(asked) = failure.retry_after else {
            return wait;
        };
        // A little more than asked: never at the very second everybody else was told.
        let asked = asked.min(LONGEST_ASKED) + Duration::from_secs(1).mul_f64(random);
        match failure.class {
            Class::Transient => asked,
            _ => asked.max(wait),
        }
    }
}

/// Whether the relay answers, and since when not: one line when a class begins and one when it ends.
#[derive(Debug, Clone, Default)]
pub struct Contact {
    trouble: Option<(Class, Time, u32)>,
}

impl Contact {
    /// The class of the trouble there is.
    #[must_use]
    pub fn trouble(&self) -> Option<Class> {
        self.trouble.map(|(class, ..)| class)
    }

    /// Notes a failure; gives the line to log if its class is new.
    pub fn failed(&mut self, failure: &Failure, now: Time) -> Option<String> {
        if let Some((class, _, count)) = &mut self.trouble
            && *class == failure.class
        {
            *count += 1;
            return None;
        }
        let ended = self.good(now);
        self.trouble = Some((failure.class, now, 1));
        let began = format!("{}: {}", failure.class.word(), failure.text);
        Some(match ended {
            Some(ended) => format!("{ended}; now {began}"),
            None => began,
        })
    }

    /// Notes a success; gives the line to log if there was trouble.
    pub fn good(&mut self, now: Time) -> Option<String> {
        let (class, since, count) = self.trouble.take()?;
        Some(format!(
            "{} over after {} s and {count} tries",
            class.word(),
            now.since(since) / 1_000
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: Class, retry_after: Option<u64>) -> Failure {
        Failure {
            class,
            text: "x".into(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    #[test]
    fn pager_026_every_wait_is_between_half_a_second_and_thirty() {
        let mut backoff = Backoff::default();
        assert_eq!(backoff.clone().next(0.0), Duration::from_millis(500));
        assert_eq!(backoff.clone().next(1.0), Duration::from_millis(1_500));
        for _ in 0..10 {
            backoff.next(1.0);
        }
        assert_eq!(backoff.next(1.0), Duration::from_secs(30));
        backoff.good(Time(0));
        backoff.good(Time(59_000));
        assert_eq!(backoff.clone().next(1.0), Duration::from_secs(30));
        backoff.good(Time(60_000));
        assert_eq!(backoff.next(1.0), Duration::from_millis(1_500));
    }

    #[test]
    fn pager_026_a_hundred_cut_off_together_come_back_apart() {
        // Evenly random first waits over a second: 100 ms hold about ten of a hundred.
        let mut slots = [0; 20];
        for pager in 0..100_u32 {
            let wait = Backoff::default().next(f64::from(pager) / 100.0);
            slots[usize::try_from(wait.as_millis() / 100).unwrap()] += 1;
        }
        assert!(slots.iter().all(|count| *count <= 30));
    }

    #[test]
    fn pager_025_what_the_relay_asks_for_is_waited() {
        for random in [0.0, 0.5, 1.0] {
            let wait = Backoff::default().after(&failure(Class::Transient, Some(7)), random);
            assert!((7.0..=8.0).contains(&wait.as_secs_f64()), "{wait:?}");
            let slow = Backoff::default().after(&failure(Class::Auth, None), random);
            assert_eq!(slow, SLOW);
            let held = Backoff::default().after(&failure(Class::Conflict, None), random);
            assert!((45.0..=50.0).contains(&held.as_secs_f64()), "{held:?}");
        }
    }

    #[test]
    fn a_class_is_told_when_it_begins_and_when_it_ends() {
        let mut contact = Contact::default();
        assert!(
            contact
                .failed(&failure(Class::Transient, None), Time(0))
                .is_some()
        );
        assert!(
            contact
                .failed(&failure(Class::Transient, None), Time(1))
                .is_none()
        );
        assert_eq!(
            contact.good(Time(600_000)).unwrap(),
            "relay over after 600 s and 2 tries"
        );
        assert!(contact.good(Time(600_001)).is_none());
    }
}
