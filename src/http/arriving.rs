//! A request's body on its way in. When it is refused before it was read, the rest is read and thrown away, so that the client can
//! read the answer instead of a reset connection (access.md 7).

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::task::Context;
use std::task::Poll;
use std::time::Duration;

use axum::body::HttpBody;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Frame;
use hyper::body::Incoming;
use hyper::body::SizeHint;

/// How much of a body nobody wants is read and thrown away, so that the client can read the early answer, and for how long.
const DRAINED_BYTES: usize = 32 << 20;
const DRAINED_FOR: Duration = Duration::from_secs(2);

/// A request's body that is thrown away in an orderly manner if nobody reads it to its end.
pub(super) struct Arriving {
    body: Option<Incoming>,
    waits: bool,
    read: Arc<AtomicBool>,
}

impl Arriving {
    /// `waits`: the client sends it only if it is asked to (`Expect: 100-continue`), so an unread one is left alone. The flag says
    /// whether it was read to its end.
    pub(super) fn new(body: Incoming, waits: bool) -> (Self, Arc<AtomicBool>) {
        let read = Arc::new(body.is_end_stream().into());
        let arriving = Self {
            body: Some(body),
            waits,
            read: Arc::clone(&read),
        };
        (arriving, read)
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.waits = false;
        let Some(body) = self.body.as_mut() else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) {
            self.read.store(true, Ordering::Relaxed);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let unread = !self.read.load(Ordering::Relaxed) && !self.waits;
        if let Some(mut body) = self.body.take().filter(|_| unread) {
            tokio::spawn(async move {
                let _ = tokio::time::timeout(DRAINED_FOR, async {
                    let mut drained = 0;
                    while let Some(Ok(frame)) = body.frame().await {
                        drained += frame.data_ref().map_or(0, Bytes::len);
                        if drained > DRAINED_BYTES {
                            return;
                        }
                    }
                })
                .await;
            });
        }
    }
}
