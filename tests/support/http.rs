//! A client that sends exactly the bytes it is told to, and no header of its own.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// How long any answer may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    /// Reads a whole answer, its body taken as it came.
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|code| code.parse().ok())
            .unwrap_or(0);
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Self {
            status,
            headers,
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}: {}", self.status, self.body))
    }

    /// The reason of a refusal, whichever form its path speaks.
    pub fn reason(&self) -> String {
        let body = self.json();
        body.pointer("/error/data/reason")
            .or_else(|| body.get("error"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    }
}

/// Sends `bytes` and reads until the other end closes.
pub async fn raw(address: SocketAddr, bytes: &[u8]) -> Reply {
    tokio::time::timeout(PATIENCE, async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        let mut answer = Vec::new();
        // The other end may answer and close before it has read everything.
        let (_, read) = tokio::join!(writer.write_all(bytes), reader.read_to_end(&mut answer));
        read.unwrap_or_else(|error| panic!("{error} after {:?}", String::from_utf8_lossy(&answer)));
        Reply::parse(&answer)
    })
    .await
    .expect("an answer in time")
}

/// A request, built header by header.
#[derive(Debug, Clone)]
pub struct Call {
    address: SocketAddr,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Call {
    pub fn new(address: SocketAddr, method: &str, path: &str) -> Self {
        Self {
            address,
            line: format!("{method} {path} HTTP/1.1"),
            headers: vec![("host".into(), address.to_string())],
            body: Vec::new(),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets a header in the place of any of that name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(found, _)| found != name);
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// What goes over the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{}\r\nconnection: close\r\n", self.line);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        if !self.body.is_empty() {
            text += &format!("content-length: {}\r\n", self.body.len());
        }
        text += "\r\n";
        let mut bytes = text.into_bytes();
        bytes.extend(&self.body);
        bytes
    }

    pub async fn send(self) -> Reply {
        raw(self.address, &self.bytes()).await
    }
}
