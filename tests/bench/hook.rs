//! `cargo bench --bench hook`: what the hook takes of an agent's time and of the machine's memory (usage.md 11).
//!
//! Each figure is the real program, from exec to exit, with the real relay on loopback. Times are promised for a machine of one's own: one
//! that is shared may take three times as long.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set up its place has nothing to say"
)]

mod table;

use std::fs;
use std::io::BufWriter;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use relayroom::identity;
use relayroom::identity::part;
use relayroom::identity::people;
use relayroom::identity::project;
use relayroom::store::Store;
use relayroom::store::system_clock;
use table::Table;

/// How much longer a shared machine may take.
const SHARED: u32 = 3;

/// Runs of each figure in milliseconds.
const RUNS: usize = 300;

/// Most memory of a run, in KiB.
const MEMORY: u64 = 24 * 1024;

const MIB: usize = 1 << 20;

fn main() {
    let mut table = Table::default();
    let place = Place::serve();
    outside(&mut table, &place);
    turns(&mut table, &place);
    long_line(&mut table, &place);
    large(&mut table, &place);
    table.end();
}

/// A folder nobody joined.
fn outside(table: &mut Table, place: &Place) {
    let event = event(
        "Stop",
        &place.path("elsewhere"),
        "s-outside",
        &place.path("none"),
        "t",
    );
    let spans = sorted((0..RUNS).map(|_| place.run(&event).span).collect());
    let p50 = spans[RUNS / 2];
    table.row(
        "hook outside a joined folder, p50",
        &ms(p50),
        "at most 5 ms",
        p50 <= Duration::from_millis(5) * SHARED,
    );
}

/// Turns of a session whose transcript has 10 MB: both events of each.
fn turns(table: &mut Table, place: &Place) {
    let transcript = place.path("ten.jsonl");
    fill(&transcript, 10 * MIB, 20_000, "ten");
    let mut spans = Vec::new();
    for n in 0..=RUNS / 2 {
        let turn = format!("turn-{n}");
        let fire = |name: &str| {
            let event = event(name, &place.path("shop"), "s-ten", &transcript, &turn);
            place.run(&event).span
        };
        let begun = fire("UserPromptSubmit");
        append(&transcript, &turn, &format!("ten-turn-{n}"));
        let ended = fire("Stop");
        // The first turn also reads what was there before.
        if n > 0 {
            spans.extend([begun, ended]);
        }
    }
    let spans = sorted(spans);
    let (p50, p99) = (spans[spans.len() / 2], spans[spans.len() * 99 / 100]);
    table.row(
        "hook of a turn, relay on loopback, 10 MB transcript, p50 and p99",
        &format!("{} and {}", ms(p50), ms(p99)),
        "at most 15 and 60 ms",
        p50 <= Duration::from_millis(15) * SHARED && p99 <= Duration::from_millis(60) * SHARED,
    );
}

/// One line of 20 MB between two others.
fn long_line(table: &mut Table, place: &Place) {
    let transcript = place.path("long.jsonl");
    let text = "x".repeat(20 * MIB);
    let long = reply("long-1").replace("\"uuid\"", &format!("\"text\":\"{text}\",\"uuid\""));
    fs::write(
        &transcript,
        format!("{}{long}{}", reply("long-0"), reply("long-2")),
    )
    .unwrap();
    let run = place.run(&event(
        "SessionEnd",
        &place.path("shop"),
        "s-long",
        &transcript,
        "t",
    ));
    let rows = place.rows("long-");
    table.row(
        "hook with a line of 20 MB: time, memory, replies of 3",
        &format!("{}, {}, {rows}", ms(run.span), mib(run.memory)),
        "below 2 s, at most 24 MiB, all",
        run.span < Duration::from_secs(2) * SHARED && run.memory <= MEMORY && rows == 3,
    );
}

/// A transcript of 1 GB that was never read before.
fn large(table: &mut Table, place: &Place) {
    let transcript = place.path("large.jsonl");
    let written = fill(&transcript, 1_024 * MIB, 64 << 10, "large");
    let event = event("Stop", &place.path("shop"), "s-large", &transcript, "t");
    let (mut runs, mut slowest, mut memory) = (0, Duration::ZERO, 0);
    while place.rows("large-") < written && runs < 50 {
        let run = place.run(&event);
        runs += 1;
        slowest = slowest.max(run.span);
        memory = memory.max(run.memory);
    }
    let rows = place.rows("large-");
    table.row(
        "hook with 1 GB never read before: runs, slowest, memory, replies",
        &format!(
            "{runs}, {}, {}, {rows} of {written}",
            ms(slowest),
            mib(memory)
        ),
        "each below 2 s, at most 24 MiB, all in the end",
        slowest < Duration::from_secs(2) * SHARED && memory <= MEMORY && rows == written,
    );
}

/// One run of the hook.
struct Run {
    span: Duration,
    /// The most that was resident, in KiB.
    memory: u64,
}

/// A relay, and a worktree joined to it.
struct Place {
    folder: tempfile::TempDir,
    relay: Child,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.relay.kill();
        let _ = self.relay.wait();
    }
}

impl Place {
    fn serve() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("relay.db");
        let (now, _) = system_clock();
        let store = Store::open(&db, "", now).unwrap();
        let code = store
            .write_blocking(move |tx| {
                identity::found(tx, "kim", now)?;
                let kim = people::first_owner(tx)?.seq;
                let shop = project::create(tx, kim, "shop", now)?;
                part::add(tx, shop.seq, "web", kim, now)?;
                Ok(shop.connect_code)
            })
            .unwrap();
        drop(store);
        // The port is chosen by asking for a free one and giving it back.
        let address = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap();
        let config = folder.path().join("shop/.relayroom/config.toml");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::create_dir_all(folder.path().join("elsewhere")).unwrap();
        fs::write(
            &config,
            format!("server = \"http://{address}\"\ncode = {code:?}\npart = \"web\"\n"),
        )
        .unwrap();
        fs::set_permissions(&config, fs::Permissions::from_mode(0o600)).unwrap();
        let relay = Command::new(env!("CARGO_BIN_EXE_relayroom"))
            .args(["serve", "--listen", &address.to_string(), "--db"])
            .arg(&db)
            .env_clear()
            .env("HOME", folder.path())
            .env("RELAYROOM_LOG", "warn")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "no relay");
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { folder, relay }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, event: &str) -> Run {
        let begun = Instant::now();
        let mut child = Command::new(env!("CARGO_BIN_EXE_relayroom"))
            .args(["hook", "claude"])
            .env_clear()
            .env("HOME", self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(event.as_bytes())
            .unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut memory = 0;
        while child.try_wait().unwrap().is_none() {
            memory = resident(&status).unwrap_or(memory);
            std::thread::sleep(Duration::from_micros(500));
        }
        Run {
            span: begun.elapsed(),
            memory,
        }
    }

    /// Replies in the relay's file whose key begins like that.
    fn rows(&self, prefix: &str) -> usize {
        let file = rusqlite::Connection::open(self.path("relay.db")).unwrap();
        let count = "SELECT count(*) FROM usage_row WHERE key LIKE ?1 || '%'";
        let rows: i64 = file.query_row(count, [prefix], |row| row.get(0)).unwrap();
        usize::try_from(rows).unwrap()
    }
}

fn resident(status: &str) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn event(name: &str, cwd: &Path, session: &str, transcript: &Path, turn: &str) -> String {
    serde_json::json!({
        "session_id": session, "transcript_path": transcript, "cwd": cwd, "prompt_id": turn,
        "hook_event_name": name, "prompt": "go on",
    })
    .to_string()
}

fn reply(id: &str) -> String {
    let line = serde_json::json!({
        "type": "assistant", "uuid": id, "timestamp": "2026-11-30T19:00:00.000Z", "message": {
            "id": id, "model": "claude-large", "stop_reason": "end_turn",
            "usage": {"input_tokens": 4, "output_tokens": 1},
        },
    });
    format!("{line}\n")
}

fn append(transcript: &Path, turn: &str, id: &str) {
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(transcript)
        .unwrap();
    let prompt =
        serde_json::json!({"type": "user", "promptId": turn, "message": {"content": "go on"}});
    write!(file, "{prompt}\n{}", reply(id)).unwrap();
}

/// Writes a transcript of `length` bytes: results of tools of `filler` bytes, a reply after each. Returns how many replies.
fn fill(transcript: &Path, length: usize, filler: usize, prefix: &str) -> usize {
    let result = serde_json::json!({
        "type": "user", "promptId": "t", "message": {"content": "x".repeat(filler)},
    });
    let mut file = BufWriter::new(fs::File::create(transcript).unwrap());
    let (mut written, mut replies) = (0, 0);
    while written < length {
        let lines = format!("{result}\n{}", reply(&format!("{prefix}-{replies}")));
        file.write_all(lines.as_bytes()).unwrap();
        written += lines.len();
        replies += 1;
    }
    file.flush().unwrap();
    replies
}

fn sorted(mut spans: Vec<Duration>) -> Vec<Duration> {
    spans.sort_unstable();
    spans
}

fn ms(span: Duration) -> String {
    format!("{:.1} ms", span.as_secs_f64() * 1e3)
}

fn mib(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}
