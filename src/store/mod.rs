//! The file: opening it, the one writer, the readers, ids, time, and the two kinds of error.
//!
//! What this folder promises (DESIGN 2 and 3):
//!
//! - **One call, one transaction.** [`Store::write`] runs a closure on the one writer thread in a savepoint of one `IMMEDIATE`
//!   transaction, and answers only after the commit. A closure that returns an error leaves no trace.
//! - **Nothing answered is lost.** `synchronous=FULL`; an answer after a failed commit is a [`Fault`].
//! - **Signals after the commit.** What a closure hands to [`Tx::signal`] goes out only if its rows did.
//! - **Readers never block the writer** and never span an await: [`Store::read`] takes a read-only connection, finishes, returns it.
//! - **A file that is not ours is refused untouched** ([`open::OpenError`]).

pub mod backup;
mod connect;
mod error;
pub mod export;
mod id;
mod inspect;
mod lock;
mod migrate;
pub mod open;
mod readers;
mod signal;
pub mod text;
mod time;
mod words;
mod writer;

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(test)]
pub(crate) use connect::steady;
pub use error::Error;
pub use error::Fault;
pub use error::Outcome;
pub use error::Refusal;
pub use error::quote;
pub use id::EventSeq;
pub use id::KnowledgeSeq;
pub use id::MessageSeq;
pub use id::OrgSeq;
pub use id::PartSeq;
pub use id::ProjectSeq;
pub use id::ThreadSeq;
pub use id::TokenSeq;
pub use id::TurnSeq;
pub use id::UserSeq;
pub use id::WakeSeq;
pub use id::new_id;
pub use id::parse_id;
pub use inspect::Contents;
pub use lock::Holder;
pub use migrate::SCHEMA_VERSION;
pub use open::OpenError;
pub use signal::Signal;
pub use signal::Topic;
pub use time::Clock;
pub use time::Time;
pub use time::system_clock;
pub(crate) use words::words;
pub use writer::Tx;

use rusqlite::Connection;
use tokio::sync::broadcast;

/// An open relay file: one writer thread, a pool of readers, and the stream of signals. Clones share them.
///
/// The file's lock is held until the last clone is gone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    path: PathBuf,
    // Before the writer: the last connection to be closed folds the log into the file, and a reader cannot.
    readers: r2d2::Pool<readers::ReadOnly>,
    writer: writer::Writer,
    signals: broadcast::Sender<Signal>,
    last_time: Time,
    // Declared last: dropped after the connections are closed.
    _lock: lock::FileLock,
}

impl Store {
    /// Opens `path`, or makes it if nothing stands there. `now` is the birth time of a new file; `address` is written into the lock
    /// file so that a second server can name the first.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with the file; nothing was changed then.
    pub fn open(path: &Path, address: &str, now: Time) -> Result<Self, OpenError> {
        let checked = open::prepare(path, address)?;
        let (connection, last_time) = open::connect_writer(&checked, now)?;
        let (signals, _) = broadcast::channel(4096);
        let readers = readers::pool(&checked.path)
            .map_err(|error| OpenError::unreadable(&checked.path, &error.to_string()))?;
        Ok(Self {
            inner: Arc::new(Inner {
                writer: writer::Writer::start(connection, signals.clone()),
                readers,
                signals,
                last_time,
                path: checked.path,
                _lock: checked.lock,
            }),
        })
    }

    /// Who serves the file at `path`, or did so last, by what its lock file says.
    #[must_use]
    pub fn holder(path: &Path) -> Option<Holder> {
        lock::holder(&path.canonicalize().ok()?)
    }

    /// Where the file is, links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The newest time found in the file when it was opened: the floor of the relay's [`Clock`].
    #[must_use]
    pub fn last_time(&self) -> Time {
        self.inner.last_time
    }

    /// Writes the address the relay is reached by into the lock file, for the message a second server prints.
    pub fn announce(&self, address: &str) {
        self.inner._lock.describe(address);
    }

    /// Runs `job` in its own savepoint on the writer thread and answers after the commit.
    ///
    /// # Errors
    /// What `job` returned, or a [`Fault`] if the commit failed; in both cases nothing of it was stored.
    pub async fn write<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let answer = self.inner.writer.send(job)?;
        answer.await.unwrap_or(Err(Error::Fault(Fault::Stopped)))
    }

    /// [`Store::write`] for callers without a runtime.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn write_blocking<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let answer = self.inner.writer.send(job)?;
        answer
            .blocking_recv()
            .unwrap_or(Err(Error::Fault(Fault::Stopped)))
    }

    /// Puts `job` into the writer's queue and does not wait for it: for marks whose loss in a crash repeats a wake and never loses a
    /// message. Later writes stand behind it. A failure is logged; false: the queue had no place for it.
    pub fn post<F>(&self, job: F) -> bool
    where
        F: FnOnce(&Tx<'_>) -> Outcome<()> + Send + 'static,
    {
        // The answer is dropped on purpose: the writer logs a fault, and nobody waits.
        self.inner.writer.send(job).is_ok()
    }

    /// Runs `job` on a read-only connection, off the async threads. All it reads is one snapshot.
    ///
    /// # Errors
    /// What `job` returned, or a [`Fault`] if no connection was to be had.
    pub async fn read<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        let store = self.clone();
        tokio::task::spawn_blocking(move || store.read_blocking(job))
            .await
            .unwrap_or(Err(Error::Fault(Fault::Stopped)))
    }

    /// [`Store::read`] for a few indexed rows: it runs where the caller is, since a hop to another thread and back costs more than
    /// the read. With all connections out it hops all the same, rather than wait on an async thread.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub async fn glance<T, F>(&self, job: F) -> Outcome<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Outcome<T> + Send + 'static,
    {
        match self.inner.readers.try_get() {
            Some(connection) => snapshot(&connection, job),
            None => self.read(job).await,
        }
    }

    /// [`Store::read`] for callers without a runtime.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_blocking<T, F>(&self, job: F) -> Outcome<T>
    where
        F: FnOnce(&Connection) -> Outcome<T>,
    {
        let connection = self.inner.readers.get().map_err(|_| Fault::Stopped)?;
        snapshot(&connection, job)
    }

    /// Subscribes to what is signalled after each commit. A receiver that lags learns so and reads the tables again.
    #[must_use]
    pub fn signals(&self) -> broadcast::Receiver<Signal> {
        self.inner.signals.subscribe()
    }

    /// Jobs waiting for the writer.
    #[must_use]
    pub fn queue_len(&self) -> usize {
        self.inner.writer.queue_len()
    }

    /// Size of the write-ahead log in bytes, 0 if there is none.
    #[must_use]
    pub fn wal_bytes(&self) -> u64 {
        let mut name = self.inner.path.clone().into_os_string();
        name.push("-wal");
        std::fs::metadata(PathBuf::from(name)).map_or(0, |meta| meta.len())
    }

    /// Folds the write-ahead log back into the file if it is over `limit` bytes. Called by the sweep; a reader in its way only
    /// delays it to the next.
    ///
    /// # Errors
    /// A [`Fault`] of the writer.
    pub async fn bound_wal(&self, limit: u64) -> Outcome<()> {
        if self.wal_bytes() <= limit {
            return Ok(());
        }
        self.inner.writer.checkpoint().await
    }
}

/// Runs `job` in one read transaction: all it reads is of one moment. A job that panics leaves the transaction open, and the pool drops
/// the connection.
fn snapshot<T>(connection: &Connection, job: impl FnOnce(&Connection) -> Outcome<T>) -> Outcome<T> {
    connection.prepare_cached("BEGIN")?.execute([])?;
    let answer = job(connection);
    connection.prepare_cached("COMMIT")?.execute([])?;
    answer
}
