//! The main loop: one thread that starts looks, polls, reports and sends, and takes what they bring home.
//!
//! Nothing here decides about a pane: `read` judges it and `deliver` says what follows. The loop promises that at most one look runs at a
//! time, that each part has at most one send and one report under way, that at most `HANDS` panes are between `confirm` and outcome, and
//! that nothing new begins once a stop was asked for.

mod acting;
mod looking;
mod polling;
mod reporting;
mod showing;
mod spooling;
mod stopping;

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::future::Future;
use std::time::Duration;

use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio::sync::mpsc;

use self::polling::Polling;
use self::showing::Shown;
use self::spooling::Spooling;
use self::stopping::Stopping;
use super::client::Client;
use super::client::Failure;
use super::lock::Lock;
use super::log::Level;
use super::log::Log;
use super::look::Glance;
use super::part::Part;
use super::poll::Contact;
use super::setup::Quit;
use super::setup::Setup;
use super::setup::exit;
use super::target::PartKey;
use super::tmux::Outcome;
use super::tmux::Tmux;
use super::tmux::listing::Listing;
use crate::api::MAX_PARTS;
use crate::api::PollAnswer;
use crate::api::ReportResult;
use crate::store;
use crate::store::Time;

/// A window without output for this long is quiet: then its activity stands in the guard too. Seconds, as tmux counts.
pub(super) const QUIET_SECONDS: i64 = 2;
/// Panes that may be between `confirm` and outcome at once (pager.md 5).
const HANDS: usize = 2;
/// Distance of the lists while no wake is held.
const LIST: Duration = Duration::from_secs(20);
/// Longest the loop sleeps.
const NAP: Duration = Duration::from_secs(5);
/// `--once` gives a wake this long to be typed or held.
const ONCE_MS: i64 = 20_000;

/// What a task brings home.
enum Happened {
    Looked {
        started: Time,
        glance: Glance,
    },
    Sent {
        key: PartKey,
        pane: String,
        enter: bool,
        outcome: Outcome,
        listing: Option<Listing>,
    },
    Polled {
        generation: u64,
        result: Result<PollAnswer, Failure>,
    },
    Reported {
        key: PartKey,
        result: Result<ReportResult, Failure>,
    },
    Released,
    Shown,
    /// What the sending of spooled reports left to say, by part.
    Resent(Vec<(String, String)>),
}

/// The pager at work.
pub struct Pager {
    setup: Setup,
    tmux: Tmux,
    client: Client,
    log: Log,
    clock: store::Clock,
    parts: BTreeMap<PartKey, Part>,
    home: mpsc::UnboundedSender<Happened>,
    instance: Option<String>,
    process_lock: Option<Lock>,
    polling: Polling,
    contact: Contact,
    report_contact: Contact,
    looking: bool,
    list_at: Time,
    told: HashSet<String>,
    shown: Shown,
    spooling: Spooling,
    stopping: Option<Stopping>,
    answered_at: Option<Time>,
    listed: bool,
}

/// Serves until a stop signal, or with `--once` until each wake was tried.
///
/// # Errors
/// [`Quit`] with its exit code.
pub async fn run(setup: Setup, tmux: Tmux, client: Client, log: Log) -> Result<u8, Quit> {
    let fault = |error: std::io::Error| Quit::fault(error.to_string());
    let mut terminate = signal(SignalKind::terminate()).map_err(fault)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fault)?;
    let (home, mut arriving) = mpsc::unbounded_channel();
    let mut pager = Pager::new(setup, tmux, client, log, home);
    pager.begin()?;
    loop {
        let now = pager.now();
        if let Some(code) = pager.is_over(now) {
            pager.end().await;
            return Ok(code);
        }
        pager.start(now)?;
        let nap = pager.nap(pager.now());
        tokio::select! {
            Some(happened) = arriving.recv() => pager.take(happened)?,
            _ = terminate.recv() => pager.stop(exit::DONE),
            _ = interrupt.recv() => pager.stop(exit::DONE),
            () = tokio::time::sleep(nap) => {}
        }
    }
}

impl Pager {
    fn new(
        setup: Setup,
        tmux: Tmux,
        client: Client,
        log: Log,
        home: mpsc::UnboundedSender<Happened>,
    ) -> Self {
        Self {
            setup,
            tmux,
            client,
            log,
            clock: store::Clock::new(Time(0), Duration::ZERO),
            parts: BTreeMap::new(),
            home,
            instance: None,
            process_lock: None,
            polling: Polling::default(),
            contact: Contact::default(),
            report_contact: Contact::default(),
            looking: false,
            list_at: Time(0),
            told: HashSet::new(),
            shown: Shown::default(),
            spooling: Spooling::default(),
            stopping: None,
            answered_at: None,
            listed: false,
        }
    }

    /// A clock that never goes back: no lease lasts longer than its length.
    fn now(&self) -> Time {
        let (wall, monotonic) = store::system_clock();
        self.clock.read(wall, monotonic)
    }

    /// Milliseconds since the epoch as tmux and the kernel count them.
    fn wall() -> i64 {
        store::system_clock().0.0
    }

    fn begin(&mut self) -> Result<(), Quit> {
        let now = self.now();
        let socket = self.tmux.socket().display().to_string();
        let server = super::client::shown(&self.setup.server);
        self.log.general(
            Level::Info,
            now,
            format_args!(
                "start {} pager {} tmux {} socket {socket} relay {server}",
                env!("CARGO_PKG_VERSION"),
                self.setup.pager,
                self.tmux.version
            ),
        );
        for warning in std::mem::take(&mut self.setup.warnings) {
            self.log.general(Level::Warn, now, warning);
        }
        if self.tmux.version.is_unknown() {
            let text = format!("tmux {} is newer than any known one", self.tmux.version);
            self.log.general(Level::Warn, now, text);
        }
        if let Some((key, _)) = self.setup.fixed.clone() {
            self.open_part(key, now)?;
        }
        Ok(())
    }

    /// Opens a part, unless its journal is beyond reading.
    fn open_part(&mut self, key: PartKey, now: Time) -> Result<(), Quit> {
        let (part, aside) = Part::open(&self.setup.journals(), key.clone(), now)
            .map_err(|error| Quit::fault(format!("journal of {}: {error}", key.part)))?;
        if let Some(aside) = aside {
            let text = format!("journal unreadable, moved to {}", aside.display());
            self.log.line(Level::Warn, now, &key.part, "-", text);
        }
        self.parts.insert(key, part);
        if self.parts.len() > MAX_PARTS {
            let text = format!("more than {MAX_PARTS} parts: only the first are served");
            self.tell_once(Level::Warn, now, text);
        }
        self.polling.changed = true;
        if self.contact.trouble().is_none() {
            self.polling.next_at = now;
        }
        Ok(())
    }

    /// Starts whatever is due.
    fn start(&mut self, now: Time) -> Result<(), Quit> {
        if self.stopping.is_none() {
            self.start_poll(now)?;
            self.start_spooling(now);
        }
        self.start_look(now);
        self.start_reports(now);
        self.show(now);
        Ok(())
    }

    fn take(&mut self, happened: Happened) -> Result<(), Quit> {
        let now = self.now();
        match happened {
            Happened::Looked { started, glance } => self.take_look(started, &glance, now),
            Happened::Sent {
                key,
                pane,
                enter,
                outcome,
                listing,
            } => {
                self.take_sent(&key, &pane, enter, outcome, listing, now);
                Ok(())
            }
            Happened::Polled { generation, result } => self.take_poll(generation, result, now),
            Happened::Reported { key, result } => {
                self.take_report(&key, result, now);
                Ok(())
            }
            Happened::Released => {
                self.released();
                Ok(())
            }
            Happened::Shown => {
                self.shown.writing = false;
                Ok(())
            }
            Happened::Resent(said) => {
                self.take_resent(said, now);
                Ok(())
            }
        }
    }

    /// How long nothing is due.
    fn nap(&self, now: Time) -> Duration {
        let mut due = vec![now + NAP];
        due.extend(self.look_due());
        due.extend(self.poll_due(now));
        due.extend(self.reports_due());
        due.extend(self.show_due());
        due.extend(self.spooling_due());
        due.extend(self.stop_due());
        let first = due.into_iter().min().unwrap_or(now);
        Duration::from_millis(u64::try_from(first.0 - now.0).unwrap_or_default())
    }

    /// The exit code, once there is nothing left to do.
    fn is_over(&mut self, now: Time) -> Option<u8> {
        if let Some(code) = self.stopping.as_ref().map(|stopping| stopping.code) {
            return self.has_stopped(now).then_some(code);
        }
        if !self.setup.once {
            return None;
        }
        if self.parts.is_empty() {
            return self.listed.then_some(exit::DONE);
        }
        let late = now.since(self.answered_at?) >= ONCE_MS;
        let mut open = self.parts.values().filter_map(Part::open_delivery);
        if !late && open.any(|delivery| delivery.held_by().is_none()) {
            return None;
        }
        let held = self
            .parts
            .values()
            .any(|part| part.open_delivery().is_some());
        let told = self.parts.values().all(|part| part.outbox.is_empty());
        if told || late {
            // Leases of held wakes go back on the way out.
            self.stop(if held { exit::BACK } else { exit::DONE });
        }
        None
    }

    /// Runs `task` beside the loop and hands what it brings to [`Self::take`].
    fn beside(
        &self,
        task: impl Future<Output = Happened> + Send + 'static,
    ) -> tokio::task::AbortHandle {
        let home = self.home.clone();
        tokio::spawn(async move {
            // The loop may have ended meanwhile; then nobody wants this any more.
            let _ = home.send(task.await);
        })
        .abort_handle()
    }

    /// Logs `text` the first time only.
    fn tell_once(&mut self, level: Level, now: Time, text: String) {
        if self.told.insert(text.clone()) {
            self.log.general(level, now, text);
        }
    }
}
