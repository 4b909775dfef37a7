//! The long poll: one call for all parts, beside everything else (pager.md 2). Its answers are the whole truth about wakes; a lost one costs
//! nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use tokio::task::AbortHandle;

use super::Happened;
use super::Pager;
use crate::api::MAX_PARTS;
use crate::api::MAX_WAIT_MS;
use crate::api::PollAnswer;
use crate::api::PollPartAnswer;
use crate::api::PollRequest;
use crate::pager::client::Class;
use crate::pager::client::Failure;
use crate::pager::client::Token;
use crate::pager::deliver::Event;
use crate::pager::facts::TurnState;
use crate::pager::lock;
use crate::pager::lock::NotLocked;
use crate::pager::log::Level;
use crate::pager::log::cut;
use crate::pager::poll::Backoff;
use crate::pager::poll::ELSEWHERE;
use crate::pager::poll::SLOW;
use crate::pager::setup::Quit;
use crate::pager::setup::exit;
use crate::pager::target::PartKey;
use crate::store::Time;

/// Polls that tell a changed pane begin at most once in this time.
const CHANGED: Duration = Duration::from_secs(1);
/// No two polls begin closer than this, whatever the relay answers.
const LEAST: Duration = Duration::from_millis(100);
/// Distance of the looks at a token file that was refused.
const TOKEN: Duration = Duration::from_secs(1);
/// Distance of the tries for a lock held elsewhere.
const LOCK: Duration = Duration::from_secs(30);

/// Length, inode and time of a file.
type Stamp = (u64, u64, i64, i64);

/// The poll under way and the one after it.
#[derive(Default)]
pub(super) struct Polling {
    generation: u64,
    under_way: Option<AbortHandle>,
    started: Time,
    /// When the next poll begins, unless one is under way.
    pub(super) next_at: Time,
    seen: String,
    backoff: Backoff,
    token: Option<Stamp>,
    /// Something the relay has to know changed since the poll began.
    pub(super) changed: bool,
}

impl Polling {
    /// Ends the poll under way; what it brings is not taken any more.
    pub(super) fn abort(&mut self) {
        self.generation += 1;
        if let Some(task) = self.under_way.take() {
            task.abort();
        }
    }
}

impl Pager {
    fn askable(&self, now: Time) -> Vec<PartKey> {
        self.parts
            .values()
            .filter(|part| part.poll_at <= now && (self.instance.is_none() || part.lock.is_some()))
            .map(|part| part.key.clone())
            .take(MAX_PARTS)
            .collect()
    }

    /// Whether a call has anything to ask: parts, or who the relay is, which a token may ask without any part.
    fn may_ask(&self, now: Time) -> bool {
        if self.setup.once && self.answered_at.is_some() {
            return false;
        }
        let greets = self.instance.is_none() && matches!(self.setup.token, Token::File(_));
        greets || !self.askable(now).is_empty()
    }

    pub(super) fn poll_due(&self, now: Time) -> Option<Time> {
        if self.stopping.is_some() {
            return None;
        }
        let changed = self
            .polling
            .changed
            .then_some(self.polling.started + CHANGED);
        let call = match &self.polling.under_way {
            Some(_) => changed,
            None if self.askable(now).is_empty() => None,
            None => Some(self.polling.next_at),
        };
        let token = self.is_token_refused().then_some(now + TOKEN);
        let parts = self.parts.values().filter_map(|part| {
            let locks = part.lock.is_none() && self.instance.is_some();
            let wait = if locks { part.lock_at } else { part.poll_at };
            (wait > now).then_some(wait)
        });
        parts.chain(call).chain(token).min()
    }

    pub(super) fn start_poll(&mut self, now: Time) -> Result<(), Quit> {
        self.lock_parts(now)?;
        self.watch_token(now);
        if self.polling.under_way.is_some() {
            if !self.polling.changed || now < self.polling.started + CHANGED {
                return Ok(());
            }
            self.polling.abort();
        } else if now < self.polling.next_at || now < self.polling.started + LEAST {
            return Ok(());
        }
        if !self.may_ask(now) {
            return Ok(());
        }
        let asked = self.askable(now);
        // The first call only asks who the relay is: locks are per relay, and without them nothing may be claimed.
        let claim = self.instance.is_some();
        let request = PollRequest {
            pager: self.setup.pager.clone(),
            machine: self.setup.machine.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tmux: self.tmux.version.to_string(),
            socket: self.tmux.socket().display().to_string(),
            wait_ms: if claim && !self.setup.once {
                MAX_WAIT_MS
            } else {
                0
            },
            seen: self.polling.seen.clone(),
            claim,
            parts: asked
                .iter()
                .filter_map(|key| Some(self.parts.get(key)?.poll_part()))
                .collect(),
        };
        self.polling.generation += 1;
        self.polling.started = now;
        self.polling.changed = false;
        let (client, generation) = (self.client.clone(), self.polling.generation);
        self.polling.under_way = Some(self.beside(async move {
            Happened::Polled {
                generation,
                result: client.poll(&request).await,
            }
        }));
        Ok(())
    }

    pub(super) fn take_poll(
        &mut self,
        generation: u64,
        result: Result<PollAnswer, Failure>,
        now: Time,
    ) -> Result<(), Quit> {
        if generation != self.polling.generation || self.stopping.is_some() {
            return Ok(());
        }
        self.polling.under_way = None;
        match result {
            Ok(answer) => self.take_answer(answer, now),
            Err(failure) => self.poll_failed(&failure, now),
        }
    }

    fn poll_failed(&mut self, failure: &Failure, now: Time) -> Result<(), Quit> {
        if let Some(line) = self.contact.failed(failure, now) {
            let file = match (&self.setup.token, failure.class) {
                (Token::File(path), Class::Auth) => format!(" (token file {})", path.display()),
                _ => String::new(),
            };
            self.log
                .general(Level::Warn, now, format_args!("{line}{file}"));
        }
        if self.setup.once {
            return Err(Quit {
                code: match failure.class {
                    Class::Auth | Class::Gone => exit::REFUSED,
                    Class::Conflict => exit::HELD,
                    Class::Transient => exit::FAULT,
                },
                text: failure.text.clone(),
            });
        }
        if failure.class != Class::Transient {
            self.polling.token = self.token_stamp();
        }
        if matches!(failure.class, Class::Gone | Class::Conflict) {
            let keys: Vec<PartKey> = self.parts.keys().cloned().collect();
            for key in keys {
                self.feed(&key, Event::Withdrawn, now);
            }
        }
        self.polling.next_at = now + self.polling.backoff.after(failure, rand::random());
        Ok(())
    }

    fn take_answer(&mut self, answer: PollAnswer, now: Time) -> Result<(), Quit> {
        self.polling.backoff.good(now);
        if let Some(line) = self.contact.good(now) {
            self.log.general(Level::Info, now, line);
        }
        let wait = answer
            .retry_ms
            .map_or(Duration::ZERO, Duration::from_millis);
        self.polling.next_at = now + wait;
        if self.instance.as_ref() != Some(&answer.instance) {
            return self.meet(answer.instance, now);
        }
        self.polling.seen = answer.rev;
        self.answered_at.get_or_insert(now);
        for part in answer.parts {
            let key = PartKey {
                code: part.code.clone(),
                part: part.part.clone(),
            };
            match part.error.clone() {
                Some(error) => self.part_refused(&key, &error, part.machine.as_deref(), now)?,
                None => self.part_answered(&key, part, now),
            }
        }
        Ok(())
    }

    /// A relay not met before, or another file under it: locks are taken anew.
    fn meet(&mut self, instance: String, now: Time) -> Result<(), Quit> {
        self.process_lock = None;
        for part in self.parts.values_mut() {
            part.lock = None;
            part.lock_at = now;
        }
        self.instance = Some(instance);
        self.polling.seen.clear();
        self.polling.next_at = now;
        Ok(())
    }

    fn lock_parts(&mut self, now: Time) -> Result<(), Quit> {
        let Some(instance) = self.instance.clone() else {
            return Ok(());
        };
        let folder = self.setup.locks();
        if self.process_lock.is_none()
            && self.setup.fixed.is_none()
            && let Some(socket) = lock::socket_id(self.tmux.socket())
        {
            let path = lock::process_path(&folder, &instance, socket);
            self.process_lock = Some(lock::take(&path, &self.setup.holder).map_err(not_locked)?);
        }
        for part in self.parts.values_mut() {
            if part.lock.is_some() || part.lock_at > now {
                continue;
            }
            match lock::take(
                &lock::part_path(&folder, &instance, &part.key),
                &self.setup.holder,
            ) {
                Ok(lock) => {
                    part.lock = Some(lock);
                    self.polling.changed = true;
                }
                Err(error) if self.setup.fixed.is_some() => return Err(not_locked(error)),
                Err(error) => {
                    part.lock_at = now + LOCK;
                    let text = format!("part lock {error}");
                    if self.told.insert(format!("{} {text}", part.key.part)) {
                        self.log.line(Level::Warn, now, &part.key.part, "-", text);
                    }
                }
            }
        }
        Ok(())
    }

    fn part_refused(
        &mut self,
        key: &PartKey,
        error: &str,
        machine: Option<&str>,
        now: Time,
    ) -> Result<(), Quit> {
        let (class, wait) = match error {
            "not_yours" | "banned" => (Class::Auth, SLOW),
            "held" => {
                let random = Duration::from_secs(5).mul_f64(rand::random());
                (Class::Conflict, ELSEWHERE + random)
            }
            _ => (Class::Gone, SLOW),
        };
        self.feed(key, Event::Withdrawn, now);
        self.polling.token = self.token_stamp();
        let Some(part) = self.parts.get_mut(key) else {
            return Ok(());
        };
        part.offer = None;
        part.poll_at = now + wait;
        let text = match machine {
            Some(machine) => format!("{error} by {machine}"),
            None => format!("{error} (code {})", cut(&key.code)),
        };
        if part.refused.replace(class) != Some(class) {
            self.log
                .line(Level::Warn, now, &key.part, "-", text.clone());
        }
        if self.setup.once {
            let code = if class == Class::Conflict {
                exit::HELD
            } else {
                exit::REFUSED
            };
            return Err(Quit {
                code,
                text: format!("{}: {text}", key.part),
            });
        }
        Ok(())
    }

    fn part_answered(&mut self, key: &PartKey, answer: PollPartAnswer, now: Time) {
        let Some(part) = self.parts.get_mut(key) else {
            return;
        };
        if part.refused.take().is_some() {
            self.log
                .line(Level::Info, now, &key.part, "-", "served again");
        }
        let was = part.turn.state;
        part.take_turn(&answer.turn);
        if part.turn.state == TurnState::Idle && was != TurnState::Idle {
            // Known as still by the time of the next wake: else that one waits for two looks.
            part.peek_at = Some(now);
            part.followed = 0;
        }
        part.unread = answer.unread;
        part.colour = answer.colour;
        part.hold = answer.hold;
        part.offer = answer.wake.map(|offer| (offer, now));
        match part.offer.clone() {
            Some((offer, _)) if part.delivery.as_ref().is_some_and(|d| d.is(&offer)) => {
                self.feed(key, Event::Offered(offer), now);
            }
            Some(_) => {}
            None => self.feed(key, Event::Withdrawn, now),
        }
        self.begin_offered(key, now);
    }

    /// Whether the relay does not take the token: then its file is watched.
    fn is_token_refused(&self) -> bool {
        let refused = self
            .parts
            .values()
            .any(|part| part.refused == Some(Class::Auth));
        refused || self.contact.trouble() == Some(Class::Auth)
    }

    fn token_stamp(&self) -> Option<Stamp> {
        let Token::File(path) = &self.setup.token else {
            return None;
        };
        let meta = fs::metadata(path).ok()?;
        Some((meta.len(), meta.ino(), meta.mtime(), meta.mtime_nsec()))
    }

    fn watch_token(&mut self, now: Time) {
        if !self.is_token_refused() || self.token_stamp() == self.polling.token {
            return;
        }
        self.polling.token = self.token_stamp();
        self.polling.next_at = now;
        for part in self.parts.values_mut() {
            if part.refused == Some(Class::Auth) {
                part.poll_at = now;
                self.polling.changed = true;
            }
        }
    }
}

fn not_locked(error: NotLocked) -> Quit {
    Quit {
        code: match error {
            NotLocked::Held(_) => exit::HELD,
            NotLocked::File { .. } => exit::FAULT,
        },
        text: format!("another pager is at work: {error}"),
    }
}
