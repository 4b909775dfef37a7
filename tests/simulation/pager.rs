//! A model pager: what it holds of each part, and the reports it sends in the order of pager.md 3. It presses Enter only after `typed`
//! was answered `ok` or `already`, and repeats a report with the same event until it is answered.

use relayroom::api::PaneLook;
use relayroom::api::PollPart;
use relayroom::api::PollRequest;
use relayroom::api::ReportRequest;
use relayroom::api::ReportResult;
use relayroom::api::Stage;
use relayroom::api::WakeOffer;
use relayroom::store::new_id;
use relayroom::wake::poll;
use relayroom::wake::poll::Served;
use relayroom::wake::report;

use crate::relay::Checked;
use crate::relay::Relay;

/// What becomes of a report on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Arrives,
    /// The relay never hears of it.
    Lost,
    /// The relay applies it, the answer is lost.
    Unanswered,
}

/// How far a delivery is: what comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Confirm,
    Typed,
    Enter,
    Outcome,
}

/// A wake in a pager's hands.
#[derive(Debug, Clone)]
pub struct Hand {
    pub offer: WakeOffer,
    pub next: Next,
    /// Of the report that comes next.
    event: String,
}

/// One machine's pager, and what it holds of each part.
pub struct Pager {
    name: &'static str,
    hands: Vec<Option<Hand>>,
    /// The last report sent, for a repeat.
    last: Option<(usize, ReportRequest)>,
}

/// What a step of a delivery did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Did {
    Nothing,
    /// The relay answered `ok` to `confirm`: the line may be typed.
    MayType,
    Pressed,
    Reported,
}

impl Pager {
    /// A pager that just started, for so many parts.
    pub fn new(name: &'static str, parts: usize) -> Self {
        Self {
            name,
            hands: vec![None; parts],
            last: None,
        }
    }

    /// It dies, and with it all it knew.
    pub fn die(&mut self) {
        self.hands.fill(None);
        self.last = None;
    }

    /// What it holds of a part.
    pub fn hand(&self, part: usize) -> Option<&Hand> {
        self.hands[part].as_ref()
    }

    /// Polls for some parts and takes what it is handed. Returns the parts it was handed a wake for, new in its hands.
    pub fn poll(&mut self, relay: &Relay, parts: &[usize]) -> Checked<Vec<usize>> {
        let request = self.request(relay, parts);
        let seqs: Vec<_> = parts
            .iter()
            .map(|part| relay.house.parts[*part].seq)
            .collect();
        let answers = relay
            .write(move |tx, now| {
                let served: Vec<_> = seqs
                    .iter()
                    .zip(&request.parts)
                    .map(|(part, asked)| Served { part: *part, asked })
                    .collect();
                poll::claim(tx, &request, &served, now)
            })?
            .ok_or("a poll was refused")?;
        let mut taken = Vec::new();
        for (part, answer) in parts.iter().zip(answers) {
            let hand = &mut self.hands[*part];
            match answer.wake {
                Some(offer) => {
                    let known = hand.as_ref().is_some_and(|hand| {
                        hand.offer.wake_id == offer.wake_id && hand.offer.nudge == offer.nudge
                    });
                    if !known {
                        *hand = Some(Hand {
                            offer,
                            next: Next::Confirm,
                            event: new_id(),
                        });
                        taken.push(*part);
                    }
                }
                // A line in the composer is seen to its end; before that the wake is let go.
                None => {
                    hand.take_if(|hand| matches!(hand.next, Next::Confirm | Next::Typed));
                }
            }
        }
        Ok(taken)
    }

    fn request(&self, relay: &Relay, parts: &[usize]) -> PollRequest {
        PollRequest {
            pager: self.name.into(),
            machine: format!("{}-machine", self.name),
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
                    part: relay.house.parts[*part].name.into(),
                    cli: Some("claude".into()),
                    cli_version: None,
                    pane: Some(look()),
                })
                .collect(),
        }
    }

    /// Goes on with the delivery for a part, by one transaction at most. An `unsure` pager does not see what became of its line.
    pub fn step(&mut self, relay: &Relay, part: usize, fate: Fate, unsure: bool) -> Checked<Did> {
        let Some(hand) = self.hands[part].clone() else {
            return Ok(Did::Nothing);
        };
        let stage = match hand.next {
            Next::Confirm => Stage::Confirm,
            Next::Typed => Stage::Typed {
                tag: hand.offer.tag.clone(),
            },
            Next::Enter => {
                self.go_on(part, Next::Outcome);
                return Ok(Did::Pressed);
            }
            Next::Outcome if unsure => Stage::Unconfirmed {
                why: "vanished".into(),
            },
            Next::Outcome => Stage::Submitted {
                evidence: "row above".into(),
                enters: 1,
                tag: hand.offer.tag.clone(),
            },
        };
        let Some(result) = self.report(relay, part, &hand, stage, fate)? else {
            return Ok(Did::Nothing);
        };
        Ok(match (hand.next, result) {
            (Next::Confirm, ReportResult::Ok) => {
                self.go_on(part, Next::Typed);
                Did::MayType
            }
            (Next::Typed, ReportResult::Ok | ReportResult::Already) => {
                self.go_on(part, Next::Enter);
                Did::Reported
            }
            _ => {
                self.hands[part] = None;
                Did::Reported
            }
        })
    }

    fn go_on(&mut self, part: usize, next: Next) {
        if let Some(hand) = &mut self.hands[part] {
            hand.next = next;
            hand.event = new_id();
        }
    }

    /// Says that something in the pane holds the wake up, or gives it back.
    pub fn gives_way(&mut self, relay: &Relay, part: usize, released: bool) -> Checked {
        let Some(hand) = self.hands[part].clone() else {
            return Ok(());
        };
        let stage = match released {
            true => Stage::Released,
            false => Stage::Blocked {
                reason: "dialog".into(),
                detail: "choice".into(),
                evidence: "row 3".into(),
            },
        };
        let other = Hand {
            event: new_id(),
            ..hand
        };
        self.report(relay, part, &other, stage, Fate::Arrives)?;
        if released {
            self.hands[part] = None;
        }
        Ok(())
    }

    /// Sends its last report once more.
    pub fn repeat(&self, relay: &Relay) -> Checked<Option<usize>> {
        let Some((part, request)) = self.last.clone() else {
            return Ok(None);
        };
        self.send(relay, part, request)?;
        Ok(Some(part))
    }

    fn report(
        &mut self,
        relay: &Relay,
        part: usize,
        hand: &Hand,
        stage: Stage,
        fate: Fate,
    ) -> Checked<Option<ReportResult>> {
        if fate == Fate::Lost {
            return Ok(None);
        }
        let request = ReportRequest {
            pager: self.name.into(),
            code: "code".into(),
            part: relay.house.parts[part].name.into(),
            wake_id: hand.offer.wake_id.clone(),
            nudge: hand.offer.nudge,
            event: hand.event.clone(),
            at: relay.now().rfc3339(),
            stage,
        };
        self.last = Some((part, request.clone()));
        let result = self.send(relay, part, request)?;
        Ok((fate == Fate::Arrives).then_some(result))
    }

    fn send(&self, relay: &Relay, part: usize, request: ReportRequest) -> Checked<ReportResult> {
        let seq = relay.house.parts[part].seq;
        let holder = poll::holder(self.name, relay.house.parts[part].name);
        relay
            .write(move |tx, now| report::apply(tx, &request, seq, &holder, now))?
            .ok_or_else(|| "a report was refused".to_owned())
    }
}

fn look() -> PaneLook {
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
