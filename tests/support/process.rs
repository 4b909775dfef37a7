//! The real program, serving a file in a process of its own.

use std::io::Read;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpListener;
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use super::http::Call;
use super::http::PATIENCE;
use super::http::Reply;

/// `relayroom serve`; killed when dropped.
pub struct Served {
    child: Child,
    pub address: SocketAddr,
}

impl Served {
    /// Serves `db` on `address` and waits until it answers.
    pub fn start(db: &Path, address: SocketAddr) -> Self {
        let home = db.parent().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_relayroom"))
            .args(["serve", "--listen", &address.to_string(), "--db"])
            .arg(db)
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env("RELAYROOM_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut served = Self { child, address };
        let begun = Instant::now();
        loop {
            let health = ask(&Call::new(address, "GET", "/health"));
            if health.is_some_and(|reply| reply.status == 200) {
                return served;
            }
            if let Some(status) = served.child.try_wait().unwrap() {
                panic!("relayroom serve ended: {status}");
            }
            assert!(begun.elapsed() < PATIENCE, "relayroom serve did not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// SIGKILL: no chance to tidy up.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loopback address nobody listens on.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .unwrap()
}

/// Sends a call and reads its whole answer; `None` if the connection broke before that.
pub fn ask(call: &Call) -> Option<Reply> {
    let mut stream = TcpStream::connect(call.address()).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(&call.bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let reply = Reply::parse(&answer);
    let whole = reply
        .header("content-length")
        .and_then(|length| length.parse().ok())
        .is_some_and(|length: usize| reply.body.len() == length);
    whole.then_some(reply)
}
