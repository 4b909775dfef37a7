//! A served part: its pane as last seen, its turn and mail as last told, its delivery, its journal, and the locks held for it.

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use super::client::Class;
use super::deliver::Delivery;
use super::deliver::Look;
use super::facts::Absent;
use super::facts::Facts;
use super::facts::Identity;
use super::facts::PaneFacts;
use super::facts::Turn;
use super::facts::TurnState;
use super::journal::Journal;
use super::lock::Lock;
use super::look::Glance;
use super::read;
use super::read::Kind;
use super::read::Sample;
use super::read::Verdict;
use super::report::Outbox;
use super::rules::Rules;
use super::status::Entry;
use super::target::PartKey;
use crate::api::MAX_TEXT;
use crate::api::PaneLook;
use crate::api::PollPart;
use crate::api::TurnView;
use crate::api::WakeOffer;
use crate::store::Time;

/// After a journal that could not be read nothing is typed for this long (pager.md 2).
const UNREADABLE: Duration = Duration::from_secs(90);
/// How long a refusal of tmux because of a read-only client counts.
const READ_ONLY: Duration = Duration::from_secs(60);

/// One part and its pane.
#[derive(Debug)]
pub struct Part {
    /// Code and name.
    pub key: PartKey,
    /// The pane that was joined, or pinned at the first match.
    pub expected: Option<Identity>,
    /// Id of the pane as last listed: only such a one is captured.
    pub listed: Option<String>,
    /// The pane as last judged: what a guard compares.
    pub seen: Option<PaneFacts>,
    /// Sessions that show it.
    pub sessions: Vec<String>,
    /// The part's lock; without it the part is not polled for.
    pub lock: Option<Lock>,
    /// When to try for it again.
    pub lock_at: Time,
    /// The pane's lock, between `confirm` and outcome.
    pub hands: Option<Lock>,
    /// Could have typed, had there been a free slot.
    pub waits_for_hands: bool,
    /// The last judgement, and when a screen for it was read.
    pub verdict: Option<(Verdict, Time)>,
    /// As the relay is told.
    pub look: Option<PaneLook>,
    /// Activity second of the window when its screen was last read, if nothing later can have been drawn in that same second.
    pub read_activity: Option<i64>,
    /// When to read the screen next although nothing is held.
    pub peek_at: Option<Time>,
    /// The hook's turn.
    pub turn: Turn,
    /// Unread messages.
    pub unread: u64,
    /// Colour of the status line.
    pub colour: Option<String>,
    /// Why mail waits without a wake.
    pub hold: Option<String>,
    /// The last offer of a wake, and when it came.
    pub offer: Option<(WakeOffer, Time)>,
    /// The wake's delivery.
    pub delivery: Option<Delivery>,
    /// Its journal.
    pub journal: Journal,
    /// Reports on their way.
    pub outbox: Outbox,
    /// A child that sends text or Enter runs.
    pub sending: bool,
    /// Looks begun before this are out of date.
    pub acted_at: Time,
    /// Nothing is typed before this.
    pub not_before: Time,
    /// Not named in polls before this.
    pub poll_at: Time,
    /// How often a moving screen was read once more since the last list.
    pub followed: u8,
    /// What the relay refused this part for.
    pub refused: Option<Class>,
    /// The long hold was told.
    pub warned: bool,
    sample: Option<Sample>,
    read_only_until: Time,
}

impl Part {
    /// A part just found; opens its journal in `folder`. The second value names a journal that was moved aside.
    ///
    /// # Errors
    /// If the journal can be neither read nor moved aside.
    pub fn open(folder: &Path, key: PartKey, now: Time) -> io::Result<(Self, Option<PathBuf>)> {
        let (journal, aside) = Journal::open(folder, &key, now)?;
        let delivery = journal
            .record
            .as_ref()
            .and_then(|record| Delivery::resume(record, now));
        let part = Self {
            key,
            expected: None,
            listed: None,
            seen: None,
            sessions: Vec::new(),
            lock: None,
            lock_at: now,
            hands: None,
            waits_for_hands: false,
            verdict: None,
            look: None,
            read_activity: None,
            peek_at: Some(now),
            turn: Turn::default(),
            unread: 0,
            colour: None,
            hold: None,
            offer: None,
            delivery,
            outbox: Outbox::with(&journal.unsent, now),
            journal,
            sending: false,
            acted_at: Time(0),
            not_before: aside.as_ref().map_or(now, |_| now + UNREADABLE),
            poll_at: now,
            followed: 0,
            refused: None,
            warned: false,
            sample: None,
            read_only_until: Time(0),
        };
        Ok((part, aside))
    }

    /// The delivery, unless it is over.
    #[must_use]
    pub fn open_delivery(&self) -> Option<&Delivery> {
        self.delivery
            .as_ref()
            .filter(|delivery| !delivery.is_done())
    }

    /// When the screen is to be read next.
    #[must_use]
    pub fn look_at(&self) -> Option<Time> {
        if self.sending {
            return None;
        }
        let held = self.open_delivery().map(|delivery| delivery.look_at);
        [held, self.peek_at].into_iter().flatten().min()
    }

    /// Whether the next look may say more than the last one did, without anything being drawn.
    #[must_use]
    pub fn is_unsettled(&self) -> bool {
        // By the screen alone, too: what the hook says does not stop a screen from coming to rest.
        let moving = |(verdict, _): &(Verdict, Time)| {
            verdict.detail == "moving" || verdict.screen.1 == "moving"
        };
        self.is_starting() || self.verdict.as_ref().is_some_and(moving)
    }

    /// Whether the agent was starting when last looked at.
    #[must_use]
    pub fn is_starting(&self) -> bool {
        let starting = |(verdict, _): &(Verdict, Time)| {
            verdict.kind == Kind::Starting || verdict.screen.0 == Kind::Starting
        };
        self.verdict.as_ref().is_some_and(starting)
    }

    /// Judges what a look found of this part's pane. Gives whether the relay's picture of it is another one now.
    pub fn judge(
        &mut self,
        rules: &Rules,
        glance: &Glance,
        pane: Result<PaneFacts, Absent>,
        wall: i64,
        now: Time,
    ) -> bool {
        let facts = Facts {
            expected: self.expected.clone(),
            clients: glance.clients(),
            capture: pane
                .as_ref()
                .ok()
                .and_then(|pane| glance.capture(&pane.identity.pane)),
            processes: pane
                .as_ref()
                .ok()
                .and_then(|pane| glance.tree(pane.identity.pane_pid)),
            cli_version: None,
            refused_read_only: now < self.read_only_until,
            pane,
        };
        let verdict = read::verdict(rules, &facts, self.sample.as_ref(), &self.turn, wall);
        self.sample.clone_from(&verdict.sample);
        self.read_activity = match &facts.pane {
            Ok(pane) if facts.capture.is_some() => read_for_good(pane.window_activity, wall),
            _ => None,
        };
        self.seen = facts.pane.ok();
        self.listed = self.seen.as_ref().map(|pane| pane.identity.pane.clone());
        let changed = self.picture(&verdict, now);
        self.verdict = Some((verdict, now));
        changed
    }

    /// Takes the verdict into what the relay is told.
    fn picture(&mut self, verdict: &Verdict, now: Time) -> bool {
        let (id, session) = match (&self.seen, &self.expected) {
            (Some(pane), _) => (pane.identity.pane.clone(), pane.session_id.clone()),
            (None, Some(expected)) => (expected.pane.clone(), String::new()),
            (None, None) => return self.look.take().is_some(),
        };
        let screen = verdict.screen.0.state();
        let old = self.look.as_ref();
        let since = match old {
            Some(old) if old.state == verdict.state() && old.detail == verdict.detail => {
                old.since.clone()
            }
            _ => now.rfc3339(),
        };
        let screen_since = match old {
            Some(old) if old.screen == screen => old.screen_since.clone(),
            _ => now.rfc3339(),
        };
        let look = PaneLook {
            id,
            session,
            agent: verdict.agent.is_some(),
            state: verdict.state().to_owned(),
            detail: verdict.detail.to_owned(),
            since,
            evidence: verdict.evidence.chars().take(MAX_TEXT).collect(),
            screen: screen.to_owned(),
            screen_since,
        };
        let same = old.is_some_and(|old| {
            (&old.id, &old.session, old.agent) == (&look.id, &look.session, look.agent)
                && (&old.state, &old.detail, &old.screen)
                    == (&look.state, &look.detail, &look.screen)
        });
        self.look = Some(look);
        !same
    }

    /// The last judgement as a delivery's look; `at` is when the screen was read.
    #[must_use]
    pub fn as_look(&self, at: Time, glance: &Glance) -> Option<Look> {
        let (verdict, _) = self.verdict.clone()?;
        let person = self.seen.as_ref().and_then(|pane| {
            glance
                .clients()
                .iter()
                .filter(|client| !client.read_only && client.pane == pane.identity.pane)
                // tmux tells whole seconds: the end of that second counts.
                .map(|client| Time(client.activity.saturating_add(1).saturating_mul(1_000)))
                .max()
        });
        let other = matches!(
            (verdict.kind, verdict.detail),
            (Kind::WrongPane, "gone" | "restarted" | "respawned")
        );
        let moved = match (&self.journal.identity, &self.seen) {
            (Some(typed), Some(seen)) => *typed != seen.identity,
            _ => false,
        };
        let open = self
            .open_delivery()
            .is_some_and(|delivery| delivery.is_between() || delivery.is_restarted());
        Some(Look {
            at,
            person,
            turn: self.turn.clone(),
            lost: other || (open && moved),
            claimed: self.hands.is_some(),
            verdict,
        })
    }

    /// Notes that tmux refused to send.
    pub fn refused_read_only(&mut self, now: Time) {
        self.read_only_until = now + READ_ONLY;
    }

    /// Takes over the hook's turn.
    pub fn take_turn(&mut self, view: &TurnView) {
        self.turn = turn(view);
    }

    /// How the part stands in a poll.
    #[must_use]
    pub fn poll_part(&self) -> PollPart {
        let agent = self
            .verdict
            .as_ref()
            .and_then(|(verdict, _)| verdict.agent.as_ref());
        PollPart {
            code: self.key.code.clone(),
            part: self.key.part.clone(),
            cli: agent.map(|agent| agent.cli.clone()),
            cli_version: agent.and_then(|agent| agent.version.clone()),
            pane: self.look.clone(),
        }
    }

    /// How it stands in the status line; `relay` is what is wrong with the relay as a whole.
    #[must_use]
    pub fn entry(&self, relay: Option<Class>) -> Entry<'_> {
        let word = match (self.refused.or(relay), &self.verdict) {
            (Some(Class::Auth), _) => Some("!token"),
            (Some(_), _) => Some("relay?"),
            (None, Some((verdict, _))) if verdict.kind == Kind::Draft => Some("draft"),
            (None, Some((verdict, _))) if verdict.kind == Kind::Dialog => Some("dialog"),
            (None, Some((verdict, _))) if verdict.kind == Kind::NoAgent => Some("no-agent"),
            _ if self.hold.as_deref() == Some("budget") => Some("budget"),
            _ => None,
        };
        Entry {
            part: &self.key.part,
            unread: self.unread,
            colour: self.colour.as_deref(),
            word,
        }
    }
}

/// The relay's words for a turn.
#[must_use]
pub fn turn(view: &TurnView) -> Turn {
    Turn {
        state: turn_state(&view.state),
        since: view
            .since
            .as_deref()
            .and_then(Time::parse)
            .map(|since| since.0),
        tag: view.tag.clone(),
    }
}

/// The relay's word for a turn's state.
#[must_use]
pub fn turn_state(word: &str) -> TurnState {
    match word {
        "busy" => TurnState::Busy,
        "blocked" => TurnState::Blocked,
        "idle" => TurnState::Idle,
        _ => TurnState::None,
    }
}

/// The activity second a reading of the screen at `wall` (milliseconds) stands for. tmux counts in whole seconds: what is drawn later
/// in the second of the reading leaves no other trace, so a reading within it, or right after it, is to be repeated.
fn read_for_good(activity: i64, wall: i64) -> Option<i64> {
    (wall / 1_000 > activity + 1).then_some(activity)
}

#[cfg(test)]
mod tests {
    use super::read_for_good;

    #[test]
    fn a_screen_read_within_its_last_second_of_activity_is_read_again() {
        assert_eq!(read_for_good(100, 100_400), None);
        assert_eq!(read_for_good(100, 101_400), None);
        assert_eq!(read_for_good(100, 102_000), Some(100));
    }
}
