//! One event, from finding its part to the last post (usage.md 1).

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use super::answer;
use super::event::Event;
use super::event::Provider;
use super::excerpts;
use super::find;
use super::find::Flags;
use super::find::Found;
use super::find::Joined;
use super::log;
use super::place::Place;
use super::playbook;
use super::post;
use super::post::Answer;
use super::post::Door;
use super::post::Report;
use super::reading;
use super::spool::Spool;
use super::transcripts;
use super::turns;
use crate::api::hook::ActivityKind;
use crate::api::hook::ActivityReport;
use crate::config::Env;
use crate::store;
use crate::store::Time;

/// How long a run may take, from its start: before the watchdog ends it.
const WHOLE: Duration = Duration::from_millis(1_750);

/// The same where the agent is about to work, and where it is about to leave.
const TURN_START: Duration = Duration::from_millis(300);
const SESSION_END: Duration = Duration::from_millis(1_200);

/// How long a run sends what others could not.
const SPOOLED: Duration = Duration::from_millis(300);

/// What one event is reported with.
pub(super) struct Run<'a> {
    pub provider: Provider,
    pub event: &'a Event,
    pub joined: &'a Joined,
    pub env: &'a Env,
    pub place: Place,
    pub spool: Spool,
    pub door: Door,
    pub now: Time,
    pub begun: Instant,
    /// The turn the event belongs to, if one is known.
    pub turn: Option<String>,
}

/// Reports the event. `begun` is when the process did.
pub fn event(provider: Provider, flags: &Flags, event: &Event, env: &Env, begun: Instant) {
    let (now, _) = store::system_clock();
    let joined = match find::find(provider, flags, event.cwd.as_deref(), env) {
        Found::Nowhere => return,
        Found::Refused { config, why } => return refused(&config, &why, env, now),
        Found::Part(joined) => *joined,
    };
    if event.kind != ActivityKind::Blocked && transcripts::is_child(provider, event) {
        return;
    }
    let place = Place::of(env, &joined);
    place.make_for(&joined);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let (Ok(runtime), Ok(door)) = (runtime, Door::new(&joined)) else {
        return;
    };
    let mut run = Run {
        provider,
        event,
        joined: &joined,
        env,
        spool: Spool::of(&place),
        place,
        door,
        now,
        begun,
        turn: event.turn.clone(),
    };
    runtime.block_on(run.go());
    // A name look-up that hangs must not keep the process.
    runtime.shutdown_background();
}

fn refused(config: &Path, why: &str, env: &Env, now: Time) {
    let place = Place::of_config(env, config);
    place.make();
    if let Ok(path) = place.path("hook.log") {
        log::line(
            &path,
            now,
            format_args!("{} not used: {why}", config.display()),
        );
    }
}

impl Run<'_> {
    async fn go(&mut self) {
        let mut report = self.activity();
        report.dropped = self.spool.take_dropped();
        let dropped = report.dropped;
        let limit = post::ANSWER.min(self.left());
        let report = Report::Activity(Box::new(report));
        let (answered, kept) = self.post_within(report, limit).await;
        // A report in the spool still tells them.
        if !answered && !kept {
            self.spool.give_back_dropped(dropped);
        }
        if self.reads() {
            reading::transcripts(self, answered).await;
        }
        if !answered {
            return;
        }
        if self.event.kind == ActivityKind::SessionStart {
            self.refresh_playbook().await;
        }
        for note in self.spool.send(&self.door, SPOOLED.min(self.left())).await {
            self.log(note);
        }
    }

    /// Whether this is a moment to read transcripts. Gemini deletes some on leaving, and ends some turns without a word.
    fn reads(&self) -> bool {
        match self.provider {
            Provider::Claude | Provider::Codex => {
                matches!(
                    self.event.kind,
                    ActivityKind::TurnEnd | ActivityKind::SessionEnd
                )
            }
            Provider::Gemini => self.event.kind != ActivityKind::TurnStart,
        }
    }

    /// What is left of the run's time.
    pub(super) fn left(&self) -> Duration {
        let whole = match self.event.kind {
            ActivityKind::TurnStart => TURN_START,
            ActivityKind::SessionEnd => SESSION_END,
            _ => WHOLE,
        };
        whole.saturating_sub(self.begun.elapsed())
    }

    /// Posts, or keeps for later: whether it was answered for good, else whether it is kept.
    pub(super) async fn post_within(&self, report: Report, limit: Duration) -> (bool, bool) {
        let (now, _) = store::system_clock();
        match self.door.post(&report, now, limit).await {
            Answer::Taken(note) => {
                if let Some(note) = note {
                    self.log(note);
                }
                (true, false)
            }
            Answer::Ended(status) => {
                self.log(format_args!("ended by HTTP {status}"));
                (true, false)
            }
            Answer::Kept(why) => {
                self.log(why);
                (false, self.keep(report))
            }
        }
    }

    /// Puts a report into the spool; false if there is no room.
    pub(super) fn keep(&self, report: Report) -> bool {
        let (now, _) = store::system_clock();
        let kept = self.spool.keep(report, now);
        if !kept {
            self.log("no room in the spool");
        }
        kept
    }

    fn activity(&mut self) -> ActivityReport {
        let event = self.event;
        let (title, summary) = self.note_turn();
        let in_pane = self.provider != Provider::Codex;
        let tmux = self.env.get("TMUX").filter(|_| in_pane);
        let begins = event.kind == ActivityKind::TurnStart;
        // Codex without hooks tells a prompt only at the end of its turn.
        let told =
            begins || event.kind == ActivityKind::TurnEnd && self.provider == Provider::Codex;
        ActivityReport {
            code: self.joined.code.clone(),
            part: self.joined.part.clone(),
            provider: self.provider.word().to_owned(),
            session: event.session.clone(),
            kind: event.kind,
            at: event.at.unwrap_or(self.now).rfc3339(),
            sent_at: None,
            turn: self.turn.clone(),
            tag: event.tag().filter(|_| told).map(str::to_owned),
            origin: event.origin().filter(|_| told),
            reason: event.reason,
            reset_at: event.reset_at.clone(),
            tmux: tmux
                .and_then(|tmux| tmux.split(',').next())
                .map(str::to_owned),
            pane: self
                .env
                .get("TMUX_PANE")
                .filter(|_| in_pane)
                .map(str::to_owned),
            version: None,
            dropped: 0,
            title,
            summary,
        }
    }

    /// Notes where the turn stands, gives it an id if its CLI did not, and returns the excerpts for its end.
    fn note_turn(&mut self) -> (Option<String>, Option<String>) {
        let event = self.event;
        let session = event.session.as_str();
        let code = self.joined.code.as_str();
        let shows = self.joined.excerpts;
        if event.turn.is_some() && !shows {
            return (None, None);
        }
        let prompt = event.prompt.as_deref().unwrap_or_default();
        let title = || {
            let shown = shows && event.tag().is_none();
            shown.then(|| excerpts::title(prompt, code)).flatten()
        };
        match event.kind {
            ActivityKind::TurnStart => {
                let id = event.turn.clone().unwrap_or_else(store::new_id);
                let turn = turns::beginning(id, prompt, self.now, title());
                self.turn = Some(turns::with(&self.place, |turns| turns.start(session, turn)));
                (None, None)
            }
            ActivityKind::TurnEnd => {
                let last = turns::with(&self.place, |turns| {
                    turns.end(session);
                    turns.last(session).cloned()
                });
                let known = last.as_ref().and_then(|turn| turn.title.clone());
                self.turn = event.turn.clone().or(last.map(|turn| turn.id));
                let answer = if shows { self.answer() } else { None };
                (
                    known.filter(|_| shows).or_else(title),
                    answer.and_then(|answer| excerpts::summary(&answer, code)),
                )
            }
            ActivityKind::Blocked | ActivityKind::SessionStart | ActivityKind::SessionEnd => {
                let open = turns::last(&self.place, session).filter(|turn| !turn.ended);
                self.turn = event.turn.clone().or(open.map(|turn| turn.id));
                (None, None)
            }
        }
    }

    /// What the agent said last.
    fn answer(&self) -> Option<String> {
        if self.provider != Provider::Gemini {
            return self.event.answer.clone();
        }
        let transcript = transcripts::main(self.provider, self.event, self.env)?;
        answer::last(&transcript)
    }

    async fn refresh_playbook(&self) {
        let Some(worktree) = self.joined.worktree() else {
            return;
        };
        let Some(present) = playbook::read(worktree) else {
            return;
        };
        let etag = playbook::mark(&present).map(|mark| mark.etag);
        let limit = post::ANSWER.min(self.left());
        let served = self.door.playbook(&self.joined.part, etag, limit).await;
        if let Some(served) = served
            && let Err(error) = playbook::refresh(worktree, &served)
        {
            self.log(format_args!("{}: {error}", playbook::FILE));
        }
    }

    pub(super) fn log(&self, text: impl std::fmt::Display) {
        if let Ok(path) = self.place.path("hook.log") {
            let (now, _) = store::system_clock();
            log::line(&path, now, text);
        }
    }
}
