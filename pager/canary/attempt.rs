//! One pane's canary, from the lock to the empty composer.

use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use super::note;
use super::note::Note;
use super::step;
use super::step::Seen;
use super::step::Sight;
use super::step::Step;
use crate::api::HookSeen;
use crate::api::canary::CanaryLine;
use crate::api::canary::CanaryOutcome;
use crate::pager::client::Client;
use crate::pager::facts::PaneFacts;
use crate::pager::facts::Turn;
use crate::pager::lock;
use crate::pager::look;
use crate::pager::look::Glance;
use crate::pager::part;
use crate::pager::read::Kind;
use crate::pager::read::Standing;
use crate::pager::read::Verdict;
use crate::pager::rules::Table;
use crate::pager::rules::Text;
use crate::pager::serve::QUIET_SECONDS;
use crate::pager::setup::Setup;
use crate::pager::target::PartKey;
use crate::pager::tmux::Keys;
use crate::pager::tmux::Outcome;
use crate::pager::tmux::Tmux;
use crate::pager::visit;
use crate::store;
use crate::store::Time;

/// A screen that has not stood still for this long is moving.
const SETTLE: Duration = Duration::from_secs(6);
/// Between the looks at one that settles.
const AGAIN: Duration = Duration::from_millis(800);
/// Between the two looks that must both be Ready.
const APART: Duration = Duration::from_secs(3);
/// The word is seen within this time, or not at all.
const RENDER: Duration = Duration::from_secs(3);
/// A letter is gone within this time, or its key was ignored.
const ERASE: Duration = Duration::from_secs(1);
/// Between a key and the look in its child, and between two looks.
const BEAT: Duration = Duration::from_millis(60);

/// Why it ends early.
struct Stop {
    outcome: CanaryOutcome,
    reason: String,
    text: String,
}

fn refused(reason: impl Into<String>, text: impl Into<String>) -> Stop {
    Stop {
        outcome: CanaryOutcome::Refused,
        reason: reason.into(),
        text: text.into(),
    }
}

fn failed(reason: impl Into<String>, text: impl Into<String>) -> Stop {
    Stop {
        outcome: CanaryOutcome::Failed,
        ..refused(reason, text)
    }
}

/// A run over one pane.
pub struct Attempt<'a> {
    setup: &'a Setup,
    tmux: &'a Tmux,
    client: &'a Client,
    key: &'a PartKey,
    /// The pane as last seen: what a guard compares.
    pane: PaneFacts,
    verdict: Option<Verdict>,
    turn: Turn,
    /// Second of the last key of a client that shows the pane.
    keys: i64,
    note: PathBuf,
    line: &'a mut CanaryLine,
}

impl<'a> Attempt<'a> {
    /// A run over `pane`, which was just listed; what it finds goes into `line`.
    pub fn new(
        setup: &'a Setup,
        tmux: &'a Tmux,
        client: &'a Client,
        key: &'a PartKey,
        pane: PaneFacts,
        line: &'a mut CanaryLine,
    ) -> Self {
        Self {
            note: note::path(&setup.journals(), key),
            setup,
            tmux,
            client,
            key,
            pane,
            verdict: None,
            turn: Turn::default(),
            keys: i64::MIN,
            line,
        }
    }

    /// Goes as far as it may.
    pub async fn run(mut self) {
        match self.go().await {
            Ok(()) => {
                let seconds =
                    |ms: Option<u64>| Duration::from_millis(ms.unwrap_or(0)).as_secs_f64();
                let (render, erase) = (seconds(self.line.render_ms), seconds(self.line.erase_ms));
                self.line.outcome = CanaryOutcome::Passed;
                self.line.text = format!("seen after {render:.1} s, erased in {erase:.1} s");
            }
            Err(stop) => {
                self.line.outcome = stop.outcome;
                self.line.reason = Some(stop.reason);
                self.line.text = stop.text;
            }
        }
    }

    async fn go(&mut self) -> Result<(), Stop> {
        self.ask().await?;
        let path = lock::pane_path(&self.pane.identity);
        let _hands = lock::take(&path, &self.setup.holder)
            .map_err(|error| refused("pane/held", error.to_string()))?;
        self.is_ready(true).await?;
        if let Some((nonce, left)) = self.left_behind() {
            self.line.left = letters(&left);
            let begun = Instant::now();
            self.erase(&nonce, &left, begun).await?;
            note::forget(&self.note);
            self.is_ready(false).await?;
        }
        let home = self.cursor();
        let nonce = step::nonce(rand::random());
        let written = note::write(
            &self.note,
            &Note {
                nonce: nonce.clone(),
                identity: self.pane.identity.clone(),
            },
        );
        written.map_err(|error| refused("unknown/journal", error.to_string()))?;
        self.type_in(&nonce).await?;
        self.erase(&nonce, &nonce, Instant::now()).await?;
        if self.cursor() != home {
            return Err(failed(
                "draft/blank_text",
                "the cursor is not back where it was",
            ));
        }
        note::forget(&self.note);
        Ok(())
    }

    /// The relay's word that no turn runs and no wake is open.
    async fn ask(&mut self) -> Result<(), Stop> {
        let told = visit::ask(
            self.setup,
            self.tmux,
            self.client,
            std::iter::once(self.key),
        )
        .await;
        let Some(answer) = told.and_then(|mut told| told.remove(self.key)) else {
            let text = "it did not say in time whether a wake is open";
            return Err(refused("relay/no_answer", text));
        };
        if let Some(error) = answer.error {
            return Err(refused(
                format!("relay/{error}"),
                "the relay refuses the part",
            ));
        }
        self.turn = part::turn(&answer.turn);
        self.line.hook.clone_from(&answer.turn.state);
        let now = store::system_clock().0.0;
        let seen = answer.hook.as_ref();
        let at = seen.and_then(|seen| Some(Time::parse(&seen.at)?.0));
        let age = at.or(self.turn.since).map(|at| (now - at).max(0) / 1_000);
        self.line.hook_here = seen.and_then(|seen| self.is_here(seen));
        self.line.hook_age = age.and_then(|age| u64::try_from(age).ok());
        if answer.open || answer.wake.is_some() {
            return Err(refused("wake/open", "a wake of the part is open"));
        }
        Ok(())
    }

    /// Whether a hook that reported from there ran in this pane; `None` where it did not say.
    fn is_here(&self, seen: &HookSeen) -> Option<bool> {
        let (socket, pane) = (seen.tmux.as_ref()?, seen.pane.as_ref()?);
        // One socket may be spelt in many ways.
        let same = lock::socket_id(Path::new(socket)) == lock::socket_id(self.tmux.socket());
        Some(same && *pane == self.pane.identity.pane)
    }

    /// Sees the pane Ready on two looks three seconds apart, nobody at it, and the relay of the same mind after them as before; with
    /// `or_left`, a composer with an earlier run's word in it is as good.
    async fn is_ready(&mut self, or_left: bool) -> Result<(), Stop> {
        let fit = |attempt: &Self| {
            let ready = attempt.verdict.as_ref().is_some_and(Verdict::is_ready);
            ready || (or_left && attempt.left_behind().is_some())
        };
        let begun = Instant::now();
        loop {
            self.look().await;
            if fit(self) {
                break;
            }
            let kind = self
                .verdict
                .as_ref()
                .map(|verdict| (verdict.kind, verdict.detail));
            let settling = matches!(kind, Some((Kind::Busy, "moving") | (Kind::Starting, _)));
            if !settling || begun.elapsed() >= SETTLE {
                return Err(self.in_the_way());
            }
            tokio::time::sleep(AGAIN).await;
        }
        if !self.table().is_some_and(|table| table.canary) {
            let text = "the rule table of this CLI does not allow it";
            return Err(refused("unknown/no_canary", text));
        }
        tokio::time::sleep(APART).await;
        self.ask().await?;
        self.look().await;
        if !fit(self) {
            return Err(self.in_the_way());
        }
        if step::is_watched(self.keys, store::system_clock().0.0) {
            return Err(refused(
                "busy/person",
                "a person typed into it within ten seconds",
            ));
        }
        Ok(())
    }

    fn in_the_way(&self) -> Stop {
        let Some(verdict) = &self.verdict else {
            return refused("unknown/no_capture", "");
        };
        let reason = verdict.reason().unwrap_or("unknown");
        refused(
            format!("{reason}/{}", verdict.detail),
            verdict.evidence.clone(),
        )
    }

    /// Types the word and waits until it stands there.
    async fn type_in(&mut self, nonce: &str) -> Result<(), Stop> {
        let keys = match self.table().map(|table| table.text) {
            Some(Text::Keys) => Keys::Letters(nonce),
            _ => Keys::Paste(nonce),
        };
        let begun = Instant::now();
        let step = Step {
            from: "",
            to: nonce,
            cursor: self.cursor(),
            keys: self.keys,
        };
        let before = self.echoes(nonce);
        let sent = self.send(keys).await;
        match sent {
            Outcome::Held => {
                note::forget(&self.note);
                return Err(refused("pane/moved", "it changed as the text was sent"));
            }
            Outcome::ReadOnly => {
                note::forget(&self.note);
                return Err(refused("mode/read_only", "tmux's client is read-only"));
            }
            Outcome::Sent | Outcome::Unknown => self.line.left = letters(nonce),
        }
        let seen = self.wait_for(&step, begun, RENDER).await;
        self.count_submits(nonce, before);
        seen.map_err(|reason| {
            let reason = reason.unwrap_or_else(|| "unknown/not_rendered".to_owned());
            failed(
                reason,
                "the word was not seen as typed, so it was not erased",
            )
        })?;
        self.line.render_ms = Some(millis(begun));
        Ok(())
    }

    /// Takes `left`, a beginning of the word, back letter by letter.
    async fn erase(&mut self, nonce: &str, left: &str, begun: Instant) -> Result<(), Stop> {
        let before = self.echoes(nonce);
        for end in (0..left.len()).rev() {
            let step = Step {
                from: &left[..=end],
                to: &left[..end],
                cursor: self.cursor(),
                keys: self.keys,
            };
            let pressed = Instant::now();
            let sent = self.send(Keys::Erase).await;
            if matches!(sent, Outcome::Held | Outcome::ReadOnly) {
                return Err(failed(
                    "pane/moved",
                    "it changed before a letter was erased",
                ));
            }
            let seen = self.wait_for(&step, pressed, ERASE).await;
            self.count_submits(nonce, before);
            seen.map_err(|reason| {
                let reason = reason.unwrap_or_else(|| "unknown/not_erased".to_owned());
                failed(reason, "a letter was not seen to be erased")
            })?;
            self.line.left = letters(step.to);
        }
        self.line.erase_ms = Some(millis(begun));
        Ok(())
    }

    /// Looks until the step is taken. The error is the surprise, or `None` if its time passed.
    async fn wait_for(
        &mut self,
        step: &Step<'_>,
        begun: Instant,
        limit: Duration,
    ) -> Result<(), Option<String>> {
        loop {
            if let Some(verdict) = &self.verdict {
                let seen = Seen {
                    verdict,
                    cursor: self.cursor(),
                    keys: self.keys,
                };
                match step.sight(&seen) {
                    Sight::Done => return Ok(()),
                    Sight::NotYet => {}
                    Sight::Surprise(reason) => return Err(Some(reason)),
                }
            }
            if begun.elapsed() >= limit {
                return Err(None);
            }
            tokio::time::sleep(BEAT).await;
            self.look().await;
        }
    }

    /// Sends guarded by what was seen last, and looks in the same child.
    async fn send(&mut self, keys: Keys<'_>) -> Outcome {
        let now = store::system_clock().0.0 / 1_000;
        let quiet = now - self.pane.window_activity >= QUIET_SECONDS;
        let (outcome, listing) = self.tmux.send(keys, &self.pane, quiet, BEAT).await;
        match listing {
            Some(listing) => {
                let glance = Glance::of_send(&self.pane.identity.pane, listing);
                self.see(&glance);
            }
            // What was seen before the key says nothing of the time after it.
            None => self.verdict = None,
        }
        outcome
    }

    async fn look(&mut self) {
        let pane = vec![self.pane.identity.pane.clone()];
        let glance = look::take(self.tmux, pane, false).await;
        self.see(&glance);
    }

    fn see(&mut self, glance: &Glance) {
        let before = self
            .verdict
            .as_ref()
            .and_then(|verdict| verdict.sample.as_ref());
        let expected = Ok(&self.pane.identity);
        let (pane, verdict) = visit::judge(self.setup, glance, expected, before, &self.turn);
        let here = self.pane.identity.pane.clone();
        let clients = glance.clients();
        let typing = clients
            .iter()
            .filter(|client| !client.read_only && client.pane == here);
        self.keys = typing
            .map(|client| client.activity)
            .max()
            .unwrap_or(i64::MIN)
            .max(self.keys);
        // Another pane under the same id is not taken over: the guard compares the one that was joined.
        if let Some(pane) = pane.filter(|pane| pane.identity == self.pane.identity) {
            self.pane = pane;
        }
        if let Some(agent) = &verdict.agent {
            self.line.cli = Some(agent.cli.clone());
            self.line.cli_version.clone_from(&agent.version);
        }
        self.verdict = Some(verdict);
        self.line.rules = self.table().map(|table| table.revision);
    }

    fn table(&self) -> Option<&'a Table> {
        let agent = self.verdict.as_ref()?.agent.as_ref()?;
        agent.table(&self.setup.rules)
    }

    /// The word an earlier run wrote down for this pane, and how much of it stands in the composer.
    fn left_behind(&self) -> Option<(String, String)> {
        let verdict = self.verdict.as_ref()?;
        if verdict.composer != Standing::Canary {
            return None;
        }
        let note = note::read(&self.note).filter(|note| note.identity == self.pane.identity)?;
        let home = self.table()?.composer.as_ref()?.home;
        let distance = usize::from(self.pane.cursor_x.checked_sub(home)?);
        let left = step::left_behind(&note.nonce, verdict, distance)?.to_owned();
        Some((note.nonce, left))
    }

    fn cursor(&self) -> (u16, u16) {
        (self.pane.cursor_x, self.pane.cursor_y)
    }

    fn echoes(&self, nonce: &str) -> usize {
        self.verdict
            .as_ref()
            .map_or(0, |verdict| verdict.echoes(nonce))
    }

    fn count_submits(&mut self, nonce: &str, before: usize) {
        let more = self.echoes(nonce).saturating_sub(before);
        self.line.submits = u32::try_from(more).unwrap_or(u32::MAX);
    }
}

fn letters(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}
