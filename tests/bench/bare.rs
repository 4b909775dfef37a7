//! What the relay is measured against: a bare axum handler, and the relay's own `send` with one pooled connection that commits per call.

use std::io::BufRead;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt;

use crate::place::Writing;

/// One of these servers in a process of its own.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program again as `kind`.
    pub fn start(kind: &str, file: Option<&Path>) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(kind).stdout(Stdio::piped());
        if let Some(file) = file {
            command.arg(file);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self {
            address: line.trim().parse().unwrap(),
            child,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers every POST with a small JSON object.
pub fn http() {
    serve(Router::new().route(
        "/",
        post(async |body: String| format!("{{\"got\":{}}}", body.len())),
    ));
}

/// Sends by the relay's own rules, one call after the other and a commit for each: what a pool of one writing connection reaches.
pub fn pool(folder: &str) {
    let place = Arc::new(Writing::open(Path::new(folder)));
    let turn = Arc::new(tokio::sync::Mutex::new(()));
    let calls = Arc::new(AtomicUsize::new(0));
    serve(Router::new().route(
        "/",
        post(async move |_: String| {
            let n = calls.fetch_add(1, Ordering::Relaxed);
            let _turn = turn.lock().await;
            place.send(n).await;
            "{}"
        }),
    ));
}

fn serve(router: Router) {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("{}", listener.local_addr().unwrap());
            let listener = listener.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            });
            axum::serve(listener, router).await.unwrap();
        });
}
