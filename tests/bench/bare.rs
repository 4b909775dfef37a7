//! What the relay is measured against: a bare axum handler, and the same with one pooled connection that commits per call.

use std::io::BufRead;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::Mutex;

use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt;

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

/// Stores every POST's body in a transaction of its own, on the one connection of a pool.
pub fn pool(file: &str) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE IF NOT EXISTS message (seq INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);",
        )
        .unwrap();
    let pool = Arc::new(Mutex::new(connection));
    serve(Router::new().route(
        "/",
        post(async move |body: String| {
            let pool = Arc::clone(&pool);
            tokio::task::spawn_blocking(move || {
                let mut connection = pool.lock().unwrap();
                let tx = connection
                    .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
                    .unwrap();
                tx.prepare_cached("INSERT INTO message (body) VALUES (?1)")
                    .unwrap()
                    .execute([&body])
                    .unwrap();
                tx.commit().unwrap();
            })
            .await
            .unwrap();
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
