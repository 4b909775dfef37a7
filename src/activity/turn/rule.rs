//! What a report does to the turns of its session (usage.md 7): pure. Reports come late, twice and out of order, so each is judged by its
//! own time against what is known, and the first of several ends is the end.

use std::time::Duration;

use crate::activity::Cause;
use crate::activity::Ending;
use crate::store::Time;
use crate::store::TurnSeq;
use crate::store::WakeSeq;

/// Hooks of one prompt run side by side: their reports may be this far apart, in either order.
pub(super) const TOGETHER: Duration = Duration::from_secs(2);

/// What began a turn, or was sent into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prompt {
    /// Whose it was.
    pub cause: Cause,
    /// With [`Cause::Wake`], which.
    pub wake: Option<WakeSeq>,
}

impl Prompt {
    /// A person's, or one nothing is known of.
    pub const HUMAN: Self = Self {
        cause: Cause::Human,
        wake: None,
    };
}

/// A turn as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::activity) struct Turn {
    pub seq: TurnSeq,
    pub name: String,
    pub started_at: Option<Time>,
    pub ended: Option<(Time, Ending)>,
    pub prompt: Prompt,
}

impl Turn {
    /// Whether it had begun by then. One whose begin nobody saw had.
    fn began_by(&self, at: Time) -> bool {
        self.started_at.is_none_or(|began| began <= at)
    }
}

/// A prompt sent into a running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queued {
    pub at: Time,
    pub prompt: Prompt,
}

/// What is known of a session when a report of it comes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// The turn the report names.
    pub named: Option<Turn>,
    /// Turns that have not ended; of a `session_start`, those of every session in its place.
    pub open: Vec<Turn>,
    /// The last that began at or before the report's time.
    pub last: Option<Turn>,
    /// When the first began that began after it.
    pub next: Option<Time>,
    pub queued: Option<Queued>,
}

/// What a report tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    SessionStart { compaction: bool },
    TurnStart,
    TurnEnd(Ending),
    Blocked,
    SessionEnd,
}

/// A report, on our clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told<'a> {
    pub kind: Kind,
    pub at: Time,
    /// The turn it names.
    pub name: Option<&'a str>,
    pub prompt: Prompt,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// A turn nobody had heard of.
    Begin {
        /// `None`: one for all that the session has without a name.
        name: Option<String>,
        started_at: Option<Time>,
        prompt: Prompt,
        ended: Option<(Time, Ending)>,
    },
    /// The begin of a known turn.
    Start {
        turn: TurnSeq,
        at: Time,
        prompt: Prompt,
    },
    End {
        turn: TurnSeq,
        at: Time,
        ending: Ending,
    },
    Queue(Queued),
    Unqueue,
}

/// What a report comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Decision {
    pub steps: Vec<Step>,
    /// The known turn it is about; with a [`Step::Begin`], that one.
    pub about: Option<TurnSeq>,
}

/// What a report does.
pub(super) fn decide(told: &Told<'_>, facts: &Facts) -> Decision {
    match told.kind {
        Kind::TurnStart => started(told, facts),
        Kind::TurnEnd(ending) => ended(told, ending, facts),
        Kind::SessionEnd => Decision {
            steps: close(facts, Ending::SessionEnd, told.at, |turn| {
                turn.began_by(told.at)
            }),
            about: None,
        },
        Kind::SessionStart { compaction: false } => Decision {
            steps: close(facts, Ending::Lost, told.at, |turn| {
                turn.started_at
                    .is_none_or(|began| began + TOGETHER < told.at)
            }),
            about: None,
        },
        Kind::Blocked => Decision {
            steps: Vec::new(),
            about: facts
                .named
                .as_ref()
                .or(facts.last.as_ref())
                .map(|turn| turn.seq),
        },
        Kind::SessionStart { compaction: true } => Decision::default(),
    }
}

/// Ends the open turns `which` holds for, and forgets what was queued by then.
fn close(facts: &Facts, ending: Ending, at: Time, which: impl Fn(&Turn) -> bool) -> Vec<Step> {
    let mut steps: Vec<Step> = facts
        .open
        .iter()
        .filter(|turn| which(turn))
        .map(|turn| Step::End {
            turn: turn.seq,
            at,
            ending,
        })
        .collect();
    if facts.queued.is_some_and(|queued| queued.at <= at) {
        steps.push(Step::Unqueue);
    }
    steps
}

fn started(told: &Told<'_>, facts: &Facts) -> Decision {
    let Some(turn) = &facts.named else {
        let mut steps = supersede(told.at, None, facts);
        steps.push(Step::Begin {
            name: Some(named(told)),
            started_at: Some(told.at),
            prompt: told.prompt,
            ended: facts.next.map(|next| (next, Ending::Superseded)),
        });
        return Decision { steps, about: None };
    };
    let steps = match (turn.started_at, turn.ended) {
        (None, ended) => {
            let mut steps = supersede(told.at, Some(turn.seq), facts);
            let at = ended.map_or(told.at, |(end, _)| told.at.min(end));
            steps.push(Step::Start {
                turn: turn.seq,
                at,
                prompt: told.prompt,
            });
            if let (None, Some(at)) = (ended, facts.next) {
                steps.push(Step::End {
                    turn: turn.seq,
                    at,
                    ending: Ending::Superseded,
                });
            }
            steps
        }
        (Some(began), None) if told.at > began => {
            // A hook that is registered twice tells the same start twice.
            if told.prompt == turn.prompt && told.at <= began + TOGETHER {
                Vec::new()
            } else {
                vec![Step::Queue(queue(told, facts))]
            }
        }
        (Some(_), _) => Vec::new(),
    };
    Decision {
        steps,
        about: Some(turn.seq),
    }
}

/// Of several prompts in the queue the one of a wake counts: it is the one somebody pays for.
fn queue(told: &Told<'_>, facts: &Facts) -> Queued {
    match facts.queued {
        Some(queued) if queued.prompt.wake.is_some() && told.prompt.wake.is_none() => queued,
        _ => Queued {
            at: told.at,
            prompt: told.prompt,
        },
    }
}

/// A turn that begins at `at` ends all others of its session that had begun by then.
fn supersede(at: Time, but: Option<TurnSeq>, facts: &Facts) -> Vec<Step> {
    close(facts, Ending::Superseded, at, |turn| {
        Some(turn.seq) != but && turn.began_by(at)
    })
}

fn ended(told: &Told<'_>, ending: Ending, facts: &Facts) -> Decision {
    let known = facts.named.as_ref().or(match told.name {
        Some(_) => None,
        None => facts.last.as_ref().or(facts.open.first()),
    });
    let queued = facts.queued.filter(|queued| queued.at <= told.at);
    if let Some(turn) = known {
        let goes_on = told.name.is_none() && queued.is_some();
        match turn.ended {
            Some((end, _)) if told.at > end && goes_on => {}
            Some((end, _)) if told.at >= end => {
                return Decision {
                    steps: Vec::new(),
                    about: Some(turn.seq),
                };
            }
            // The first of its ends is the end.
            _ => {
                let at = told.at.max(turn.started_at.unwrap_or(told.at));
                return Decision {
                    steps: vec![Step::End {
                        turn: turn.seq,
                        at,
                        ending,
                    }],
                    about: Some(turn.seq),
                };
            }
        }
    }
    // Nobody saw it begin. Where a prompt was queued it began with the end of the turn before.
    let before = facts.last.as_ref().and_then(|last| last.ended);
    let began = queued.map(|queued| before.map_or(queued.at, |(end, _)| end.max(queued.at)));
    let mut steps = supersede(began.unwrap_or(told.at), None, facts);
    if queued.is_some() && !steps.contains(&Step::Unqueue) {
        steps.push(Step::Unqueue);
    }
    steps.push(Step::Begin {
        name: match queued {
            Some(_) => Some(named(told)),
            None => told.name.map(str::to_owned),
        },
        started_at: began,
        prompt: queued.map_or(told.prompt, |queued| queued.prompt),
        ended: Some((told.at, ending)),
    });
    Decision { steps, about: None }
}

/// The name of a turn; of one without, its time: the same report names it the same again.
fn named(told: &Told<'_>) -> String {
    told.name
        .map_or_else(|| format!("@{}", told.at), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAKE: Prompt = Prompt {
        cause: Cause::Wake,
        wake: Some(WakeSeq(7)),
    };

    fn turn(seq: i64, began: i64, ended: Option<(i64, Ending)>) -> Turn {
        Turn {
            seq: TurnSeq(seq),
            name: format!("t{seq}"),
            started_at: Some(Time(began)),
            ended: ended.map(|(at, ending)| (Time(at), ending)),
            prompt: Prompt::HUMAN,
        }
    }

    fn told(kind: Kind, at: i64, name: Option<&str>) -> Told<'_> {
        Told {
            kind,
            at: Time(at),
            name,
            prompt: Prompt::HUMAN,
        }
    }

    fn end(seq: i64, at: i64, ending: Ending) -> Step {
        Step::End {
            turn: TurnSeq(seq),
            at: Time(at),
            ending,
        }
    }

    fn begin(name: &str, at: Option<i64>, prompt: Prompt, ended: Option<(i64, Ending)>) -> Step {
        Step::Begin {
            name: Some(name.into()),
            started_at: at.map(Time),
            prompt,
            ended: ended.map(|(at, ending)| (Time(at), ending)),
        }
    }

    #[test]
    fn usage_030_the_next_start_ends_a_turn_that_nobody_ended() {
        let open = turn(1, 10, None);
        let facts = Facts {
            open: vec![open.clone()],
            last: Some(open),
            ..Facts::default()
        };
        let steps = decide(&told(Kind::TurnStart, 50, Some("t2")), &facts).steps;
        assert_eq!(
            steps,
            vec![
                end(1, 50, Ending::Superseded),
                begin("t2", Some(50), Prompt::HUMAN, None)
            ]
        );
    }

    #[test]
    fn a_start_that_comes_late_ends_with_the_next_and_supersedes_nothing_that_began_after_it() {
        let later = turn(2, 90, None);
        let facts = Facts {
            open: vec![later],
            next: Some(Time(90)),
            ..Facts::default()
        };
        let steps = decide(&told(Kind::TurnStart, 50, Some("t1")), &facts).steps;
        let ended = Some((90, Ending::Superseded));
        assert_eq!(steps, vec![begin("t1", Some(50), Prompt::HUMAN, ended)]);
        // Its own end, which lies before, is told later still and is the end.
        let facts = Facts {
            named: Some(turn(1, 50, ended)),
            ..Facts::default()
        };
        let stop = Kind::TurnEnd(Ending::Stop);
        let steps = decide(&told(stop, 80, Some("t1")), &facts).steps;
        assert_eq!(steps, vec![end(1, 80, Ending::Stop)]);
    }

    #[test]
    fn usage_052_a_prompt_into_an_open_turn_waits_and_becomes_the_turn_after_it() {
        let open = turn(1, 10, None);
        let mut facts = Facts {
            named: Some(open.clone()),
            open: vec![open.clone()],
            last: Some(open),
            ..Facts::default()
        };
        let mut line = told(Kind::TurnStart, 5_000, Some("t1"));
        line.prompt = WAKE;
        let queued = Queued {
            at: Time(5_000),
            prompt: WAKE,
        };
        let decision = decide(&line, &facts);
        assert_eq!(decision.steps, vec![Step::Queue(queued)]);
        assert_eq!(decision.about, Some(TurnSeq(1)));

        let done = turn(1, 10, Some((9_000, Ending::Stop)));
        facts = Facts {
            named: None,
            open: Vec::new(),
            last: Some(done),
            next: None,
            queued: Some(queued),
        };
        let stop = Kind::TurnEnd(Ending::Stop);
        for (name, given) in [(Some("t2"), "t2"), (None, "@1970-01-01T00:00:12.000Z")] {
            let steps = decide(&told(stop, 12_000, name), &facts).steps;
            let ended = Some((12_000, Ending::Stop));
            assert_eq!(
                steps,
                vec![Step::Unqueue, begin(given, Some(9_000), WAKE, ended)]
            );
        }
        // The first stop told again is no second one.
        assert_eq!(
            decide(&told(stop, 9_000, None), &facts).steps,
            Vec::<Step>::new()
        );
    }

    #[test]
    fn a_start_told_twice_by_two_hooks_is_one() {
        let facts = Facts {
            named: Some(turn(1, 1_000, None)),
            ..Facts::default()
        };
        for at in [1_000, 1_030, 3_000] {
            let steps = decide(&told(Kind::TurnStart, at, Some("t1")), &facts).steps;
            assert_eq!(steps, Vec::<Step>::new(), "{at}");
        }
        let later = decide(&told(Kind::TurnStart, 3_001, Some("t1")), &facts);
        assert_eq!(later.steps.len(), 1);
    }

    #[test]
    fn usage_032_a_second_end_changes_nothing_and_an_earlier_one_counts() {
        let facts = Facts {
            named: Some(turn(1, 10, Some((50, Ending::Stop)))),
            ..Facts::default()
        };
        let stop = Kind::TurnEnd(Ending::Stop);
        for (at, steps) in [
            (50, vec![]),
            (51, vec![]),
            (40, vec![end(1, 40, Ending::Stop)]),
            (5, vec![end(1, 10, Ending::Stop)]),
        ] {
            assert_eq!(decide(&told(stop, at, Some("t1")), &facts).steps, steps);
        }
    }

    #[test]
    fn usage_051_a_session_start_beside_its_first_prompt_ends_nothing() {
        let start = Kind::SessionStart { compaction: false };
        let facts = Facts {
            open: vec![turn(1, 1_000, None)],
            ..Facts::default()
        };
        for (at, steps) in [
            (900, vec![]),
            (1_000, vec![]),
            (3_000, vec![]),
            (3_001, vec![end(1, 3_001, Ending::Lost)]),
        ] {
            assert_eq!(decide(&told(start, at, None), &facts).steps, steps, "{at}");
        }
        let compacted = Kind::SessionStart { compaction: true };
        assert_eq!(
            decide(&told(compacted, 9_000, None), &facts),
            Decision::default()
        );
    }

    #[test]
    fn a_session_ends_what_began_before_it_ended() {
        let facts = Facts {
            open: vec![turn(1, 1_000, None), turn(2, 9_000, None)],
            ..Facts::default()
        };
        let steps = decide(&told(Kind::SessionEnd, 5_000, None), &facts).steps;
        assert_eq!(steps, vec![end(1, 5_000, Ending::SessionEnd)]);
    }

    #[test]
    fn an_end_without_a_begin_makes_a_turn_without_one() {
        let stop = Kind::TurnEnd(Ending::Stop);
        let steps = decide(&told(stop, 50, Some("t9")), &Facts::default()).steps;
        let ended = Some((50, Ending::Stop));
        assert_eq!(steps, vec![begin("t9", None, Prompt::HUMAN, ended)]);
        // The rows came first: their turn is that one.
        let facts = Facts {
            named: Some(Turn {
                started_at: None,
                ..turn(9, 0, None)
            }),
            ..Facts::default()
        };
        assert_eq!(
            decide(&told(stop, 50, Some("t9")), &facts).steps,
            vec![end(9, 50, Ending::Stop)]
        );
        // And so is its begin, if that comes last.
        let steps = decide(&told(Kind::TurnStart, 20, Some("t9")), &facts).steps;
        let start = Step::Start {
            turn: TurnSeq(9),
            at: Time(20),
            prompt: Prompt::HUMAN,
        };
        assert_eq!(steps, vec![start]);
    }
}
