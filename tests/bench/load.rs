//! A small load generator: keep-alive HTTP/1.1 connections that repeat one request, each with its own numbers filled in.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// What one run measured.
pub struct Run {
    /// Answers per second.
    pub rate: f64,
    /// Median time of an answer.
    pub median: Duration,
}

/// Makes the request of a client: path, token, body.
type Request = dyn Fn(usize) -> (String, String, String) + Send + Sync;

/// One kind of request to one server.
pub struct Load {
    address: SocketAddr,
    request: Arc<Request>,
}

impl Load {
    /// Requests by `request`, which is given a number that is used once.
    pub fn new(
        address: SocketAddr,
        request: impl Fn(usize) -> (String, String, String) + Send + Sync + 'static,
    ) -> Self {
        Self {
            address,
            request: Arc::new(request),
        }
    }

    /// A bare POST with a small JSON body.
    pub fn plain(address: SocketAddr) -> Self {
        Self::new(address, |n| {
            ("/".into(), String::new(), format!("{{\"n\":{n}}}"))
        })
    }

    /// Runs `clients` connections for `span` and counts good answers; anything else ends the benchmark.
    pub async fn run(&self, clients: usize, span: Duration) -> Run {
        let numbers = Arc::new(AtomicUsize::new(0));
        let begun = Instant::now();
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let address = self.address;
                let request = Arc::clone(&self.request);
                let numbers = Arc::clone(&numbers);
                tokio::spawn(async move {
                    let mut connection = Connection::open(address).await;
                    let mut times = Vec::new();
                    while begun.elapsed() < span {
                        let (path, token, body) = request(numbers.fetch_add(1, Ordering::Relaxed));
                        let asked = Instant::now();
                        connection.post(&path, &token, &body).await;
                        times.push(asked.elapsed());
                    }
                    times
                })
            })
            .collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await.unwrap());
        }
        let seconds = begun.elapsed().as_secs_f64();
        times.sort_unstable();
        Run {
            rate: times.len() as f64 / seconds,
            median: times[times.len() / 2],
        }
    }
}

/// One keep-alive connection.
pub struct Connection {
    stream: TcpStream,
    host: String,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            host: address.to_string(),
            buffer: Vec::new(),
        }
    }

    /// Posts, with a token unless it is empty, and returns the body of a 200 answer without a JSON-RPC error or a refusal.
    pub async fn post(&mut self, path: &str, token: &str, body: &str) -> String {
        let bearer = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{bearer}Content-Type: application/json\r\nAccept: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.buffer.clear();
        let head = loop {
            self.more().await;
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
        };
        let headers = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        let length: usize = headers
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(0);
        while self.buffer.len() < head + length {
            self.more().await;
        }
        let answer = String::from_utf8_lossy(&self.buffer[head..head + length]).into_owned();
        assert!(
            headers.starts_with("http/1.1 200") && !answer.contains("\"isError\":true"),
            "{headers}{answer}"
        );
        answer
    }

    async fn more(&mut self) {
        let mut chunk = [0; 16 * 1024];
        let read = self.stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the server hung up");
        self.buffer.extend_from_slice(&chunk[..read]);
    }
}
