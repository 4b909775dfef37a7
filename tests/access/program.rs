//! `relayroom serve` as a process: how it ends, and what it writes about its callers (access.md 7 and 8).

use std::fs::File;
use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::ExitStatus;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use relayroom::config;
use relayroom::identity;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::store::Store;
use rustix::process::Pid;
use rustix::process::Resource;
use rustix::process::Rlimit;
use rustix::process::Signal;
use serde_json::json;

use crate::support::http::Call;
use crate::support::http::PATIENCE;
use crate::support::http::Reply;
use crate::support::process::ask;
use crate::support::process::free_address;
use crate::support::server::now;

/// A relay process whose output goes to a file.
struct Program {
    child: Child,
    folder: tempfile::TempDir,
    address: std::net::SocketAddr,
    code: String,
    agent: String,
    pager: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn start(log: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("relay.db");
        let store = Store::open(&db, "", now()).unwrap();
        let (code, agent, pager) = store
            .write_blocking(|tx| {
                identity::found(tx, "kim", now())?;
                let kim = people::first_owner(tx)?.seq;
                let shop = project::create(tx, kim, "shop", now())?;
                let part = Binding::Agent {
                    project: shop.seq,
                    part: "web".into(),
                };
                let machine = Binding::Pager {
                    machine: "vm".into(),
                };
                let agent = token::issue(tx, kim, &part, "", None, now())?.0;
                let pager = token::issue(tx, kim, &machine, "", None, now())?.0;
                Ok((shop.connect_code, agent, pager))
            })
            .unwrap();
        drop(store);
        let address = free_address();
        let output = File::create(folder.path().join("output")).unwrap();
        // A full disk is an error to a program, while the limit that plays it here also sends a signal, which is to be ignored.
        let child = Command::new("/bin/sh")
            .args([
                "-c",
                "trap '' XFSZ; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_relayroom"),
            ])
            .args(["serve", "--listen", &address.to_string(), "--db"])
            .arg(&db)
            .env_clear()
            .env("HOME", folder.path())
            .env("RELAYROOM_LOG", log)
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap();
        let program = Self {
            child,
            folder,
            address,
            code,
            agent,
            pager,
        };
        let begun = Instant::now();
        while ask(&Call::new(address, "GET", "/health")).is_none_or(|reply| reply.status != 200) {
            assert!(begun.elapsed() < PATIENCE, "{}", program.output());
            std::thread::sleep(Duration::from_millis(10));
        }
        program
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("relay.db")
    }

    fn output(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("output")).unwrap()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Lets the process write no file beyond `bytes`; `None` lifts that.
    fn limit_files(&self, bytes: Option<u64>) {
        let limit = Rlimit {
            current: bytes,
            maximum: None,
        };
        let pid = Pid::from_child(&self.child);
        rustix::process::prlimit(Some(pid), Resource::Fsize, limit).unwrap();
    }

    fn health(&self) -> Reply {
        ask(&Call::new(self.address, "GET", "/health")).unwrap()
    }

    fn ended(&mut self, within: Duration) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(begun.elapsed() < within, "it still runs after {within:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// A request whose body never comes.
    fn hang(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "POST /mcp/{} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: 10\r\n\r\n",
            self.code, self.agent
        );
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        stream
    }
}

#[test]
fn access_049_a_signal_ends_the_relay_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut program = Program::start("info");
        let fresh = TcpStream::connect(program.address).unwrap();
        let mut kept = TcpStream::connect(program.address).unwrap();
        kept.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
            .unwrap();
        let mut answer = [0; 4096];
        assert!(kept.read(&mut answer).unwrap() > 0);
        program.signal(signal);
        let status = program.ended(Duration::from_secs(2));
        assert_eq!(status.code(), Some(0), "{}", program.output());
        drop((fresh, kept));
    }
}

#[test]
fn access_049_a_request_that_hangs_is_given_four_seconds() {
    let mut program = Program::start("info");
    let _hanging = program.hang();
    program.signal(Signal::TERM);
    let begun = Instant::now();
    let status = program.ended(Duration::from_secs(5));
    assert_eq!(status.code(), Some(0));
    assert!(
        begun.elapsed() > Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn access_049_a_second_signal_ends_it_at_once() {
    let mut program = Program::start("info");
    let _hanging = program.hang();
    program.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    program.signal(Signal::TERM);
    let status = program.ended(Duration::from_secs(2));
    assert_eq!((status.code(), status.signal()), (Some(143), None));
    assert!(
        begun.elapsed() < Duration::from_millis(500),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn access_007_access_051_one_line_per_request_and_no_secret_in_any() {
    let program = Program::start("trace");
    let admin = config::read_secret(&config::admin_token_file(&program.db())).unwrap();
    let send = json!({"subject": "quiet subject", "body": "quiet body", "to": ["human"]});
    let params = json!({"name": "send", "arguments": send});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let path = format!("/mcp/{}?part=web&secret=queryword", program.code);
    let call = |method: &str, path: &str, token: &str| {
        let call = Call::new(program.address, method, path);
        ask(&call.bearer(token).json(&body)).unwrap().status
    };
    assert_eq!(call("POST", &path, &program.agent), 200);
    assert_eq!(call("POST", &path, &program.pager), 401);
    assert_eq!(call("POST", &path, "rrt_wrongbutsecret"), 401);
    assert_eq!(call("GET", "/api/admin/status", &admin), 200);
    assert_eq!(call("GET", "/nothing/pathword", &admin), 404);
    let output = program.output();
    for secret in [
        &program.agent,
        &program.pager,
        &admin,
        &program.code,
        "rrt_wrongbutsecret",
        "queryword",
        "pathword",
        "quiet subject",
        "quiet body",
    ] {
        assert!(!output.contains(secret), "{secret} in {output}");
    }
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| line.contains("request_id="))
        .collect();
    let with = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!(with("/mcp/{code}"), 3, "{output}");
    assert_eq!(with("/api/admin/status"), 1);
    assert_eq!(with("status=404"), 1);
    let good = lines
        .iter()
        .find(|line| line.contains("status=200") && line.contains("/mcp/"));
    for field in ["method=POST", "ms=", "bytes=", "peer=127.0.0.1", "part 1"] {
        assert!(good.unwrap().contains(field), "{field} in {good:?}");
    }
}

#[test]
fn tools_010_case_m01_case_m02_a_restart_between_two_calls_is_invisible() {
    let mut program = Program::start("info");
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}});
    let whoami =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "whoami"}});
    let path = format!("/mcp/{}?part=web", program.code);
    let call = |body| {
        let call = Call::new(program.address, "POST", &path).bearer(&program.agent);
        ask(&call
            .header("mcp-session-id", "of the first life")
            .json(body))
        .unwrap()
    };
    assert_eq!(call(&hello).status, 200);
    let before = call(&whoami).body;
    program.signal(Signal::TERM);
    program.ended(Duration::from_secs(5));
    let restarted = Command::new(env!("CARGO_BIN_EXE_relayroom"))
        .args(["serve", "--listen", &program.address.to_string(), "--db"])
        .arg(program.db())
        .env_clear()
        .env("HOME", program.folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    program.child = restarted;
    let begun = Instant::now();
    while TcpStream::connect(program.address).is_err() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
    let call = Call::new(program.address, "POST", &path).bearer(&program.agent);
    let after = ask(&call.json(&whoami)).unwrap();
    assert_eq!((after.status, after.body), (200, before));
}

#[test]
fn access_048_tools_032_a_full_disk_is_said_and_passes_without_a_restart() {
    let program = Program::start("off");
    let send = json!({"subject": "s", "body": "b", "to": ["human"], "idempotencyKey": "k"});
    let params = json!({"name": "send", "arguments": send});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let path = format!("/mcp/{}", program.code);
    let send = || {
        let call = Call::new(program.address, "POST", &path).bearer(&program.agent);
        ask(&call.json(&body)).unwrap().json()
    };
    let whoami =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami"}});
    let call = Call::new(program.address, "POST", &path).bearer(&program.agent);
    assert_eq!(ask(&call.json(&whoami)).unwrap().status, 200);

    program.limit_files(Some(1));
    let answer = send();
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Nothing was stored")
    );
    std::thread::sleep(Duration::from_millis(1_050));
    let health = program.health();
    assert_eq!(health.status, 503, "{}", health.body);
    assert!(health.json()["cause"].is_string());

    program.limit_files(None);
    let begun = Instant::now();
    while program.health().status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(2));
        std::thread::sleep(Duration::from_millis(50));
    }
    let answer = send();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("threadId") && !text.contains("duplicate"),
        "{text}"
    );
}
