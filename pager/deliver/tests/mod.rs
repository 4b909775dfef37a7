//! Every state with every event, the paths of pager.md 3, and random strings of events against the promises.

mod after;
mod before;
mod random;

use super::*;
use crate::api::ReportResult;
use crate::pager::facts::Turn;
use crate::pager::read::Kind;
use crate::pager::read::Sample;
use crate::pager::read::Standing;
use crate::pager::read::Verdict;
use crate::pager::tmux::Outcome;

const LINE: &str = "relayroom: you have mail, call the inbox tool (tag kqmwvz)";
const START: Time = Time(1_000_000);

fn offer() -> WakeOffer {
    WakeOffer {
        wake_id: "w".into(),
        tag: "kqmwvz".into(),
        nudge: 1,
        line: LINE.into(),
        lease_ms: 45_000,
    }
}

fn sample(hash: u64) -> Sample {
    Sample {
        hash,
        title: String::new(),
        cursor: (2, 21, true),
        size: (80, 24),
        pane_pid: 42,
        agent_pid: 43,
        activity: 0,
        taken_at: 0,
        since: 0,
        activity_since: 0,
        doubt_at: None,
        still: true,
        composers: 2,
    }
}

fn look(at: Time, kind: Kind, detail: &'static str, composer: Standing) -> Look {
    let text = match &composer {
        Standing::OwnLine(tag) => Squeezed::of(&LINE.replace("kqmwvz", tag)),
        _ => Squeezed::default(),
    };
    Look {
        at,
        verdict: Verdict {
            kind,
            detail,
            evidence: "row 21".into(),
            composer,
            busy_marker: detail == "marker",
            busy_title: false,
            screen: (kind, detail),
            agent: None,
            sample: Some(sample(1)),
            text,
            above: Squeezed::default(),
        },
        person: None,
        turn: Turn::default(),
        lost: false,
        claimed: true,
    }
}

fn ready(at: Time) -> Look {
    look(at, Kind::Ready, "", Standing::Empty)
}

fn line(at: Time) -> Look {
    Look {
        verdict: Verdict {
            sample: Some(sample(2)),
            ..look(at, Kind::Busy, "moving", Standing::OwnLine("kqmwvz".into())).verdict
        },
        ..ready(at)
    }
}

fn own_draft(at: Time, tag: &str) -> Look {
    look(at, Kind::Draft, "own_line", Standing::OwnLine(tag.into()))
}

fn dialog(at: Time) -> Look {
    look(at, Kind::Dialog, "choice", Standing::None)
}

/// A delivery and its clock.
struct Run {
    delivery: Delivery,
    now: Time,
}

impl Run {
    fn new() -> Self {
        Self {
            delivery: Delivery::new(&offer(), Time(0), START),
            now: START,
        }
    }

    fn then(&mut self, after_ms: u64, event: Event) -> Vec<Action> {
        self.now = self.now + Duration::from_millis(after_ms);
        let (delivery, actions) = step(self.delivery.clone(), event, self.now);
        self.delivery = delivery;
        actions
    }

    fn look(&mut self, after_ms: u64, of: fn(Time) -> Look) -> Vec<Action> {
        let look = of(self.now + Duration::from_millis(after_ms));
        self.then(after_ms, Event::Looked(look))
    }

    /// Up to the text being in the pane, its report not answered.
    fn typed() -> Self {
        let mut run = Self::new();
        run.look(0, ready);
        run.then(10, Event::Confirmed(Some(ReportResult::Ok)));
        let at = run.now;
        run.then(300, Event::TextSent(Outcome::Sent, Some(line(at))));
        run
    }

    /// Up to the first Enter.
    fn entered() -> Self {
        let mut run = Self::typed();
        run.then(5, Event::TypedAnswered(ReportResult::Ok));
        run.look(0, line);
        let at = run.now;
        run.then(150, Event::EnterSent(Outcome::Sent, Some(line(at))));
        run
    }
}

fn stages(actions: &[Action]) -> Vec<String> {
    actions
        .iter()
        .map(|action| match action {
            Action::Report(Stage::Blocked { reason, detail, .. }) => {
                format!("blocked {reason}/{detail}")
            }
            Action::Report(Stage::Submitted { enters, tag, .. }) => {
                format!("submitted {enters} {tag}")
            }
            Action::Report(Stage::Unconfirmed { why }) => format!("unconfirmed {why}"),
            Action::Report(Stage::Typed { tag }) => format!("typed {tag}"),
            Action::Report(Stage::Confirm) => "confirm".into(),
            Action::Report(Stage::Released) => "released".into(),
            Action::Journal(stage) => format!("journal {stage:?}").to_lowercase(),
            Action::Paste => "paste".into(),
            Action::Enter => "enter".into(),
        })
        .collect()
}

fn resumed(stage: Written, enters: u32) -> Run {
    let mut run = Run::typed();
    run.delivery.enters = enters;
    let record = run.delivery.record(stage, START);
    run.delivery = Delivery::resume(&record, run.now).unwrap();
    run
}

fn drawn_empty(at: Time) -> Look {
    Look {
        verdict: Verdict {
            sample: Some(sample(7)),
            ..ready(at).verdict
        },
        ..ready(at)
    }
}
