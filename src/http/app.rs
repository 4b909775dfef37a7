//! What every route is given: the file, the clock, and what was set.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::health::Health;
use super::refusals::Refusals;
use super::settings::Settings;
use crate::activity::Heard;
use crate::identity;
use crate::messaging::EmptyPolls;
use crate::messaging::WaitingMarks;
use crate::store::Clock;
use crate::store::Outcome;
use crate::store::Store;
use crate::store::Time;
use crate::store::system_clock;

/// The running relay, shared by all routes.
pub struct App {
    /// The file.
    pub store: Store,
    /// The relay's own id, kept in the file.
    pub instance: String,
    /// Settings of access.md 8.
    pub settings: Arc<Settings>,
    /// When each part was last heard.
    pub heard: Arc<Heard>,
    /// Who keeps asking for an empty inbox.
    pub empty_polls: EmptyPolls,
    /// What was shown to parts and stands in the writer's queue.
    pub waiting_marks: WaitingMarks,
    /// Whether the file was writable a moment ago.
    pub health: Health,
    /// Where the relay listens.
    pub addresses: Vec<SocketAddr>,
    /// Requests turned away lately, for `GET /api/admin/status`.
    pub refusals: Arc<Refusals>,
    /// Cancelled when the relay begins to stop: whatever waits answers at once.
    pub stop: CancellationToken,
    /// When it was opened.
    pub started_at: Time,
    clock: Clock,
}

impl App {
    /// The relay over an open file. The file must be founded ([`identity::found`]).
    ///
    /// # Errors
    /// A fault of the store.
    pub(super) async fn new(
        store: Store,
        settings: Arc<Settings>,
        addresses: Vec<SocketAddr>,
        refusals: Arc<Refusals>,
        stop: CancellationToken,
    ) -> Outcome<Self> {
        let (wall, monotonic) = system_clock();
        let clock = Clock::new(store.last_time(), monotonic);
        Ok(Self {
            instance: store.read(identity::instance).await?,
            settings,
            heard: Arc::default(),
            empty_polls: EmptyPolls::default(),
            waiting_marks: WaitingMarks::default(),
            health: Health::default(),
            addresses,
            refusals,
            stop,
            started_at: clock.read(wall, monotonic),
            clock,
            store,
        })
    }

    /// The relay's time.
    #[must_use]
    pub fn now(&self) -> Time {
        let (wall, monotonic) = system_clock();
        self.clock.read(wall, monotonic)
    }

    /// Whether every address listened on is loopback: a condition of the code rule (access.md 3).
    #[must_use]
    pub fn only_loopback(&self) -> bool {
        self.addresses
            .iter()
            .all(|address| super::peer::is_loopback(address.ip()))
    }
}
