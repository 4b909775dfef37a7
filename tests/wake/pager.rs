//! A pager as the relay sees it: polls, and reports of a pane that lets everything through.

use relayroom::api::PaneLook;
use relayroom::api::PollPart;
use relayroom::api::PollPartAnswer;
use relayroom::api::PollRequest;
use relayroom::api::ReportRequest;
use relayroom::api::ReportResult;
use relayroom::api::Stage;
use relayroom::api::WakeOffer;
use relayroom::store::new_id;
use relayroom::wake::poll;
use relayroom::wake::poll::Served;
use relayroom::wake::report;

use crate::support::world::World;

/// One machine's pager.
pub struct Pager(pub &'static str);

impl Pager {
    /// The one most cases need.
    pub const FIRST: Self = Self("first");

    fn request(&self, parts: &[&str]) -> PollRequest {
        PollRequest {
            pager: self.0.into(),
            machine: format!("{}-machine", self.0),
            version: "0.1.0".into(),
            tmux: "3.4".into(),
            socket: String::new(),
            wait_ms: 0,
            seen: String::new(),
            claim: true,
            parts: parts
                .iter()
                .map(|part| PollPart {
                    code: "code".into(),
                    part: (*part).into(),
                    cli: Some("claude".into()),
                    cli_version: None,
                    pane: Some(Self::look()),
                })
                .collect(),
        }
    }

    /// A pane that lets everything through.
    pub fn look() -> PaneLook {
        PaneLook {
            id: "%1".into(),
            session: "$1".into(),
            agent: true,
            state: "ready".into(),
            detail: String::new(),
            since: String::new(),
            evidence: String::new(),
            screen: String::new(),
            screen_since: String::new(),
        }
    }

    /// A poll for parts of `shop` that claims.
    pub fn poll(&self, world: &World, parts: &[&str]) -> Vec<PollPartAnswer> {
        self.claims(world, parts, self.request(parts))
    }

    /// A poll for one part with that look at its pane.
    pub fn sees(&self, world: &World, part: &str, look: PaneLook) -> PollPartAnswer {
        let mut request = self.request(&[part]);
        request.parts[0].pane = Some(look);
        self.claims(world, &[part], request).remove(0)
    }

    fn claims(&self, world: &World, parts: &[&str], request: PollRequest) -> Vec<PollPartAnswer> {
        let seqs: Vec<_> = parts.iter().map(|part| world.part(part)).collect();
        world
            .write(move |tx, now| {
                let served: Vec<_> = seqs
                    .iter()
                    .zip(&request.parts)
                    .map(|(part, asked)| Served { part: *part, asked })
                    .collect();
                poll::claim(tx, &request, &served, now)
            })
            .unwrap()
    }

    /// A poll that only looks.
    pub fn view(&self, world: &World, part: &str) -> PollPartAnswer {
        let request = self.request(&[part]);
        let served = [Served {
            part: world.part(part),
            asked: &request.parts[0],
        }];
        let now = world.now();
        world
            .read(|connection| poll::view(connection, self.0, &served, now))
            .unwrap()
            .remove(0)
    }

    /// The wake a poll hands out for one part, if any.
    pub fn wake(&self, world: &World, part: &str) -> Option<WakeOffer> {
        self.poll(world, &[part]).remove(0).wake
    }

    /// A report with its own event id.
    pub fn report(
        &self,
        world: &World,
        part: &str,
        wake: &WakeOffer,
        stage: Stage,
    ) -> ReportResult {
        self.report_as(world, part, wake, stage, &new_id())
    }

    /// A report with that event id.
    pub fn report_as(
        &self,
        world: &World,
        part: &str,
        wake: &WakeOffer,
        stage: Stage,
        event: &str,
    ) -> ReportResult {
        let request = ReportRequest {
            pager: self.0.into(),
            code: "code".into(),
            part: part.into(),
            wake_id: wake.wake_id.clone(),
            nudge: wake.nudge,
            event: event.into(),
            at: world.now().rfc3339(),
            stage,
        };
        let (seq, holder) = (world.part(part), poll::holder(self.0, part));
        world
            .write(move |tx, now| report::apply(tx, &request, seq, &holder, now))
            .unwrap()
    }

    /// Confirms and types the line; Enter is not pressed.
    pub fn types(&self, world: &World, part: &str, wake: &WakeOffer) {
        assert_eq!(
            self.report(world, part, wake, Stage::Confirm),
            ReportResult::Ok
        );
        assert_eq!(
            self.report(world, part, wake, typed(wake)),
            ReportResult::Ok
        );
    }

    /// Polls for a part and delivers the line it is handed; false if it is handed none.
    pub fn delivers(&self, world: &World, part: &str) -> bool {
        let Some(wake) = self.wake(world, part) else {
            return false;
        };
        self.types(world, part, &wake);
        assert_eq!(
            self.report(world, part, &wake, submitted(&wake)),
            ReportResult::Ok
        );
        true
    }
}

/// `typed`.
pub fn typed(wake: &WakeOffer) -> Stage {
    Stage::Typed {
        tag: wake.tag.clone(),
    }
}

/// `submitted`.
pub fn submitted(wake: &WakeOffer) -> Stage {
    Stage::Submitted {
        evidence: "row above".into(),
        enters: 1,
        tag: wake.tag.clone(),
    }
}

/// `blocked`.
pub fn blocked(reason: &str) -> Stage {
    Stage::Blocked {
        reason: reason.into(),
        detail: "choice".into(),
        evidence: "row 3".into(),
    }
}
