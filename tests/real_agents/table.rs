//! What was seen of all wakes, as a Markdown table. Tests run in processes of their own, so each writes a file, and renders the table anew
//! from all of them.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::agent::Agent;
use crate::ledger::Wake;

/// A wake, when its line reached the model, and when what had held it was gone.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Seen {
    pub wake: Wake,
    pub submitted: i64,
    pub freed: Option<i64>,
}

impl Seen {
    /// Milliseconds from the time nothing was in the way to the line submitted.
    pub fn span(&self) -> i64 {
        self.submitted - self.freed.unwrap_or(self.wake.stored)
    }
}

/// What one test saw.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    cli: String,
    version: String,
    tmux: String,
    seen: Vec<Seen>,
    stray: usize,
    /// Why the CLI was not tested.
    missing: Option<String>,
}

/// The record that says that there is nothing to record.
const MISSING: &str = "missing";

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("real_agents");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Enters what a test saw.
pub fn enter(agent: Agent, scenario: &str, tmux: &str, seen: &[Seen], stray: usize) {
    write(
        agent,
        scenario,
        &Record {
            cli: agent.name().to_owned(),
            version: agent.version().to_owned(),
            tmux: tmux.to_owned(),
            seen: seen.to_vec(),
            stray,
            missing: None,
        },
    );
}

/// Enters that a CLI could not be had.
pub fn not_tested(agent: Agent, why: &str) {
    write(
        agent,
        MISSING,
        &Record {
            cli: agent.name().to_owned(),
            version: agent.version().to_owned(),
            missing: Some(why.lines().next().unwrap_or_default().to_owned()),
            ..Record::default()
        },
    );
}

fn write(agent: Agent, scenario: &str, record: &Record) {
    let folder = folder();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let place = |scenario: &str| folder.join(format!("{}.{scenario}.json", agent.pin()));
    if record.missing.is_none() {
        let _ = fs::remove_file(place(MISSING));
    }
    fs::write(
        place(scenario),
        serde_json::to_string_pretty(record).unwrap(),
    )
    .unwrap();
    let mut records: BTreeMap<(String, String), Vec<Record>> = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            let text = fs::read_to_string(path).unwrap();
            // One of an older form was left by an earlier state of these tests.
            let Ok(record) = serde_json::from_str::<Record>(&text) else {
                continue;
            };
            let key = (record.cli.clone(), record.version.clone());
            records.entry(key).or_default().push(record);
        }
    }
    let rows: Vec<String> = records.values().map(|all| row(all)).collect();
    let text = format!("{HEAD}{}\n", rows.join("\n"));
    fs::write(folder.join("table.md"), text).unwrap();
}

const HEAD: &str = "\
| CLI | version | tmux | wakes | consumed | stray keys | stored → submitted, idle: p50 | p95 | freed → submitted: p50 | p95 |
|---|---|---|---|---|---|---|---|---|---|
";

fn row(records: &[Record]) -> String {
    let first = &records[0];
    if let Some(why) = records.iter().find_map(|record| record.missing.as_ref()) {
        return format!("| {} | {} | not tested: {why} |", first.cli, first.version);
    }
    let seen: Vec<&Seen> = records.iter().flat_map(|record| &record.seen).collect();
    let consumed = seen
        .iter()
        .filter(|seen| seen.wake.consumed.is_some())
        .count();
    let stray: usize = records.iter().map(|record| record.stray).sum();
    let (freed, idle): (Vec<&Seen>, Vec<&Seen>) =
        seen.iter().partition(|seen| seen.freed.is_some());
    let (freed, idle) = (spans(&freed), spans(&idle));
    format!(
        "| {} | {} | {} | {} | {consumed} | {stray} | {} | {} | {} | {} |",
        first.cli,
        first.version,
        first.tmux,
        seen.len(),
        seconds(&idle, 50),
        seconds(&idle, 95),
        seconds(&freed, 50),
        seconds(&freed, 95),
    )
}

fn spans(all: &[&Seen]) -> Vec<i64> {
    let mut all: Vec<i64> = all.iter().map(|seen| seen.span()).collect();
    all.sort_unstable();
    all
}

/// The nearest-rank percentile of sorted milliseconds.
pub fn percentile(sorted: &[i64], percent: usize) -> Option<i64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn seconds(sorted: &[i64], percent: usize) -> String {
    percentile(sorted, percent).map_or_else(
        || "–".to_owned(),
        |span| format!("{:.1} s", span as f64 / 1_000.0),
    )
}
