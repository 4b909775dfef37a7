//! What a span of the ledger says (wake.md 9): how many wakes were consumed, how fast, what held them, and every miss with its cause.
//! Pure; [`super::span`] reads the rows.

use std::collections::BTreeMap;

use super::Ending;
use super::HoldReason;
use super::span::Hold;
use super::span::Wake;
use crate::store::Time;

/// The wakes issued in a span, and what held others within it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// All of them.
    pub all: Figures,
    /// By part, by name.
    pub parts: Vec<(String, Figures)>,
    /// By agent CLI and version, of the last line typed; wakes without a typed line are not in it.
    pub clis: Vec<(String, Figures)>,
    /// By tmux version, likewise.
    pub tmux: Vec<(String, Figures)>,
    /// What was held, by part and reason.
    pub holds: Vec<Held>,
    /// Every wake that was not consumed and is not simply on its way, oldest first.
    pub misses: Vec<Miss>,
}

/// Counts and latencies of some wakes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Issued.
    pub issued: u32,
    /// Ended because the agent came for its mail.
    pub consumed: u32,
    /// Ended with the ladder.
    pub unanswered: u32,
    /// Ended because nothing loud was left.
    pub cleared: u32,
    /// Ended because the part was deleted, its owner banned or its project archived.
    pub canceled: u32,
    /// Not ended.
    pub open: u32,
    /// Stored to presented.
    pub presented: Option<Percentiles>,
    /// Stored to consumed.
    pub consumption: Option<Percentiles>,
}

impl Figures {
    /// Consumed per issued, 0 to 1; `None` if nothing was issued.
    #[must_use]
    pub fn success_rate(&self) -> Option<f64> {
        (self.issued > 0).then(|| f64::from(self.consumed) / f64::from(self.issued))
    }
}

/// Milliseconds not exceeded by so many of a hundred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Percentiles {
    pub p50: i64,
    pub p95: i64,
    pub p99: i64,
}

/// How often and how long a reason held a part within the span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The part.
    pub part: String,
    /// Why.
    pub reason: HoldReason,
    /// Holds.
    pub count: u32,
    /// Their time within the span, in milliseconds.
    pub held_ms: i64,
}

/// A wake that missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// Outside id.
    pub id: String,
    /// What was to be typed.
    pub tag: String,
    /// The part.
    pub part: String,
    /// When it was issued.
    pub issued_at: Time,
    /// How it ended: `unanswered`, `cleared`, `canceled`, or `open`.
    pub outcome: &'static str,
    /// Why: what held it up in the pane; `no_call` if it was presented and the agent made no call, `not_confirmed` if no line of it was
    /// known to be submitted, `mail_gone` if others ended what it announced, `not_live` if the part must not be woken any more.
    pub cause: String,
    /// Outside id of the thread that caused it.
    pub thread: Option<String>,
}

/// What these wakes and holds say of the time from `from` to `now`.
pub(super) fn of(wakes: &[Wake], holds: &[Hold], from: Time, now: Time) -> Summary {
    Summary {
        all: figures(wakes),
        parts: grouped(wakes, |wake| Some(wake.part.clone())),
        clis: grouped(wakes, |wake| wake.typed.then(|| cli(wake))),
        tmux: grouped(wakes, |wake| {
            let version = wake.tmux.clone().unwrap_or_else(unknown);
            wake.typed.then_some(version)
        }),
        holds: held(holds, from, now),
        misses: wakes.iter().filter_map(miss).collect(),
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn cli(wake: &Wake) -> String {
    match (&wake.cli, &wake.cli_version) {
        (Some(cli), Some(version)) => format!("{cli} {version}"),
        (Some(cli), None) => cli.clone(),
        (None, _) => unknown(),
    }
}

fn grouped(wakes: &[Wake], key: impl Fn(&Wake) -> Option<String>) -> Vec<(String, Figures)> {
    let mut groups: BTreeMap<String, Vec<&Wake>> = BTreeMap::new();
    for wake in wakes {
        if let Some(key) = key(wake) {
            groups.entry(key).or_default().push(wake);
        }
    }
    groups
        .into_iter()
        .map(|(key, wakes)| (key, figures(wakes)))
        .collect()
}

fn figures<'a>(wakes: impl IntoIterator<Item = &'a Wake>) -> Figures {
    let mut figures = Figures::default();
    let (mut presented, mut consumed) = (Vec::new(), Vec::new());
    for wake in wakes {
        figures.issued += 1;
        *match wake.ending {
            Some(Ending::Consumed) => &mut figures.consumed,
            Some(Ending::Unanswered) => &mut figures.unanswered,
            Some(Ending::Cleared) => &mut figures.cleared,
            Some(Ending::Canceled) => &mut figures.canceled,
            None => &mut figures.open,
        } += 1;
        let after = |at: Option<Time>| at.map(|at| at.since(wake.stored_at));
        presented.extend(after(wake.presented_at));
        consumed.extend(after(wake.consumed_at));
    }
    figures.presented = percentiles(presented);
    figures.consumption = percentiles(consumed);
    figures
}

/// By nearest rank: a value that was measured, not one between two.
fn percentiles(mut values: Vec<i64>) -> Option<Percentiles> {
    values.sort_unstable();
    let rank = |percent: usize| {
        let rank = (values.len() * percent).div_ceil(100);
        values.get(rank.checked_sub(1)?).copied()
    };
    Some(Percentiles {
        p50: rank(50)?,
        p95: rank(95)?,
        p99: rank(99)?,
    })
}

fn held(holds: &[Hold], from: Time, now: Time) -> Vec<Held> {
    let mut sums: BTreeMap<(&str, HoldReason), (u32, i64)> = BTreeMap::new();
    for hold in holds {
        let sum = sums.entry((&hold.part, hold.reason)).or_default();
        sum.0 += 1;
        sum.1 += hold
            .ended_at
            .unwrap_or(now)
            .min(now)
            .since(hold.since.max(from));
    }
    sums.into_iter()
        .map(|((part, reason), (count, held_ms))| Held {
            part: part.to_owned(),
            reason,
            count,
            held_ms,
        })
        .collect()
}

fn miss(wake: &Wake) -> Option<Miss> {
    let held_up = || wake.hold_up.clone().filter(|_| !wake.typed);
    let (outcome, cause) = match wake.ending {
        Some(Ending::Consumed) => return None,
        None => ("open", wake.hold_up.clone()?),
        Some(ending) => {
            let cause = match ending {
                Ending::Canceled => "not_live".to_owned(),
                Ending::Unanswered if wake.presented_at.is_some() => "no_call".to_owned(),
                Ending::Unanswered => "not_confirmed".to_owned(),
                _ => held_up().unwrap_or_else(|| "mail_gone".to_owned()),
            };
            (ending.as_str(), cause)
        }
    };
    Some(Miss {
        id: wake.id.clone(),
        tag: wake.tag.clone(),
        part: wake.part.clone(),
        issued_at: wake.issued_at,
        outcome,
        cause,
        thread: wake.thread.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wake(part: &str, ending: Option<Ending>) -> Wake {
        Wake {
            id: "id".into(),
            tag: "bcdfgh".into(),
            part: part.into(),
            issued_at: Time(1_000),
            stored_at: Time(1_000),
            presented_at: None,
            consumed_at: None,
            ending,
            hold_up: None,
            thread: None,
            typed: false,
            cli: None,
            cli_version: None,
            tmux: None,
        }
    }

    fn consumed(part: &str, presented: i64, consumed: i64) -> Wake {
        Wake {
            presented_at: Some(Time(1_000 + presented)),
            consumed_at: Some(Time(1_000 + consumed)),
            typed: true,
            ..wake(part, Some(Ending::Consumed))
        }
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        assert_eq!(percentiles(Vec::new()), None);
        let of = |values: Vec<i64>| {
            let found = percentiles(values).unwrap();
            (found.p50, found.p95, found.p99)
        };
        assert_eq!(of(vec![7]), (7, 7, 7));
        assert_eq!(of(vec![3, 1, 2]), (2, 3, 3));
        assert_eq!(of((1..=100).rev().collect()), (50, 95, 99));
        assert_eq!(of((1..=1_000).collect()), (500, 950, 990));
    }

    #[test]
    fn figures_count_every_wake_once() {
        let wakes = [
            consumed("web", 400, 2_000),
            consumed("web", 600, 4_000),
            wake("web", Some(Ending::Unanswered)),
            wake("api", Some(Ending::Cleared)),
            wake("api", Some(Ending::Canceled)),
            wake("api", None),
        ];
        let summary = of(&wakes, &[], Time(0), Time(9_000));
        let all = &summary.all;
        let ended = all.consumed + all.unanswered + all.cleared + all.canceled;
        assert_eq!((all.issued, ended, all.open), (6, 5, 1));
        assert_eq!(all.success_rate(), Some(2.0 / 6.0));
        assert_eq!(all.presented.map(|found| found.p50), Some(400));
        assert_eq!(all.consumption.map(|found| found.p99), Some(4_000));
        let parts: Vec<_> = summary
            .parts
            .iter()
            .map(|(part, figures)| (part.as_str(), figures.issued, figures.consumed))
            .collect();
        assert_eq!(parts, [("api", 3, 0), ("web", 3, 2)]);
        assert_eq!(Figures::default().success_rate(), None);
    }

    #[test]
    fn wakes_are_grouped_by_what_their_line_was_typed_into() {
        let mut new = consumed("web", 1, 2);
        new.cli = Some("claude".into());
        new.cli_version = Some("2.1.0".into());
        new.tmux = Some("3.5a".into());
        let wakes = [new, consumed("web", 1, 2), wake("web", None)];
        let summary = of(&wakes, &[], Time(0), Time(9_000));
        let names = |groups: &[(String, Figures)]| -> Vec<(String, u32)> {
            let issued = groups
                .iter()
                .map(|(name, figures)| (name.clone(), figures.issued));
            issued.collect()
        };
        assert_eq!(
            names(&summary.clis),
            [("claude 2.1.0".into(), 1), ("unknown".into(), 1)]
        );
        assert_eq!(
            names(&summary.tmux),
            [("3.5a".into(), 1), ("unknown".into(), 1)]
        );
    }

    #[test]
    fn a_hold_counts_only_its_time_within_the_span() {
        let hold = |part: &str, reason, since, ended: Option<i64>| Hold {
            part: part.into(),
            reason,
            since: Time(since),
            ended_at: ended.map(Time),
        };
        let holds = [
            hold("web", HoldReason::Budget, 0, Some(1_500)),
            hold("web", HoldReason::Budget, 2_000, Some(2_300)),
            hold("web", HoldReason::Cooldown, 2_500, Some(2_600)),
            hold("api", HoldReason::Paused, 500, None),
        ];
        let held: Vec<_> = of(&[], &holds, Time(1_000), Time(3_000))
            .holds
            .into_iter()
            .map(|held| (held.part, held.reason, held.count, held.held_ms))
            .collect();
        assert_eq!(
            held,
            [
                ("api".into(), HoldReason::Paused, 1, 2_000),
                ("web".into(), HoldReason::Cooldown, 1, 100),
                ("web".into(), HoldReason::Budget, 2, 800),
            ]
        );
    }

    #[test]
    fn every_miss_has_its_cause_and_nothing_else_is_one() {
        let held_up = |ending| Wake {
            hold_up: Some("dialog".into()),
            ..wake("web", ending)
        };
        let presented = Wake {
            presented_at: Some(Time(2_000)),
            typed: true,
            ..wake("web", Some(Ending::Unanswered))
        };
        for (wake, expected) in [
            (consumed("web", 1, 2), None),
            (wake("web", None), None),
            (held_up(None), Some(("open", "dialog"))),
            (held_up(Some(Ending::Cleared)), Some(("cleared", "dialog"))),
            (
                wake("web", Some(Ending::Cleared)),
                Some(("cleared", "mail_gone")),
            ),
            (
                wake("web", Some(Ending::Canceled)),
                Some(("canceled", "not_live")),
            ),
            (
                wake("web", Some(Ending::Unanswered)),
                Some(("unanswered", "not_confirmed")),
            ),
            (presented, Some(("unanswered", "no_call"))),
        ] {
            let found = miss(&wake);
            let found = found
                .as_ref()
                .map(|miss| (miss.outcome, miss.cause.as_str()));
            assert_eq!(found, expected, "{wake:?}");
        }
    }
}
