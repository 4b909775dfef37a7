//! Listening, accepting, and ending.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use http::HeaderValue;
use http::Request;
use http::header;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustix::process::Resource;
use rustix::process::getrlimit;
use rustix::process::setrlimit;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::arriving::Arriving;
use super::door;
use super::door::Door;
use super::peer::Peer;
use super::places::Place;
use super::places::Places;
use super::wire::Pace;
use super::wire::Wire;

/// How long running requests may take once the relay stops.
const GRACE: Duration = Duration::from_secs(4);

/// Connections that are told at the same time that there is no place; further ones are just closed.
const TOLD: usize = 64;

/// Listens on all of `addresses` or none.
///
/// # Errors
/// The address, and why not.
pub async fn bind(addresses: &[String]) -> Result<Vec<TcpListener>, (String, std::io::Error)> {
    allow_connections();
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| (address.clone(), error))?;
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Systems let a process open fewer files than there may be connections unless it asks for more.
fn allow_connections() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if setrlimit(Resource::Nofile, limit).is_err() {
        tracing::warn!(
            "the system keeps this process to few open files, and so to few connections"
        );
    }
}

/// Serves until the door's stop token is cancelled and what was running has ended, at most 4.5 s later. Then the relay's file is let
/// go of.
pub async fn serve(door: Arc<Door>, listeners: Vec<TcpListener>) {
    let hall = Hall {
        door,
        places: Places::new(),
        telling: Arc::new(Semaphore::new(TOLD)),
        cut: CancellationToken::new(),
    };
    let mut accepting = JoinSet::new();
    for listener in listeners {
        accepting.spawn(hall.clone().accept(listener));
    }
    hall.door.stop.cancelled().await;
    accepting.shutdown().await;
    let _ = tokio::time::timeout(GRACE, hall.places.all_left()).await;
    hall.cut.cancel();
    let _ = tokio::time::timeout(GRACE / 8, hall.places.all_left()).await;
    hall.door.close();
}

/// What all connections share.
#[derive(Clone)]
struct Hall {
    door: Arc<Door>,
    places: Arc<Places>,
    telling: Arc<Semaphore>,
    /// Cancelled when the grace is over.
    cut: CancellationToken,
}

impl Hall {
    async fn accept(self, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, remote)) => match self.places.take(remote.ip()) {
                    Some(place) => {
                        tokio::spawn(self.clone().converse(stream, remote, place));
                    }
                    None => self.turn_away(stream),
                },
                // Out of file descriptors, mostly: the listener itself is sound.
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    fn turn_away(&self, mut stream: TcpStream) {
        let Ok(permit) = Arc::clone(&self.telling).try_acquire_owned() else {
            return;
        };
        tokio::spawn(async move {
            let _permit = permit;
            let told = async {
                stream.write_all(&door::no_place()).await?;
                stream.shutdown().await?;
                // Closing with unread bytes would reset the connection and take the answer with it.
                let mut sink = [0; 4096];
                while stream.read(&mut sink).await? > 0 {}
                std::io::Result::Ok(())
            };
            let _ = tokio::time::timeout(Duration::from_millis(500), told).await;
        });
    }

    async fn converse(self, stream: TcpStream, remote: SocketAddr, place: Place) {
        let _place = place;
        let Ok(local) = stream.local_addr() else {
            return;
        };
        // Without this every small answer waits for the client's delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let peer = Peer { remote, local };
        let pace = Pace::new();
        let door = Arc::clone(&self.door);
        let told = Arc::clone(&pace);
        let service = service_fn(move |request: Request<Incoming>| {
            told.busy();
            let (door, pace) = (Arc::clone(&door), Arc::clone(&told));
            async move {
                let waits = request.headers().contains_key(header::EXPECT);
                let (head, body) = request.into_parts();
                let (body, read) = Arriving::new(body, waits);
                let request = Request::from_parts(head, Body::new(body));
                let mut response = door.serve(request, peer).await;
                if !read.load(Ordering::Relaxed) {
                    response
                        .headers_mut()
                        .insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, std::convert::Infallible>(response.map(|body| pace.answer(body)))
            }
        });
        // The door judges sizes and answers in its own form; the library's bounds, a little wider, bound memory.
        let serving = http1::Builder::new()
            .max_headers(2 * door::HEADER_FIELDS)
            .max_buf_size(2 * door::HEADER_BYTES)
            .serve_connection(TokioIo::new(Wire::new(stream, Arc::clone(&pace))), service);
        tokio::pin!(serving);
        tokio::select! {
            _ = serving.as_mut() => return,
            () = pace.overdue() => return,
            () = self.door.stop.cancelled() => serving.as_mut().graceful_shutdown(),
        }
        tokio::select! {
            _ = serving => {}
            () = pace.overdue() => {}
            () = self.cut.cancelled() => {}
        }
    }
}
