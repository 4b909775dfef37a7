//! The one writer. A thread owns the one writing connection, takes all jobs waiting in its queue, runs each in a savepoint of one
//! transaction, commits once and only then answers all of them: concurrent callers share one fsync (DESIGN 3).

use std::cell::RefCell;
use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::broadcast;
use tokio::sync::oneshot;

use super::Error;
use super::Fault;
use super::Outcome;
use super::Signal;
use super::connect;

/// Jobs that may wait; beyond, callers get [`Fault::Busy`].
const QUEUE: usize = 8192;

/// Jobs that share one commit at most, so that the first is not kept waiting for ever.
const BATCH: usize = 256;

/// The open transaction a rule writes in. Derefs to the connection.
pub struct Tx<'a> {
    connection: &'a Connection,
    signals: RefCell<Vec<Signal>>,
}

impl Tx<'_> {
    /// Tells pagers and pages, after the commit, that something changed.
    pub fn signal(&self, signal: Signal) {
        let mut signals = self.signals.borrow_mut();
        if !signals.contains(&signal) {
            signals.push(signal);
        }
    }
}

impl Deref for Tx<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.connection
    }
}

/// What the thread is handed.
enum Item {
    Job(Box<dyn Job>),
    Checkpoint(oneshot::Sender<Outcome<()>>),
}

trait Job: Send {
    /// Runs the rule; true if its rows are to be kept.
    fn run(&mut self, tx: &Tx<'_>) -> bool;
    /// Answers the caller; `commit` is why the commit did not happen.
    fn answer(self: Box<Self>, commit: Result<(), String>);
}

struct Call<F, T> {
    rule: Option<F>,
    result: Option<Outcome<T>>,
    caller: oneshot::Sender<Outcome<T>>,
}

impl<F, T> Job for Call<F, T>
where
    F: FnOnce(&Tx<'_>) -> Outcome<T> + Send,
    T: Send,
{
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let Some(rule) = self.rule.take() else {
            return false;
        };
        let result = catch_unwind(AssertUnwindSafe(|| rule(tx))).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
                .unwrap_or_default();
            Err(Error::Fault(Fault::Panic(text)))
        });
        let keep = result.is_ok();
        if let Err(Error::Fault(fault)) = &result {
            tracing::error!(%fault, "a write failed");
        }
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, commit: Result<(), String>) {
        let result = match (self.result, commit) {
            (Some(Ok(_)) | None, Err(why)) => Err(Error::Fault(Fault::Commit(why))),
            (Some(result), _) => result,
            (None, Ok(())) => Err(Error::Fault(Fault::Stopped)),
        };
        // A caller that went away does not want the answer; its rows stand all the same.
        let _ = self.caller.send(result);
    }
}

/// Handle of the writer thread. Dropping it ends the thread after the jobs already queued.
pub(super) struct Writer {
    queue: Option<mpsc::SyncSender<Item>>,
    waiting: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(connection: Connection, signals: broadcast::Sender<Signal>) -> Self {
        let (queue, jobs) = mpsc::sync_channel(QUEUE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || work(&connection, &jobs, &signals, &counter))
            .ok();
        Self {
            queue: Some(queue),
            waiting,
            thread,
        }
    }

    pub(super) fn queue_len(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub(super) fn send<T, F>(&self, rule: F) -> Result<oneshot::Receiver<Outcome<T>>, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&Tx<'_>) -> Outcome<T> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.enqueue(Item::Job(Box::new(Call {
            rule: Some(rule),
            result: None,
            caller,
        })))?;
        Ok(answer)
    }

    pub(super) async fn checkpoint(&self) -> Outcome<()> {
        let (caller, answer) = oneshot::channel();
        self.enqueue(Item::Checkpoint(caller))?;
        answer.await.unwrap_or(Err(Error::Fault(Fault::Stopped)))
    }

    fn enqueue(&self, item: Item) -> Result<(), Fault> {
        let queue = self.queue.as_ref().ok_or(Fault::Stopped)?;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        queue.try_send(item).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                mpsc::TrySendError::Full(_) => Fault::Busy,
                mpsc::TrySendError::Disconnected(_) => Fault::Stopped,
            }
        })
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(
    connection: &Connection,
    jobs: &mpsc::Receiver<Item>,
    signals: &broadcast::Sender<Signal>,
    waiting: &AtomicUsize,
) {
    while let Ok(first) = jobs.recv() {
        let mut batch = Vec::new();
        let mut checkpoints = Vec::new();
        let mut next = Some(first);
        while let Some(item) = next {
            waiting.fetch_sub(1, Ordering::Relaxed);
            match item {
                Item::Job(job) => batch.push(job),
                Item::Checkpoint(caller) => checkpoints.push(caller),
            }
            next = if batch.len() < BATCH {
                jobs.try_recv().ok()
            } else {
                None
            };
        }
        if !batch.is_empty() {
            commit(connection, batch, signals);
        }
        for caller in checkpoints {
            let _ = caller.send(fold(connection).map_err(Error::from));
        }
    }
}

/// Folds the log back as far as no reader is in the way. It waits for none: a backup reads for as long as it takes, and everybody's
/// writes stand behind this.
fn fold(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let folded = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(connect::PATIENCE)?;
    folded
}

/// Runs all of `batch` in one transaction and answers them.
fn commit(connection: &Connection, batch: Vec<Box<dyn Job>>, signals: &broadcast::Sender<Signal>) {
    let tx = Tx {
        connection,
        signals: RefCell::default(),
    };
    let mut ran = Vec::with_capacity(batch.len());
    let mut outcome = connection.execute_batch("BEGIN IMMEDIATE");
    for mut job in batch {
        if outcome.is_ok() {
            outcome = savepoint(&tx, job.as_mut());
        }
        ran.push(job);
    }
    let outcome = outcome
        .and_then(|()| connection.execute_batch("COMMIT"))
        .map_err(|error| {
            tracing::error!(%error, "a commit failed");
            error.to_string()
        });
    if outcome.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    for job in ran {
        job.answer(outcome.clone());
    }
    if outcome.is_ok() {
        for signal in tx.signals.into_inner() {
            // Nobody listening is fine: whoever comes later reads the tables.
            let _ = signals.send(signal);
        }
    }
}

/// Runs one job in its own savepoint. An error means the whole transaction is gone (SQLite takes it back by itself when, for
/// instance, the disk is full) or cannot go on.
fn savepoint(tx: &Tx<'_>, job: &mut dyn Job) -> rusqlite::Result<()> {
    tx.prepare_cached("SAVEPOINT job")?.execute([])?;
    let told = tx.signals.borrow().len();
    let keep = job.run(tx);
    if tx.is_autocommit() {
        return Err(rusqlite::Error::InvalidParameterName(
            "the transaction was taken back by SQLite".into(),
        ));
    }
    if !keep {
        tx.signals.borrow_mut().truncate(told);
        tx.prepare_cached("ROLLBACK TO job")?.execute([])?;
    }
    tx.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}
