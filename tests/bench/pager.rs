//! `cargo bench --bench pager`: the pager's promised numbers (pager.md 10), with the real relay, real tmux and twelve fake agents.
//!
//! Times get the factor 3 of a machine that others use too, counts none. `PAGER_BENCH_IDLE=600` measures the idle pager for the whole ten
//! minutes instead of two. A broken promise ends it with exit code 1.

#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot set up its place has nothing to say"
)]

mod crew;
#[path = "../support"]
mod support {
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod fake_agent;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod http;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod pager;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod process;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod scripted_relay;
    pub mod seat;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod tmux;
    #[expect(dead_code, reason = "shared with the tests")]
    pub mod wait;
}
mod table;

use std::fs;
use std::process::Child;
use std::process::Command;
use std::time::Duration;
use std::time::Instant;

use crew::Crew;
use crew::PANES;
use support::wait::SLACK;
use table::Table;

/// Rounds of the idle figure: each wakes every pane once.
const ROUNDS: usize = 2;
/// How long the idle pager is watched, in seconds.
const IDLE: u64 = 120;
/// Clock ticks of a second in `/proc/<pid>/stat`.
const TICKS: f64 = 100.0;

/// A running pager, killed with the value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() {
    build_agent();
    let mut crew = Crew::new();
    let mut table = Table::default();
    let pager = Running(crew.pager(None).spawn().unwrap());
    idle(&crew, &pager, &mut table);
    latency(&mut crew, &mut table);
    freed(&mut crew, &mut table);
    drop(pager);
    children(&mut crew, &mut table);
    table.end();
}

/// A benchmark's build makes no examples.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo says where it is in its environment"
)]
fn build_agent() {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.args(["build", "--quiet", "--example", "fake_agent"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success());
}

#[expect(
    clippy::disallowed_methods,
    reason = "a run is steered by its environment, not by settings of the relay"
)]
fn idle_seconds() -> u64 {
    let set = std::env::var("PAGER_BENCH_IDLE").ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(IDLE)
}

/// Memory and time of a pager with twelve panes and nothing to do.
fn idle(crew: &Crew, pager: &Running, table: &mut Table) {
    crew.rest();
    let span = idle_seconds();
    let (before, begun) = (ticks(pager), Instant::now());
    std::thread::sleep(Duration::from_secs(span));
    let share = (ticks(pager) - before) / TICKS / begun.elapsed().as_secs_f64();
    let memory = resident_kib(pager);
    table.row(
        &format!("idle, {PANES} panes: memory of the pager"),
        &format!("{:.1} MiB", memory as f64 / 1024.0),
        "at most 15 MiB",
        memory <= 15 * 1024,
    );
    table.row(
        &format!("idle, {PANES} panes, {span} s: processor, tmux's children included"),
        &format!("{:.2} % of a core", share * 100.0),
        "at most 0.2 %",
        // Processor time is a time: on a shared machine caches are cold and children dear.
        share <= 0.002 * f64::from(SLACK),
    );
}

/// From a message stored to its line submitted, panes idle.
fn latency(crew: &mut Crew, table: &mut Table) {
    let mut spans = Vec::new();
    for round in 0..ROUNDS {
        for pane in 0..PANES {
            crew.rest();
            crew.send(pane);
            spans.push(crew.submitted(pane, round + 1));
        }
    }
    spans.sort();
    let (half, most) = (spans[spans.len() / 2], spans[spans.len() * 95 / 100]);
    let within = |span: Duration, limit: f64| span <= Duration::from_secs_f64(limit) * SLACK;
    table.row(
        &format!(
            "message stored to line submitted, idle pane, {} wakes",
            spans.len()
        ),
        &format!(
            "p50 {:.1} s, p95 {:.1} s",
            half.as_secs_f64(),
            most.as_secs_f64()
        ),
        "p50 at most 2.0 s, p95 at most 3.5 s",
        within(half, 2.0) && within(most, 3.5),
    );
}

/// From the end of what held a wake to its line submitted.
fn freed(crew: &mut Crew, table: &mut Table) {
    let mut spans = Vec::new();
    let obstacles = ["dialog", "draft", "mode", "turn"];
    for (pane, what) in obstacles.into_iter().cycle().take(PANES).enumerate() {
        let id = crew.agents[pane].pane.clone();
        put(crew, pane, what, true);
        crew.send(pane);
        crew.rest();
        assert_eq!(crew.agents[pane].submits().len(), ROUNDS, "{what} on {id}");
        put(crew, pane, what, false);
        spans.push(crew.submitted(pane, ROUNDS + 1));
    }
    let most = spans.into_iter().max().unwrap();
    table.row(
        "dialog, draft, mode or turn ends to line submitted",
        &format!("at most {:.1} s", most.as_secs_f64()),
        "at most 5 s",
        most <= Duration::from_secs(5) * SLACK,
    );
}

fn put(crew: &Crew, pane: usize, what: &str, here: bool) {
    let agent = &crew.agents[pane];
    match (what, here) {
        ("dialog", true) => agent.knob("dialog open"),
        ("dialog", false) => agent.knob("dialog close"),
        ("draft", true) => agent.knob("draft merge it only after"),
        ("draft", false) => agent.knob("draft "),
        ("mode", true) => drop(crew.tmux.run(&["copy-mode", "-t", &agent.pane])),
        ("mode", false) => drop(
            crew.tmux
                .run(&["send-keys", "-t", &agent.pane, "-X", "cancel"]),
        ),
        (_, true) => {
            agent.knob("turn 600000");
            agent.knob("turn begin");
        }
        (_, false) => {
            agent.knob("turn 700");
            agent.knob("turn end");
        }
    }
}

/// tmux's children for one wake on the plain path.
fn children(crew: &mut Crew, table: &mut Table) {
    let calls = crew.home.path("calls");
    let _pager = Running(crew.pager(Some(&calls)).spawn().unwrap());
    // The status line is no part of a wake's way.
    let count = || {
        let text = fs::read_to_string(&calls).unwrap_or_default();
        let of_wakes = text
            .lines()
            .filter(|line| !line.contains("@relayroom_status"));
        of_wakes.count()
    };
    let mut most = 0;
    for pane in 0..3 {
        // Past the looks at a pane just found.
        crew.rest();
        // The list of every 20 s is no child of a wake's: right after one there is none for a while.
        let listed = count();
        support::wait::until(Duration::from_secs(60), "a list", || count() > listed);
        std::thread::sleep(Duration::from_secs(2));
        let before = count();
        crew.send(pane);
        crew.submitted(pane, ROUNDS + 2);
        std::thread::sleep(Duration::from_millis(300));
        most = most.max(count() - before);
    }
    table.row(
        "tmux's children from wake to `submitted`, plain path",
        &most.to_string(),
        "at most 4",
        most <= 4,
    );
}

/// Ticks of processor time of a pager and its children so far.
fn ticks(pager: &Running) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pager.0.id())).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = fields.split(' ').collect();
    // User and system time, its own and its children's: fields 14 to 17 of proc(5).
    fields[11..15]
        .iter()
        .map(|field| field.parse::<f64>().unwrap())
        .sum()
}

fn resident_kib(pager: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", pager.0.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap()
}
