//! Stillness: two equal samples, with a third when something was drawn between them (pager.md 4, "Sample").

/// Least distance of two equal samples, in milliseconds.
const STILL_MS: i64 = 1_500;
/// Least distance of the third sample, asked for when the activity second moved under an equal picture.
const AGAIN_MS: i64 = 700;
/// How long a still sample vouches for the next one although the activity second moves on, as a footer clock makes it.
const WATCH_MS: i64 = 3_000;

/// What of a screen must stand still, and how long it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Of the cells and styles above the footer, the drawn cursor left out.
    pub hash: u64,
    /// The pane's title.
    pub title: String,
    /// Column, row and visibility of the real cursor.
    pub cursor: (u16, u16, bool),
    /// Width and height.
    pub size: (u16, u16),
    /// The pane's process.
    pub pane_pid: i32,
    /// The agent's process.
    pub agent_pid: i32,
    /// Activity of the window, in seconds since the epoch.
    pub activity: i64,
    /// When it was taken.
    pub taken_at: i64,
    /// When the first of the unbroken run of equal samples was taken.
    pub since: i64,
    /// Activity second of that first sample.
    pub activity_since: i64,
    /// A sample that was equal although the activity second had moved, and waits for a third.
    pub doubt_at: Option<i64>,
    /// Whether the screen stands still.
    pub still: bool,
    /// In how many samples of this agent a composer was seen.
    pub composers: u32,
}

impl Sample {
    /// Judges this sample, just taken, after `previous`.
    #[must_use]
    pub fn after(mut self, previous: Option<&Self>) -> Self {
        let Some(previous) = previous else {
            return self;
        };
        if previous.agent_pid == self.agent_pid && previous.pane_pid == self.pane_pid {
            self.composers = self.composers.saturating_add(previous.composers);
        }
        if !self.equals(previous) {
            return self;
        }
        self.since = previous.since;
        self.activity_since = previous.activity_since;
        let before = if previous.still {
            previous.activity
        } else {
            previous.activity_since
        };
        let moved = self.activity != before;
        let vouched = previous.still && self.taken_at - previous.taken_at <= WATCH_MS;
        match previous.doubt_at {
            Some(at) if self.taken_at - at >= AGAIN_MS => self.still = true,
            Some(at) => self.doubt_at = Some(at),
            None if self.taken_at - self.since < STILL_MS => self.doubt_at = None,
            None if moved && !vouched => self.doubt_at = Some(self.taken_at),
            None => self.still = true,
        }
        self
    }

    /// How long until a next equal sample could make the screen still, in milliseconds; 0 when it is.
    #[must_use]
    pub fn settles_in(&self) -> i64 {
        match self.doubt_at {
            _ if self.still => 0,
            Some(at) => (at + AGAIN_MS - self.taken_at).max(0),
            None => (self.since + STILL_MS - self.taken_at).max(0),
        }
    }

    fn equals(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.title == other.title
            && self.cursor == other.cursor
            && self.size == other.size
            && self.pane_pid == other.pane_pid
            && self.agent_pid == other.agent_pid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_800_000_000_000;

    fn sample(at: i64, hash: u64, activity: i64) -> Sample {
        Sample {
            hash,
            title: "shop".into(),
            cursor: (2, 20, true),
            size: (80, 24),
            pane_pid: 100,
            agent_pid: 101,
            activity,
            taken_at: AT + at,
            since: AT + at,
            activity_since: activity,
            doubt_at: None,
            still: false,
            composers: 1,
        }
    }

    /// Time, hash, activity second.
    type Taken = (i64, u64, i64);

    /// Whether the screen is still at each of the looks.
    fn walk(looks: &[Taken]) -> Vec<bool> {
        let mut last: Option<Sample> = None;
        looks
            .iter()
            .map(|&(at, hash, activity)| {
                let next = sample(at, hash, activity).after(last.as_ref());
                let still = next.still;
                last = Some(next);
                still
            })
            .collect()
    }

    #[test]
    fn two_equal_samples_are_still_after_a_second_and_a_half() {
        assert_eq!(walk(&[(0, 1, 9), (1_499, 1, 9)]), [false, false]);
        assert_eq!(walk(&[(0, 1, 9), (1_500, 1, 9)]), [false, true]);
        assert_eq!(
            walk(&[(0, 1, 9), (800, 1, 9), (1_600, 1, 9)]),
            [false, false, true]
        );
    }

    #[test]
    fn a_change_starts_over() {
        assert_eq!(
            walk(&[(0, 1, 9), (2_000, 2, 9), (3_000, 2, 9), (3_500, 2, 9)]),
            [false, false, false, true]
        );
        assert_eq!(
            walk(&[(0, 1, 9), (2_000, 1, 9), (4_000, 2, 9), (6_000, 1, 9)]),
            [false, true, false, false]
        );
    }

    #[test]
    fn pager_060_the_first_sample_may_be_an_hour_old() {
        assert_eq!(walk(&[(0, 1, 9), (3_600_000, 1, 9)]), [false, true]);
    }

    #[test]
    fn an_equal_picture_with_newer_activity_wants_a_third_sample() {
        let table: [(&[Taken], &[bool]); 5] = [
            (
                &[(0, 1, 9), (2_000, 1, 10), (2_700, 1, 10)],
                &[false, false, true],
            ),
            (
                &[(0, 1, 9), (2_000, 1, 10), (2_600, 1, 10), (2_700, 1, 10)],
                &[false, false, false, true],
            ),
            (
                &[(0, 1, 9), (2_000, 1, 10), (2_700, 2, 10)],
                &[false, false, false],
            ),
            // The activity moved before the second sample, which came too early to count.
            (
                &[(0, 1, 9), (1_000, 1, 10), (2_000, 1, 10)],
                &[false, false, false],
            ),
            // A turn between two looks an hour apart may end on the same picture.
            (
                &[(0, 1, 9), (2_000, 1, 9), (3_600_000, 1, 50)],
                &[false, true, false],
            ),
        ];
        for (looks, expected) in table {
            assert_eq!(walk(looks), expected, "{looks:?}");
        }
    }

    #[test]
    fn pager_049_a_footer_clock_is_still_within_four_seconds_and_stays_so() {
        let looks: Vec<Taken> = [0, 2_000, 2_700, 4_700, 6_700]
            .map(|at| (at, 1, at / 1_000))
            .into();
        assert_eq!(walk(&looks), [false, false, true, true, true]);
    }

    #[test]
    fn pager_059_every_other_fact_of_a_sample_starts_over() {
        let first = sample(0, 1, 9);
        let later = sample(2_000, 1, 9);
        let changed = [
            Sample {
                size: (60, 24),
                ..later.clone()
            },
            Sample {
                title: "⠇ shop".into(),
                ..later.clone()
            },
            Sample {
                cursor: (3, 20, true),
                ..later.clone()
            },
            Sample {
                cursor: (2, 20, false),
                ..later.clone()
            },
            Sample {
                pane_pid: 7,
                ..later.clone()
            },
            Sample {
                agent_pid: 7,
                ..later.clone()
            },
        ];
        assert!(later.after(Some(&first)).still);
        for sample in changed {
            assert!(!sample.after(Some(&first)).still);
        }
    }

    #[test]
    fn composers_are_counted_per_agent() {
        let second = sample(2_000, 2, 9).after(Some(&sample(0, 1, 9)));
        assert_eq!(second.composers, 2);
        let other = Sample {
            agent_pid: 7,
            ..sample(4_000, 2, 9)
        };
        assert_eq!(other.after(Some(&second)).composers, 1);
    }

    #[test]
    fn the_next_look_is_asked_for_no_sooner_than_it_can_settle() {
        let first = sample(0, 1, 9).after(None);
        assert_eq!(first.settles_in(), STILL_MS);
        let doubted = sample(2_000, 1, 10).after(Some(&first));
        assert_eq!(doubted.settles_in(), AGAIN_MS);
        assert_eq!(sample(2_700, 1, 10).after(Some(&doubted)).settles_in(), 0);
    }
}
