//! A delivery's state, and what it can be asked without changing it.

use std::time::Duration;

use super::Action;
use super::Look;
use super::MOST;
use super::TELL_AGAIN_MS;
use super::Written;
use crate::api::MAX_TEXT;
use crate::api::Stage;
use crate::api::WakeOffer;
use crate::pager::journal::Record;
use crate::pager::line;
use crate::pager::read::Kind;
use crate::pager::read::Squeezed;
use crate::pager::read::Standing;
use crate::store::Time;

/// One wake's nudge on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// UUID of the wake.
    pub wake: String,
    /// Which nudge of it, from 1.
    pub nudge: u32,
    /// Tag of the wake.
    pub tag: String,
    /// The line to be typed.
    pub line: String,
    /// How far it has come.
    pub phase: Phase,
    /// Texts sent in this nudge.
    pub texts: u32,
    /// Enters pressed in this nudge.
    pub enters: u32,
    /// Nothing new is typed past this, until an answer renews the lease.
    pub lease_until: Time,
    /// Nothing is typed before this (a journal could not be read).
    pub not_before: Time,
    /// When the wake was first offered: the longest-held one types first.
    pub since: Time,
    /// When the pane is to be looked at next.
    pub look_at: Time,
    /// Since when something holds the line up.
    pub held_since: Option<Time>,
    /// What stands, or stood, in the composer for this nudge: its tag and its text without whitespace.
    pub(super) standing: (String, String),
    /// What was known just before the text.
    pub(super) before: Before,
    pub(super) failures: u32,
    pub(super) told: Option<Told>,
    pub(super) last: Option<Look>,
}

/// What evidence is measured against.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Before {
    /// How often the line stood above the composer.
    pub(super) echoes: usize,
    /// Start of the turn the hook had reported.
    pub(super) turn: Option<i64>,
    /// The picture.
    pub(super) picture: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    reason: &'static str,
    detail: &'static str,
    at: Time,
}

/// States of pager.md 3. *Queued* has none: a wake that is not here is the relay's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Found in the journal at start; waits until a composer was read twice.
    Restarted {
        /// Where the journal stopped.
        stage: Written,
        /// Composers read so far.
        reads: u8,
    },
    /// *Leased* and *looking*.
    Looking,
    /// Asked whether the line may be typed now.
    Confirming {
        /// Our line stands there already: no text is needed.
        adopt: bool,
    },
    /// Confirmed, but the look was too old: the next one decides.
    Agreed {
        /// As above.
        adopt: bool,
        /// How long the confirmation counts.
        until: Time,
    },
    /// The text's child runs.
    Typing,
    /// The text's child failed: whether the text arrived is seen by looking.
    Unsure {
        /// Since when.
        since: Time,
    },
    /// The line stands in the composer, or should.
    Typed(Typed),
    /// An Enter's child runs; what to go back to if it was held.
    Pressing(Typed),
    /// Enter was pressed.
    Entered {
        /// When, last.
        at: Time,
        /// Looks since.
        step: usize,
    },
    /// Over for this nudge.
    Done(End),
}

/// Between text and Enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// When the text was sent, or the line adopted.
    pub(super) at: Time,
    /// Whether the relay took note of it.
    pub(super) answered: bool,
    /// Something holds the Enter up: slot and lock are free for others.
    pub(super) waiting: bool,
    /// Since when the line is not in the composer.
    pub(super) gone_since: Option<Time>,
    /// Something else stood in the composer since.
    pub(super) other: bool,
    /// A person typed since.
    pub(super) person: bool,
    /// Something was drawn since.
    pub(super) drew: bool,
    /// Looks since.
    pub(super) step: usize,
}

/// How a nudge ended for the pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The line left the composer.
    Submitted,
    /// Nobody knows what became of it.
    Unconfirmed,
    /// Nothing was left to be woken for.
    Cleared,
    /// The relay no longer wants this nudge.
    Stale,
    /// Another pager holds the wake, or it is no longer offered.
    Withdrawn,
    /// The pager stops.
    Released,
}

impl Delivery {
    /// D1: a wake just offered.
    #[must_use]
    pub fn new(offer: &WakeOffer, not_before: Time, now: Time) -> Self {
        Self {
            wake: offer.wake_id.clone(),
            nudge: offer.nudge,
            tag: offer.tag.clone(),
            line: offer.line.clone(),
            phase: Phase::Looking,
            texts: 0,
            enters: 0,
            lease_until: now + Duration::from_millis(offer.lease_ms),
            not_before,
            since: now,
            look_at: now,
            held_since: None,
            standing: (
                offer.tag.clone(),
                Squeezed::of(&offer.line).as_str().to_owned(),
            ),
            before: Before::default(),
            failures: 0,
            told: None,
            last: None,
        }
    }

    /// Whether this is the delivery of that wake and nudge.
    #[must_use]
    pub fn is(&self, offer: &WakeOffer) -> bool {
        self.wake == offer.wake_id && self.nudge == offer.nudge
    }

    /// Whether nothing more happens.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done(_))
    }

    /// Whether a typing slot and the pane's lock are needed: between `confirm` and outcome, except while an Enter waits.
    #[must_use]
    pub fn needs_hands(&self) -> bool {
        match &self.phase {
            Phase::Confirming { .. }
            | Phase::Agreed { .. }
            | Phase::Typing
            | Phase::Unsure { .. }
            | Phase::Pressing(_)
            | Phase::Entered { .. } => true,
            Phase::Typed(typed) => !typed.waiting,
            Phase::Restarted { .. } | Phase::Looking | Phase::Done(_) => false,
        }
    }

    /// Whether what an earlier process left is not settled yet.
    #[must_use]
    pub fn is_restarted(&self) -> bool {
        matches!(self.phase, Phase::Restarted { .. })
    }

    /// What was last told to hold it up.
    #[must_use]
    pub fn held_by(&self) -> Option<(&'static str, &'static str)> {
        self.told.as_ref().map(|told| (told.reason, told.detail))
    }

    /// The phase in a word, for the log.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self.phase {
            Phase::Restarted { .. } => "restarted",
            Phase::Looking => "looking",
            Phase::Confirming { .. } | Phase::Agreed { .. } => "confirming",
            Phase::Typing | Phase::Unsure { .. } => "typing",
            Phase::Typed(_) => "typed",
            Phase::Pressing(_) | Phase::Entered { .. } => "entered",
            Phase::Done(_) => "done",
        }
    }

    /// Whether, with slot and lock, this look would lead to `confirm` or to an Enter.
    #[must_use]
    pub fn wants_hands(&self, look: &Look, now: Time) -> bool {
        match &self.phase {
            Phase::Looking => self.hold(look, now).is_none() && self.texts < MOST,
            Phase::Typed(typed) => typed.answered && self.may_press(look),
            _ => false,
        }
    }

    /// Whether a text may be in the pane that the relay does not yet know the fate of.
    #[must_use]
    pub fn is_between(&self) -> bool {
        matches!(
            self.phase,
            Phase::Typing
                | Phase::Unsure { .. }
                | Phase::Typed(_)
                | Phase::Pressing(_)
                | Phase::Entered { .. }
        )
    }

    /// What the journal has to hold at `stage`.
    #[must_use]
    pub fn record(&self, stage: Written, at: Time) -> Record {
        Record {
            wake: self.wake.clone(),
            nudge: self.nudge,
            tag: self.tag.clone(),
            line: self.line.clone(),
            stage,
            enters: self.enters,
            attempts: self.texts,
            at,
            standing: self.standing.0.clone(),
            echoes: self.before.echoes,
            turn: self.before.turn,
        }
    }

    /// What speaks against typing now, if anything: reason and detail.
    pub(super) fn hold(&self, look: &Look, now: Time) -> Option<(&'static str, &'static str)> {
        if line::check(&self.line, &self.tag).is_err() {
            return Some(("unknown", "bad_line"));
        }
        if !(look.verdict.is_ready() || look.is_own_draft()) {
            let reason = look.verdict.reason().unwrap_or("unknown");
            return Some((reason, look.verdict.detail));
        }
        if now < self.not_before {
            return Some(("unknown", "journal"));
        }
        if now >= self.lease_until {
            return Some(("unknown", "relay"));
        }
        None
    }

    pub(super) fn may_press(&self, look: &Look) -> bool {
        look.is_calm() && self.stands(look) && self.enters < MOST
    }

    /// Whether the composer is exactly this nudge's line.
    pub(super) fn stands(&self, look: &Look) -> bool {
        matches!(&look.verdict.composer, Standing::OwnLine(tag) if *tag == self.standing.0)
    }

    /// A `blocked` report, if the reason is new or was told long ago.
    pub(super) fn tell(
        &mut self,
        (reason, detail): (&'static str, &'static str),
        evidence: &str,
        now: Time,
    ) -> Vec<Action> {
        self.held_since.get_or_insert(now);
        let fresh = self.told.as_ref().is_some_and(|told| {
            told.reason == reason && told.detail == detail && now.since(told.at) < TELL_AGAIN_MS
        });
        if fresh {
            return Vec::new();
        }
        self.told = Some(Told {
            reason,
            detail,
            at: now,
        });
        vec![Action::Report(Stage::Blocked {
            reason: reason.to_owned(),
            detail: detail.to_owned(),
            evidence: evidence.chars().take(MAX_TEXT).collect(),
        })]
    }

    pub(super) fn end(&mut self, end: End) {
        self.phase = Phase::Done(end);
    }

    /// What shows that the line was submitted, if anything does (pager.md 5).
    pub(super) fn evidence(&self, look: &Look) -> Option<String> {
        let began = look.turn.tag.as_deref() == Some(self.standing.0.as_str())
            && look.turn.since != self.before.turn;
        if began {
            return Some("turn began with the tag".to_owned());
        }
        if look.verdict.composer != Standing::Empty {
            return None;
        }
        let echoes = look.verdict.echoes(&self.standing.1);
        if echoes > self.before.echoes {
            return Some(format!(
                "composer empty, line above it {echoes} times, before {}",
                self.before.echoes
            ));
        }
        look.verdict
            .looks_busy()
            .then(|| format!("composer empty, busy: {}", look.verdict.evidence))
    }
}

impl Typed {
    pub(super) fn fresh(at: Time, drew: bool) -> Self {
        Self {
            at,
            answered: false,
            waiting: false,
            gone_since: None,
            other: false,
            person: false,
            drew,
            step: 0,
        }
    }

    /// To go back to when an Enter was not pressed.
    pub(super) fn waiting(self) -> Self {
        Self {
            answered: true,
            waiting: true,
            ..self
        }
    }
}

impl Look {
    /// Draft/own_line, whatever its tag (D5).
    pub(super) fn is_own_draft(&self) -> bool {
        self.verdict.kind == Kind::Draft && self.verdict.composer.is_own_line()
    }
}
