//! The times of a connection (access.md 7): a head that dawdles, a write that is stuck, a connection that idles. The server library
//! has one time for both the head and the idling before it; ours differ by a factor of twenty, because clients' pools keep
//! connections for 90 s.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::body::HttpBody;
use bytes::Bytes;
use hyper::body::Frame;
use hyper::body::SizeHint;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio::io::ReadBuf;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

/// From the first byte of a head to its last; from the accept, for the first.
const HEAD: Duration = Duration::from_secs(5);

/// From the end of an answer to the first byte of the next head.
const IDLE: Duration = Duration::from_secs(100);

/// A write the other end does not take.
const WRITE: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Head,
    Busy,
}

#[derive(Debug, Clone, Copy)]
struct State {
    phase: Phase,
    since: Instant,
    stuck_since: Option<Instant>,
}

impl State {
    /// When the connection is to be cut if nothing happens before.
    fn deadline(&self) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Idle => Some(self.since + IDLE),
            Phase::Head => Some(self.since + HEAD),
            Phase::Busy => None,
        };
        let stuck = self.stuck_since.map(|since| since + WRITE);
        phase.into_iter().chain(stuck).min()
    }
}

/// What a connection is doing, shared by its stream, its answers and its watchdog.
#[derive(Debug)]
pub(super) struct Pace {
    state: Mutex<State>,
    /// The deadline came nearer.
    nearer: Notify,
}

impl Pace {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                phase: Phase::Head,
                since: Instant::now(),
                stuck_since: None,
            }),
            nearer: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        state.since = Instant::now();
    }

    /// A request's head is complete.
    pub(super) fn busy(&self) {
        self.enter(Phase::Busy);
    }

    /// Waits until one of the times is over.
    pub(super) async fn overdue(&self) {
        loop {
            let deadline = self.state().deadline();
            let over = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.nearer.notified() => {}
                () = over => {
                    let deadline = self.state().deadline();
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return;
                    }
                }
            }
        }
    }

    /// The answer's body, which turns the connection idle when it is gone.
    pub(super) fn answer(self: &Arc<Self>, body: Body) -> Body {
        Body::new(Answer {
            body,
            pace: Arc::clone(self),
        })
    }
}

struct Answer {
    body: Body,
    pace: Arc<Pace>,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.pace.enter(Phase::Idle);
        self.pace.nearer.notify_one();
    }
}

/// The stream of a connection, telling its [`Pace`] what moves.
pub(super) struct Wire {
    stream: TcpStream,
    pace: Arc<Pace>,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, pace: Arc<Pace>) -> Self {
        Self { stream, pace }
    }

    fn wrote<T>(&self, result: Poll<T>) -> Poll<T> {
        let mut state = self.pace.state();
        if result.is_ready() {
            state.stuck_since = None;
        } else if state.stuck_since.is_none() {
            state.stuck_since = Some(Instant::now());
            self.pace.nearer.notify_one();
        }
        result
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            let idle = self.pace.state().phase == Phase::Idle;
            if idle {
                self.pace.enter(Phase::Head);
                self.pace.nearer.notify_one();
            }
        }
        result
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, buffer);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
