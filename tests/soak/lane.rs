//! One pane of the soak: its agent, what is turned and what stands in the way before each wake, and how far the wake has come.

use std::time::Duration;
use std::time::Instant;

use rand::Rng;
use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;
use relayroom::api;

use crate::Stage;
use crate::support::fake_agent::Agent;
use crate::support::scripted_relay::CODE;
use crate::support::scripted_relay::line;

/// A wake not consumed by then is lost: far longer than its worst way.
const LOST: Duration = Duration::from_secs(120);
/// From an outcome that consumed nothing to the next nudge.
const NEXT_NUDGE: Duration = Duration::from_secs(2);
/// Between two answers of the person to whatever the agent asks.
const PATIENCE: Duration = Duration::from_secs(3);
/// Letters of a tag.
const LETTERS: &[u8] = b"bcdfghjkmnpqrstvwxz";

/// What a person does to a pane, and takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InTheWay {
    Draft,
    Dialog,
    Turn,
    CopyMode,
    InputOff,
    Narrow,
}

/// A wake under way.
struct Wake {
    tag: String,
    nudge: u32,
    offered: Instant,
    /// The outcome of this nudge, and when it was seen.
    ended: Option<Instant>,
    /// Comes into the way then.
    comes: Option<(Instant, InTheWay)>,
    /// Goes out of it then.
    goes: Option<(Instant, InTheWay)>,
    /// A question the agent asks on the way is answered then.
    answered: Instant,
}

/// One part and its pane.
pub struct Lane {
    pub part: String,
    pub agent: Agent,
    /// Tags of all its wakes.
    pub tags: Vec<String>,
    wake: Option<Wake>,
    next_at: Instant,
    random: StdRng,
}

impl Lane {
    /// Starts its agent in a session of its own and joins the pane.
    pub fn new(number: usize, part: &str, stage: &Stage, seed: u64) -> Self {
        let style = ["claude", "codex", "claude", "gemini"][number % 4];
        let hook = if number % 3 == 2 { "--no-hook" } else { "" };
        let break_off = if style == "codex" {
            "--mid-turn break"
        } else {
            ""
        };
        let knobs = format!(
            "--relay {} --code {CODE} --part {part} --seed {} {hook} {break_off}",
            stage.relay.url(),
            seed >> 1
        );
        let agent = Agent::named(style, &stage.tmux, part, &knobs, "");
        stage.tmux.join(&agent.pane, CODE, part);
        Self {
            part: part.to_owned(),
            agent,
            tags: Vec::new(),
            wake: None,
            next_at: Instant::now(),
            random: StdRng::seed_from_u64(seed),
        }
    }

    /// Whether no wake is under way.
    pub fn is_idle(&self) -> bool {
        self.wake.is_none()
    }

    /// Does what is due; gives how many wakes were begun, one at most and only if `more` are wanted.
    pub fn step(&mut self, stage: &Stage, more: bool) -> usize {
        let now = Instant::now();
        let Some(mut wake) = self.wake.take() else {
            if !more || now < self.next_at {
                return 0;
            }
            self.begin(stage, now);
            return 1;
        };
        if let Some((_, what)) = wake.comes.take_if(|(at, _)| now >= *at) {
            self.put(stage, what, true);
            let stays = self.random.random_range(300..4_000);
            wake.goes = Some((now + Duration::from_millis(stays), what));
        }
        if let Some((_, what)) = wake.goes.take_if(|(at, _)| now >= *at) {
            self.put(stage, what, false);
        }
        let consumed = stage
            .relay
            .script()
            .consumed
            .iter()
            .any(|(_, tag)| *tag == wake.tag);
        if consumed && wake.comes.is_none() && wake.goes.is_none() {
            self.agent.knob("dialog close");
            self.next_at = now + Duration::from_millis(self.random.random_range(0..1_500));
            return 0;
        }
        assert!(
            now.duration_since(wake.offered) < LOST,
            "{}: the wake {} was never consumed:\n{}\n{}",
            self.part,
            wake.tag,
            stage.told(&self.part),
            stage.tmux.screen(&self.agent.pane)
        );
        self.nudge(stage, &mut wake, now);
        self.wake = Some(wake);
        0
    }

    /// Nudges again what was told to have ended and was not consumed.
    fn nudge(&mut self, stage: &Stage, wake: &mut Wake, now: Instant) {
        let over = stage.relay.script().reports.iter().any(|heard| {
            let call = &heard.call;
            let ends = matches!(
                call.stage,
                api::Stage::Submitted { .. } | api::Stage::Unconfirmed { .. }
            );
            ends && call.part == self.part
                && call.nudge == wake.nudge
                && call.wake_id.ends_with(&wake.tag)
        });
        if over && wake.ended.is_none() {
            wake.ended = Some(now);
        }
        if now >= wake.answered && wake.goes.is_none() {
            wake.answered = now + PATIENCE;
            self.agent.knob("dialog close");
        }
        if wake.ended.is_some_and(|at| now >= at + NEXT_NUDGE)
            && stage.relay.script().parts[&self.part].open.is_some()
        {
            wake.nudge += 1;
            wake.ended = None;
            stage
                .relay
                .offer(&self.part, &wake.tag, wake.nudge, &line(&wake.tag));
        }
    }

    fn begin(&mut self, stage: &Stage, now: Instant) {
        for knob in turns(&mut self.random) {
            self.agent.knob(&knob);
        }
        let tag: String = (0..6)
            .map(|_| char::from(LETTERS[self.random.random_range(0..LETTERS.len())]))
            .collect();
        self.tags.push(tag.clone());
        let mut wake = Wake {
            tag: tag.clone(),
            nudge: 1,
            offered: now,
            ended: None,
            comes: None,
            goes: None,
            answered: now + PATIENCE,
        };
        let what = match self.random.random_range(0..12) {
            0 | 6 => Some(InTheWay::Draft),
            1 => Some(InTheWay::Dialog),
            2 => Some(InTheWay::Turn),
            3 => Some(InTheWay::CopyMode),
            4 => Some(InTheWay::InputOff),
            5 => Some(InTheWay::Narrow),
            7 => Some(InTheWay::Dialog),
            _ => None,
        };
        // tmux itself keeps keys out of its modes, at any instant; an agent's own screen is a message behind its agent, as a person's is.
        let at_any_time = matches!(
            what,
            Some(InTheWay::CopyMode | InTheWay::InputOff | InTheWay::Narrow)
        );
        if let Some(what) = what {
            if at_any_time && self.random.random() {
                let later = Duration::from_millis(self.random.random_range(0..4_000));
                wake.comes = Some((now + later, what));
            } else {
                self.put(stage, what, true);
                let stays = Duration::from_millis(self.random.random_range(300..7_000));
                wake.goes = Some((now + stays, what));
            }
        }
        stage.relay.offer(&self.part, &tag, 1, &line(&tag));
        self.wake = Some(wake);
    }

    /// Puts something into the way, or takes it away again.
    fn put(&self, stage: &Stage, what: InTheWay, here: bool) {
        let pane = self.agent.pane.as_str();
        let knob = match (what, here) {
            (InTheWay::Draft, true) => "draft merge it only after",
            (InTheWay::Draft, false) => "draft ",
            (InTheWay::Dialog, true) => "dialog open",
            (InTheWay::Dialog, false) => "dialog close",
            (InTheWay::Turn, true) => "turn begin",
            (InTheWay::Turn, false) => "turn end",
            (InTheWay::CopyMode, true) => return drop(stage.tmux.run(&["copy-mode", "-t", pane])),
            (InTheWay::CopyMode, false) => {
                // Output may have ended it: then there is nothing to leave.
                stage
                    .tmux
                    .attempt(&["send-keys", "-t", pane, "-X", "cancel"]);
                return;
            }
            (InTheWay::InputOff, true) => {
                return drop(stage.tmux.run(&["select-pane", "-d", "-t", pane]));
            }
            (InTheWay::InputOff, false) => {
                return drop(stage.tmux.run(&["select-pane", "-e", "-t", pane]));
            }
            (InTheWay::Narrow, here) => {
                let width = if here { "38" } else { "100" };
                return drop(
                    stage
                        .tmux
                        .run(&["resize-window", "-t", &self.part, "-x", width]),
                );
            }
        };
        self.agent.knob(knob);
    }
}

/// How the agent is until the next wake.
fn turns(random: &mut impl Rng) -> Vec<String> {
    let mut pick = |name: &str, values: &[&str]| {
        let value = values[random.random_range(0..values.len())];
        format!("{name} {value}")
    };
    vec![
        pick("paste-window", &["0", "40", "120", "150"]),
        pick("draw-late", &["0", "0", "0", "0", "0", "0", "200", "1200"]),
        pick(
            "ignore-enter",
            &["0", "0", "0", "0", "0", "0", "0", "0", "0", "1", "2", "3"],
        ),
        pick(
            "dialog",
            &[
                "never",
                "never",
                "never",
                "never",
                "after-text",
                "after-enter",
            ],
        ),
        pick("footer", &["1", "1", "3", "8"]),
        pick("footer-clock", &["off", "off", "on"]),
        pick("hints-vanish", &["off", "on"]),
        pick("blank-below", &["0", "0", "5"]),
        pick("busy", &["spinner", "counter", "colour", "title"]),
        pick("turn", &["200", "800", "2000"]),
        pick("redraw", &["off", "off", "off", "on"]),
        pick("escape-clears", &["off", "on"]),
        pick("vi", &["off", "off", "on"]),
    ]
}
