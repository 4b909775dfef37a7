//! A report as it came, read and put on our clock (usage.md 6 and 7).

use std::time::Duration;

use super::rule::Kind;
use super::rule::TOGETHER;
use super::session::Place;
use crate::activity::Cause;
use crate::activity::Ending;
use crate::activity::clock::SenderClock;
use crate::api::hook::ActivityKind;
use crate::api::hook::ActivityReport;
use crate::api::hook::Origin;
use crate::api::hook::Reason;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::quote;

/// Longest name of a session or turn, in characters.
const NAME: usize = 200;

/// A report may be dated this far ahead.
const AHEAD: Duration = Duration::from_secs(24 * 60 * 60);

/// Longest excerpt of a prompt and of an answer, in characters (usage.md 10).
const TITLE: usize = 80;
const SUMMARY: usize = 500;

/// A checked report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity<'a> {
    pub(super) kind: Kind,
    pub(super) at: Time,
    pub(super) provider: &'a str,
    pub(super) session: &'a str,
    pub(super) turn: Option<&'a str>,
    /// Tag of the line the prompt began with, as told.
    pub(super) tag: Option<&'a str>,
    pub(super) origin: Cause,
    pub(super) place: Place<'a>,
    pub(super) version: Option<&'a str>,
    /// Until when the provider's limit holds, where told.
    pub(super) reset_at: Option<Time>,
    pub(super) dropped: u64,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) fresh: bool,
    pub(super) shifted: bool,
    pub(super) now: Time,
}

impl<'a> Activity<'a> {
    /// Reads a report that came at `now`.
    ///
    /// # Errors
    /// `invalid_argument` naming the field that breaks its bounds; a `resetAt` that is no time counts as none.
    pub fn read(report: &'a ActivityReport, now: Time) -> Result<Self, Refusal> {
        let clock = clock(report.sent_at.as_deref(), now)?;
        let told = Time::parse(&report.at).ok_or_else(|| no_time("at", &report.at))?;
        let at = clock.ours(told);
        if at > now + AHEAD {
            return Err(invalid("at is more than 24 h ahead"));
        }
        provider(&report.provider)?;
        name("session", &report.session)?;
        if let Some(turn) = &report.turn {
            name("turn", turn)?;
        }
        let reset = report.reset_at.as_deref().and_then(Time::parse);
        Ok(Self {
            kind: kind(report.kind, report.reason),
            // What lies a little ahead of our clock has happened all the same.
            at: at.min(now),
            provider: &report.provider,
            session: &report.session,
            turn: report.turn.as_deref(),
            tag: report.tag.as_deref(),
            origin: match report.origin {
                Some(Origin::Itself) => Cause::Itself,
                Some(Origin::Human) | None => Cause::Human,
            },
            place: Place {
                tmux: report.tmux.as_deref().filter(|text| is_plain(text)),
                pane: report.pane.as_deref().filter(|text| is_plain(text)),
            },
            version: report.version.as_deref().filter(|text| is_plain(text)),
            reset_at: reset.map(|reset| clock.ours(reset)),
            dropped: report.dropped,
            title: report.title.as_deref().map(|text| excerpt(text, TITLE)),
            summary: report.summary.as_deref().map(|text| excerpt(text, SUMMARY)),
            fresh: clock.is_fresh(told),
            shifted: clock.is_shifted(),
            now,
        })
    }

    /// The tag the prompt began with: who calls looks up its wake.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag
    }

    /// Whether it comes before another that was told of the present already. Hooks that run side by side are no earlier and no later.
    pub(super) fn is_overtaken(&self, told_at: Option<Time>) -> bool {
        told_at.is_some_and(|told| self.at + TOGETHER < told)
    }
}

fn kind(kind: ActivityKind, reason: Option<Reason>) -> Kind {
    match kind {
        ActivityKind::SessionStart => Kind::SessionStart {
            compaction: reason == Some(Reason::Compaction),
        },
        ActivityKind::TurnStart => Kind::TurnStart,
        ActivityKind::TurnEnd => Kind::TurnEnd(match reason {
            Some(Reason::Error) => Ending::Error,
            Some(Reason::Interrupted) => Ending::Interrupted,
            Some(Reason::Limited) => Ending::Limited,
            _ => Ending::Stop,
        }),
        ActivityKind::Blocked => Kind::Blocked,
        ActivityKind::SessionEnd => Kind::SessionEnd,
    }
}

/// The clock of a report that names its time of sending.
///
/// # Errors
/// `invalid_argument` if that is no time.
pub(in crate::activity) fn clock(sent_at: Option<&str>, now: Time) -> Result<SenderClock, Refusal> {
    let sent = match sent_at {
        Some(text) => Some(Time::parse(text).ok_or_else(|| no_time("sentAt", text))?),
        None => None,
    };
    Ok(SenderClock::new(sent, now))
}

/// Checks the name of an agent CLI.
///
/// # Errors
/// `invalid_argument`.
pub(in crate::activity) fn provider(text: &str) -> Result<(), Refusal> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    if (1..=32).contains(&text.len()) && text.bytes().all(plain) {
        return Ok(());
    }
    Err(invalid("provider is not 1-32 of a-z, 0-9, - and _"))
}

/// Checks the name of a session or turn.
///
/// # Errors
/// `invalid_argument`.
pub(in crate::activity) fn name(field: &str, text: &str) -> Result<(), Refusal> {
    if !text.is_empty() && is_plain(text) {
        return Ok(());
    }
    Err(invalid(&format!(
        "{field} is not 1-{NAME} characters without control characters"
    )))
}

fn is_plain(text: &str) -> bool {
    text.chars().count() <= NAME && !text.chars().any(char::is_control)
}

fn no_time(field: &str, text: &str) -> Refusal {
    invalid(&format!(
        "{field} is {}, not RFC 3339 with offset",
        quote(text)
    ))
}

fn invalid(what: &str) -> Refusal {
    Refusal::new("invalid_argument", format!("Nothing was stored: {what}."))
}

/// One line of at most so many characters.
fn excerpt(text: &str, most: usize) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Time = Time(1_796_126_400_000);

    fn report(change: impl FnOnce(&mut ActivityReport)) -> ActivityReport {
        let mut report = ActivityReport {
            code: "c".into(),
            part: "web".into(),
            provider: "claude".into(),
            session: "s".into(),
            kind: ActivityKind::TurnEnd,
            at: NOON.rfc3339(),
            sent_at: None,
            turn: None,
            tag: None,
            origin: None,
            reason: None,
            reset_at: None,
            tmux: None,
            pane: None,
            version: None,
            dropped: 0,
            title: None,
            summary: None,
        };
        change(&mut report);
        report
    }

    #[test]
    fn what_breaks_its_bounds_is_named() {
        for (bad, field) in [
            (report(|r| r.at = "noon".into()), "at"),
            (report(|r| r.at = (NOON + AHEAD * 2).rfc3339()), "at"),
            (report(|r| r.sent_at = Some("now".into())), "sentAt"),
            (report(|r| r.provider = "Claude".into()), "provider"),
            (report(|r| r.session = String::new()), "session"),
            (report(|r| r.turn = Some("a\nb".into())), "turn"),
            (report(|r| r.turn = Some("x".repeat(201))), "turn"),
        ] {
            let refusal = Activity::read(&bad, NOON).unwrap_err();
            assert!(refusal.message.contains(field), "{}", refusal.message);
        }
    }

    #[test]
    fn words_and_times_are_read() {
        let limited = report(|r| {
            r.reason = Some(Reason::Limited);
            r.reset_at = Some((NOON + AHEAD).rfc3339());
            r.title = Some("a\nb".repeat(80));
        });
        let read = Activity::read(&limited, NOON).unwrap();
        assert_eq!(read.kind, Kind::TurnEnd(Ending::Limited));
        assert_eq!(read.reset_at, Some(NOON + AHEAD));
        assert_eq!(read.title.unwrap().chars().count(), TITLE);
        let soon = report(|r| r.at = (NOON + Duration::from_secs(20)).rfc3339());
        assert_eq!(Activity::read(&soon, NOON).unwrap().at, NOON);
        let old = report(|r| r.at = (NOON - AHEAD).rfc3339());
        assert!(!Activity::read(&old, NOON).unwrap().fresh);
    }
}
