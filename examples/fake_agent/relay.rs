//! The agent's side of a relay (`--relay URL --code C --part P`): a turn is told as the CLI's hook tells it, and a wake's line makes the
//! agent look for its mail, which is what consumes a wake.

use std::io::Read;
use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use relayroom::store;
use serde_json::Value;
use serde_json::json;

use crate::knobs::Knobs;

/// A call that fails is made again after this.
const AGAIN: Duration = Duration::from_millis(300);

enum Event {
    Begins(String),
    Ends,
}

/// The thread that talks to the relay, so that drawing never waits.
pub struct Relay {
    events: Sender<Event>,
}

struct Caller {
    address: String,
    code: String,
    part: String,
    provider: &'static str,
    token: Option<PathBuf>,
    hook: bool,
}

impl Relay {
    /// The relay the knobs name, if they name one.
    pub fn of(knobs: &Knobs) -> Option<Self> {
        let url = knobs.relay.as_ref()?;
        let caller = Caller {
            address: url.trim_start_matches("http://").to_owned(),
            code: knobs.code.clone(),
            part: knobs.part.clone(),
            provider: match knobs.style {
                crate::knobs::Style::Claude => "claude",
                crate::knobs::Style::Codex => "codex",
                crate::knobs::Style::Gemini => "gemini",
                crate::knobs::Style::Plain => "plain",
            },
            token: knobs.token.clone(),
            hook: knobs.hook,
        };
        let (events, coming) = mpsc::channel();
        std::thread::spawn(move || {
            for event in coming {
                caller.tell(&event);
            }
        });
        Some(Self { events })
    }

    /// A prompt was submitted.
    pub fn turn_begins(&self, prompt: &str) {
        // Without a thread there is nobody to tell.
        let _ = self.events.send(Event::Begins(prompt.to_owned()));
    }

    /// Its turn ended.
    pub fn turn_ends(&self) {
        let _ = self.events.send(Event::Ends);
    }
}

impl Caller {
    fn tell(&self, event: &Event) {
        match event {
            Event::Begins(prompt) => {
                let tag = tag(prompt);
                self.activity(json!({"kind": "turn_start", "tag": tag, "origin": "human"}));
                if tag.is_some() {
                    self.inbox();
                }
            }
            Event::Ends => self.activity(json!({"kind": "turn_end", "reason": "stop"})),
        }
    }

    fn activity(&self, mut report: Value) {
        if !self.hook {
            return;
        }
        let now = store::system_clock().0.rfc3339();
        for (name, value) in [
            ("code", self.code.as_str()),
            ("part", &self.part),
            ("provider", self.provider),
            ("session", "fake"),
            ("at", &now),
            ("sentAt", &now),
        ] {
            report[name] = value.into();
        }
        self.post("/api/activity", &report);
    }

    fn inbox(&self) {
        let path = format!("/mcp/{}?part={}", self.code, self.part);
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                          "params": {"name": "inbox", "arguments": {}}});
        self.post(&path, &call);
    }

    /// Posts until the relay has it: an agent asks until it gets its mail.
    fn post(&self, path: &str, body: &Value) {
        while self.attempt(path, &body.to_string()).is_none() {
            std::thread::sleep(AGAIN);
        }
    }

    fn attempt(&self, path: &str, body: &str) -> Option<()> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let limit = Some(Duration::from_secs(5));
        stream.set_read_timeout(limit).ok()?;
        let bearer = match &self.token {
            Some(file) => {
                let token = std::fs::read_to_string(file).ok()?;
                format!("authorization: Bearer {}\r\n", token.trim())
            }
            None => String::new(),
        };
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             {bearer}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .ok()?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).ok()?;
        // A refusal would be one the next time too.
        (!answer.ends_with(b"503")).then_some(())
    }
}

/// The tag of a wake's line.
fn tag(prompt: &str) -> Option<&str> {
    prompt
        .trim()
        .strip_prefix("relayroom:")?
        .rsplit_once("(tag ")?
        .1
        .strip_suffix(')')
}
