//! Days and hours of a person's own clock. Sums are kept per quarter hour of UTC, of which every zone's day is made.

use jiff::Timestamp;
use jiff::ToSpan;
use jiff::Unit;
use jiff::ZonedDateTime;
use jiff::tz::TimeZone;

use crate::store::Refusal;
use crate::store::Time;
use crate::store::quote;

/// A zone, and what it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    zone: TimeZone,
    name: String,
}

impl Zone {
    /// The zone of that name: `UTC`, `Asia/Kolkata`, or an offset such as `+05:30`. Without a name it is UTC.
    ///
    /// # Errors
    /// `invalid_argument` for a name nobody knows.
    pub fn find(name: Option<&str>) -> Result<Self, Refusal> {
        let Some(name) = name else {
            return Ok(Self::utc());
        };
        let zone = offset(name).or_else(|| TimeZone::get(name).ok());
        let zone = zone.ok_or_else(|| {
            let message = format!(
                "zone {} is no name such as Europe/Berlin or +05:30",
                quote(name)
            );
            Refusal::new("invalid_argument", message)
        })?;
        Ok(Self {
            zone,
            name: name.to_owned(),
        })
    }

    /// The zone of the machine this runs on, by name or, where it has none, by its offset at `now`.
    #[must_use]
    pub fn of_machine(now: Time) -> Self {
        let Ok(zone) = TimeZone::try_system() else {
            return Self::utc();
        };
        match zone.iana_name() {
            Some(name) => Self {
                name: name.to_owned(),
                zone,
            },
            None => {
                let offset = zone.to_offset(stamp(now));
                let name = if offset.is_zero() {
                    "UTC".to_owned()
                } else {
                    offset.to_string()
                };
                Self::find(Some(&name)).unwrap_or_else(|_| Self::utc())
            }
        }
    }

    fn utc() -> Self {
        Self {
            zone: TimeZone::UTC,
            name: "UTC".to_owned(),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The begin of the day `at` is in.
    #[must_use]
    pub fn day(&self, at: Time) -> Time {
        let begin = self.zoned(at).start_of_day();
        begin.map_or(at, |begin| time(&begin))
    }

    /// The begin of the hour `at` is in.
    #[must_use]
    pub fn hour(&self, at: Time) -> Time {
        let hour = jiff::ZonedDateTimeRound::new()
            .smallest(Unit::Hour)
            .mode(jiff::RoundMode::Trunc);
        self.zoned(at).round(hour).map_or(at, |begin| time(&begin))
    }

    /// The begin of the day so many days before the one `at` is in.
    #[must_use]
    pub fn days_before(&self, at: Time, days: u32) -> Time {
        let earlier = self.zoned(at).checked_sub(i64::from(days).days());
        earlier.map_or(at, |earlier| self.day(time(&earlier)))
    }

    /// RFC 3339 with the zone's offset.
    #[must_use]
    pub fn rfc3339(&self, at: Time) -> String {
        let zoned = self.zoned(at);
        zoned
            .timestamp()
            .display_with_offset(zoned.offset())
            .to_string()
    }

    fn zoned(&self, at: Time) -> ZonedDateTime {
        stamp(at).to_zoned_datetime(self.zone.clone())
    }
}

fn stamp(at: Time) -> Timestamp {
    Timestamp::from_millisecond(at.0).unwrap_or_default()
}

fn time(zoned: &ZonedDateTime) -> Time {
    Time(zoned.timestamp().as_millisecond())
}

/// `+05:30`.
fn offset(text: &str) -> Option<TimeZone> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "00"));
    let number = |text: &str| text.parse::<i32>().ok().filter(|_| text.len() == 2);
    let seconds = number(hours)? * 3_600 + number(minutes).filter(|minutes| *minutes < 60)? * 60;
    let offset = jiff::tz::Offset::from_seconds(sign * seconds).ok()?;
    Some(TimeZone::fixed(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time::parse(text).unwrap()
    }

    #[test]
    fn usage_044_a_day_is_the_zones_own() {
        let half = Zone::find(Some("+05:30")).unwrap();
        let late = at("2026-11-01T23:40:00+05:30");
        assert_eq!(half.day(late), at("2026-11-01T00:00:00+05:30"));
        assert_eq!(half.hour(late), at("2026-11-01T23:00:00+05:30"));
        assert_eq!(half.days_before(late, 6), at("2026-10-26T00:00:00+05:30"));
        assert_eq!(half.rfc3339(half.day(late)), "2026-11-01T00:00:00+05:30");
        let utc = Zone::find(None).unwrap();
        assert_eq!(utc.day(late), at("2026-11-01T00:00:00Z"));
        assert_eq!(utc.name(), "UTC");
    }

    #[test]
    fn a_zone_nobody_knows_is_refused() {
        for bad in ["", "+5", "+05:3", "+05:60", "Mars/Base", "5:30"] {
            assert!(Zone::find(Some(bad)).is_err(), "{bad}");
        }
    }
}
