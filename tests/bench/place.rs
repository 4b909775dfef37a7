//! A file with many people, parts and messages, made by the rules themselves, and the real program that serves it.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use relayroom::identity;
use relayroom::identity::Level;
use relayroom::identity::access;
use relayroom::identity::access::McpRequest;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::identity::token;
use relayroom::identity::token::Binding;
use relayroom::messaging;
use relayroom::messaging::Author;
use relayroom::messaging::InboxArgs;
use relayroom::messaging::SendArgs;
use relayroom::store::Outcome;
use relayroom::store::Store;
use relayroom::store::Time;
use relayroom::store::Tx;
use relayroom::store::UserSeq;
use relayroom::store::system_clock;

use crate::load::Connection;
use crate::load::Load;

/// Parts, each of a person of its own and each with the 20 messages a minute that a part may send: what the `send` figure may use up.
const PARTS: usize = 2_000;

/// Parts that share the stored messages.
const WRITERS: usize = 20;

/// A folder with a furnished file.
pub struct Place {
    folder: tempfile::TempDir,
    code: String,
    tokens: Arc<Vec<(String, String)>>,
}

impl Place {
    /// Stores `count` messages, in threads of ten between changing pairs; all but the newest threads are closed.
    pub fn with_messages(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (now, _) = system_clock();
        let begun = now - Duration::from_millis(count as u64 * 4_000);
        let store = Store::open(&folder.path().join("relay.db"), "", begun).unwrap();
        let (code, tokens) = store.write_blocking(move |tx| furnish(tx, begun)).unwrap();
        let requests: Arc<Vec<McpRequest>> = Arc::new(
            tokens[..WRITERS]
                .iter()
                .map(|(part, secret)| McpRequest {
                    authorization: Some(format!("Bearer {secret}").into_bytes()),
                    code: code.clone(),
                    part: Some(part.clone()),
                })
                .collect(),
        );
        let threads = count / 10;
        for first in (0..threads).step_by(50) {
            let requests = Arc::clone(&requests);
            store
                .write_blocking(move |tx| {
                    (first..(first + 50).min(threads))
                        .try_for_each(|n| thread(tx, &requests, n, n + 20 < threads, begun))
                })
                .unwrap();
        }
        // As in a relay that is in use: what lies in an inbox was shown before.
        let parts = Arc::clone(&requests);
        store
            .write_blocking(move |tx| parts.iter().try_for_each(|part| show_all(tx, part, now)))
            .unwrap();
        Self {
            folder,
            code,
            tokens: Arc::new(tokens),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts `relayroom serve` on it.
    pub fn serve(&self) -> Served {
        let db = self.folder.path().join("relay.db");
        // The port is chosen by asking for a free one and giving it back.
        let address = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_relayroom"))
            .args(["serve", "--listen", &address.to_string(), "--db"])
            .arg(&db)
            .env("HOME", self.folder.path())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env("RELAYROOM_LOG", "warn")
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        Served {
            child,
            address,
            code: self.code.clone(),
            tokens: Arc::clone(&self.tokens),
        }
    }
}

fn furnish(tx: &Tx<'_>, now: Time) -> Outcome<(String, Vec<(String, String)>)> {
    identity::found(tx, "kim", now)?;
    let kim = people::first_owner(tx)?.seq;
    let shop = project::create(tx, kim, "shop", now)?;
    let mut tokens = Vec::with_capacity(PARTS);
    for n in 0..PARTS {
        let owner: UserSeq = people::add(tx, &format!("person {n}"), now)?;
        people::set_member(tx, shop.seq, owner, Level::Write, false, false)?;
        let name = format!("part-{n}");
        part::add(tx, shop.seq, &name, owner, now)?;
        let binding = Binding::Agent {
            project: shop.seq,
            part: name.clone(),
        };
        tokens.push((name, token::issue(tx, owner, &binding, "", None, now)?.0));
    }
    Ok((shop.connect_code, tokens))
}

/// Shows a part all of its inbox.
fn show_all(tx: &Tx<'_>, request: &McpRequest, now: Time) -> Outcome<()> {
    let Ok(access::Entry::Caller(caller)) = access::mcp(tx, request, now)? else {
        panic!("turned away");
    };
    let mut args = InboxArgs::default();
    loop {
        let page = messaging::inbox(tx, &caller, &args, now)?;
        messaging::mark_shown(tx, caller.part, &page.shown, now)?;
        match page.list.items.last() {
            Some(last) => args.before = Some(last.message_id.clone()),
            None => return Ok(()),
        }
    }
}

/// One thread of ten messages, a message every four seconds of the past.
fn thread(
    tx: &Tx<'_>,
    requests: &[McpRequest],
    n: usize,
    closed: bool,
    begun: Time,
) -> Outcome<()> {
    let caller = |index: usize, now: Time| {
        let request = &requests[index % requests.len()];
        match access::mcp(tx, request, now)? {
            Ok(access::Entry::Caller(caller)) => Outcome::Ok(caller),
            other => panic!("{other:?}"),
        }
    };
    let at = |m: usize| begun + Duration::from_millis((n * 10 + m) as u64 * 4_000);
    let (from, to) = (n % WRITERS, (n * 7 + 1) % WRITERS);
    let to = if from == to { (to + 1) % WRITERS } else { to };
    let opener = caller(from, at(0))?;
    let topic = if n.is_multiple_of(97) {
        "rollback plan"
    } else {
        "daily note"
    };
    let sent = messaging::send(
        tx,
        &Author::Part(&opener),
        &SendArgs {
            subject: format!("Thread {n}: {topic}"),
            body: format!(
                "Message 0 of thread {n}. The migration is in; see ticket {}.",
                n * 31
            ),
            to: vec![format!("part-{to}")],
            tags: Vec::new(),
            urgent: false,
            needs_human: false,
            fyi: false,
            idempotency_key: None,
        },
        at(0),
    )?;
    for m in 1..10 {
        let author = caller(if m % 2 == 1 { to } else { from }, at(m))?;
        messaging::reply(
            tx,
            &Author::Part(&author),
            &messaging::ReplyArgs {
                thread_id: sent.thread_id.clone(),
                body: format!("Message {m} of thread {n}, number {}.", n * 10 + m),
                ..messaging::ReplyArgs::default()
            },
            at(m),
        )?;
    }
    if closed {
        messaging::close(
            tx,
            &Author::Part(&opener),
            &messaging::CloseArgs {
                thread_id: sent.thread_id,
                lesson: None,
            },
            at(9),
        )?;
    }
    Ok(())
}

/// A file to send in without a relay.
pub struct Writing {
    store: Store,
    requests: Vec<McpRequest>,
}

impl Writing {
    /// Makes the file, with the same parts as a [`Place`].
    pub fn open(folder: &Path) -> Self {
        let (now, _) = system_clock();
        let store = Store::open(&folder.join("pool.db"), "", now).unwrap();
        let (code, tokens) = store.write_blocking(move |tx| furnish(tx, now)).unwrap();
        let requests = tokens
            .into_iter()
            .map(|(part, secret)| McpRequest {
                authorization: Some(format!("Bearer {secret}").into_bytes()),
                code: code.clone(),
                part: Some(part),
            })
            .collect();
        Self { store, requests }
    }

    /// The `n`th send of [`Served::sends`].
    pub async fn send(&self, n: usize) {
        let request = self.requests[n % PARTS].clone();
        let (now, _) = system_clock();
        self.store
            .write(move |tx| {
                let Ok(access::Entry::Caller(caller)) = access::mcp(tx, &request, now)? else {
                    panic!("turned away");
                };
                let args = SendArgs {
                    subject: format!("Load {n}"),
                    body: load_body(n),
                    to: vec![load_recipient(n)],
                    ..SendArgs::default()
                };
                messaging::send(tx, &Author::Part(&caller), &args, now)
            })
            .await
            .unwrap();
    }
}

fn load_body(n: usize) -> String {
    format!("Is the index on orders still needed? Number {n}.")
}

fn load_recipient(n: usize) -> String {
    format!("part-{}", (n + 1) % PARTS)
}

/// The real relay on a place's file.
pub struct Served {
    child: Child,
    address: SocketAddr,
    code: String,
    tokens: Arc<Vec<(String, String)>>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    /// Waits until a tool call is answered.
    pub async fn first_answer(&self) {
        for _ in 0..10_000 {
            if tokio::net::TcpStream::connect(self.address).await.is_ok() {
                let (path, token, body) = self.call(1, 0, "whoami", "{}");
                Connection::open(self.address)
                    .await
                    .post(&path, &token, &body)
                    .await;
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("the relay did not answer");
    }

    fn call(
        &self,
        id: usize,
        part: usize,
        tool: &str,
        arguments: &str,
    ) -> (String, String, String) {
        request(&self.code, &self.tokens[part], id, tool, arguments)
    }

    /// One tool call, spread over the parts that have mail.
    pub fn load(&self, tool: &str, arguments: &str) -> Load {
        let (code, tokens) = (self.code.clone(), Arc::clone(&self.tokens));
        let (tool, arguments) = (tool.to_owned(), arguments.to_owned());
        Load::new(self.address, move |n| {
            request(&code, &tokens[n % WRITERS], n, &tool, &arguments)
        })
    }

    /// Sends, each part's first twenty of the minute.
    pub fn sends(&self) -> Load {
        let (code, tokens) = (self.code.clone(), Arc::clone(&self.tokens));
        Load::new(self.address, move |n| {
            assert!(n < PARTS * 20, "more sends than the brakes let through");
            let arguments = format!(
                r#"{{"subject":"Load {n}","body":"{}","to":["{}"]}}"#,
                load_body(n),
                load_recipient(n)
            );
            request(&code, &tokens[n % PARTS], n, "send", &arguments)
        })
    }

    /// Lets a poll wait for a part that has no wake, sends to it, and measures from the answer to the send to the answer to the poll.
    pub async fn woken_after_send(&self, n: usize) -> Duration {
        let part = WRITERS + n;
        let poll = |seen: &str, wait: u64| {
            format!(
                r#"{{"pager":"bench","machine":"here","version":"1","wait_ms":{wait},"seen":"{seen}","parts":[{{"code":"{}","part":"{}"}}]}}"#,
                self.code, self.tokens[part].0
            )
        };
        let path = "/api/pager/poll";
        let mut pager = Connection::open(self.address).await;
        let first = pager.post(path, "", &poll("", 0)).await;
        let first: serde_json::Value = serde_json::from_str(&first).unwrap();
        let waiting = poll(first["rev"].as_str().unwrap(), 25_000);
        let answered = tokio::spawn(async move {
            let answer = pager.post(path, "", &waiting).await;
            (Instant::now(), answer)
        });
        // Nothing shows from outside that a poll waits; one that comes late is answered at once and makes the figure no better.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let arguments = format!(
            r#"{{"subject":"Wake {n}","body":"Number {n}.","to":["{}"]}}"#,
            self.tokens[part].0
        );
        let (path, token, body) = self.call(n, part + 1, "send", &arguments);
        Connection::open(self.address)
            .await
            .post(&path, &token, &body)
            .await;
        let sent = Instant::now();
        let (at, answer) = answered.await.unwrap();
        assert!(answer.contains("\"wakeId\""), "{answer}");
        at.saturating_duration_since(sent)
    }

    pub async fn tools_list_bytes(&self) -> usize {
        let (part, token) = &self.tokens[0];
        let answer = Connection::open(self.address)
            .await
            .post(
                &format!("/mcp/{}?part={part}", self.code),
                token,
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            )
            .await;
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        answer["result"].to_string().len()
    }

    /// `VmRSS` of the relay.
    pub fn resident_kib(&self) -> u64 {
        std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .unwrap()
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok())
            .unwrap()
    }
}

fn request(
    code: &str,
    (part, token): &(String, String),
    id: usize,
    tool: &str,
    arguments: &str,
) -> (String, String, String) {
    (
        format!("/mcp/{code}?part={part}"),
        token.clone(),
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ),
    )
}
