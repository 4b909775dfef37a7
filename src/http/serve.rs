//! Listening and accepting.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::door::Door;
use super::peer::Peer;

/// How long running requests may take once the relay stops.
const GRACE: Duration = Duration::from_secs(4);

/// Listens on all of `addresses` or none.
///
/// # Errors
/// The address, and why not.
pub async fn bind(addresses: &[String]) -> Result<Vec<TcpListener>, (String, std::io::Error)> {
    let mut listeners = Vec::new();
    for address in addresses {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|error| (address.clone(), error))?;
        listeners.push(listener);
    }
    Ok(listeners)
}

/// Serves until the door's stop token is cancelled and what was running has ended, at most 4 s later.
pub async fn serve(door: Arc<Door>, listeners: Vec<TcpListener>) {
    let mut accepting = JoinSet::new();
    let mut connections = JoinSet::new();
    let (found, mut arrivals) = tokio::sync::mpsc::channel(64);
    for listener in listeners {
        let found = found.clone();
        accepting.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, remote)) => {
                        if found.send((stream, remote)).await.is_err() {
                            return;
                        }
                    }
                    // Out of file descriptors, mostly: the listener itself is sound.
                    Err(error) => {
                        tracing::warn!(%error, "accepting a connection failed");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
    }
    loop {
        tokio::select! {
            () = door.stop.cancelled() => break,
            Some((stream, remote)) = arrivals.recv() => {
                connections.spawn(connection(Arc::clone(&door), stream, remote));
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    accepting.shutdown().await;
    let _ = tokio::time::timeout(GRACE, async {
        while connections.join_next().await.is_some() {}
    })
    .await;
    connections.shutdown().await;
    door.close();
}

async fn connection(door: Arc<Door>, stream: TcpStream, remote: SocketAddr) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    // Without this every small answer waits for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let peer = Peer { remote, local };
    let stop = door.stop.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let door = Arc::clone(&door);
        async move {
            let response = door.serve(request.map(Body::new), peer).await;
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .max_headers(64)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(serving);
    tokio::select! {
        _ = serving.as_mut() => return,
        () = stop.cancelled() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}
