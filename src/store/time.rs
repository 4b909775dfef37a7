//! Time: milliseconds since 1970, UTC. The only place that reads the clock is [`system_clock`]; every rule is given `now`.

use std::fmt;
use std::ops::Add;
use std::ops::Sub;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;

use rusqlite::ToSql;
use rusqlite::types::FromSql;
use rusqlite::types::FromSqlResult;
use rusqlite::types::ToSqlOutput;
use rusqlite::types::ValueRef;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub i64);

impl Time {
    /// RFC 3339, UTC, milliseconds: `2026-12-01T09:30:00.000Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        self.to_string()
    }

    /// Reads RFC 3339 with an offset; `None` for anything else, also for a local time without one. Cut to milliseconds.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // The parser takes a blank between date and time and Temporal's bracketed zones; RFC 3339 with `T` is what we promise.
        if text.contains('[') || !text.get(10..11)?.eq_ignore_ascii_case("t") {
            return None;
        }
        let stamp: jiff::Timestamp = text.parse().ok()?;
        Some(Self(stamp.as_millisecond()))
    }

    /// Milliseconds from `earlier` to `self`; 0 if it is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stamp = jiff::Timestamp::from_millisecond(self.0).unwrap_or_default();
        write!(f, "{stamp:.3}")
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

/// The relay's time: never behind what it or the file has said before, and never standing still (wake.md 10). When the wall clock is
/// set back it goes on from where it was at the pace of the monotonic clock, so that no window refills early and no lease lasts longer
/// than its length.
#[derive(Debug)]
pub struct Clock {
    last: Mutex<(Time, Duration)>,
}

impl Clock {
    /// A clock that starts at `floor`, the newest time found in the file.
    #[must_use]
    pub fn new(floor: Time, monotonic: Duration) -> Self {
        Self {
            last: Mutex::new((floor, monotonic)),
        }
    }

    /// The time for a wall clock that reads `wall` and a monotonic clock that reads `monotonic`.
    pub fn read(&self, wall: Time, monotonic: Duration) -> Time {
        let mut last = self
            .last
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let steady = last.0 + monotonic.saturating_sub(last.1);
        let now = wall.max(steady);
        *last = (now, monotonic.max(last.1));
        now
    }
}

/// The machine's clocks: wall time and a monotonic span since the first call. Every other place is given its time.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the clock"
)]
pub fn system_clock() -> (Time, Duration) {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let monotonic = START.get_or_init(Instant::now).elapsed();
    (Time(jiff::Timestamp::now().as_millisecond()), monotonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_milliseconds_and_reads_offsets() {
        let time = Time::parse("2026-12-01T10:30:00+01:00").unwrap();
        assert_eq!(time.rfc3339(), "2026-12-01T09:30:00.000Z");
        assert_eq!(Time::parse(&time.rfc3339()), Some(time));
        for bad in [
            "",
            "soon",
            "12345",
            "2026-12-01T09:30:00",
            "2026-12-01 09:30:00Z",
            "2026-12-01T09:30:00+01:00[Europe/Berlin]",
        ] {
            assert_eq!(Time::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn clock_set_back_goes_on_at_the_monotonic_pace() {
        let clock = Clock::new(Time(1_000), Duration::ZERO);
        assert_eq!(
            clock.read(Time(5_000), Duration::from_millis(10)),
            Time(5_000)
        );
        assert_eq!(
            clock.read(Time(2_000), Duration::from_millis(25)),
            Time(5_015)
        );
        assert_eq!(
            clock.read(Time(9_000), Duration::from_millis(30)),
            Time(9_000)
        );
    }

    #[test]
    fn clock_never_falls_behind_the_file() {
        let clock = Clock::new(Time(8_000), Duration::ZERO);
        assert_eq!(clock.read(Time(100), Duration::from_millis(7)), Time(8_007));
    }
}
