//! Transcripts as rows: the cases of usage.md 12 by their number, and the recorded transcripts with their true sums.

mod claude;
mod codex;
mod fixtures;
mod gemini;

use std::collections::BTreeMap;

use super::Context;
use super::Rows;
use super::State;
use crate::api::hook::UsageRow;
use crate::hook::event::Provider;

/// What lines came to.
#[derive(Debug, Clone)]
struct Outcome {
    rows: BTreeMap<String, UsageRow>,
    skipped: BTreeMap<String, u64>,
    state: State,
}

impl Outcome {
    /// Input, cache read, cache write, of it for an hour, output, reasoning.
    fn sums(&self) -> [u64; 6] {
        let mut sums = [0; 6];
        for row in self.rows.values() {
            for (sum, value) in sums.iter_mut().zip(counts(row)) {
                *sum += value;
            }
        }
        sums
    }
}

fn counts(row: &UsageRow) -> [u64; 6] {
    [
        row.input_tokens,
        row.cache_read_tokens,
        row.cache_write_tokens,
        row.cache_write_1h_tokens,
        row.output_tokens,
        row.reasoning_tokens,
    ]
}

fn context() -> Context {
    Context {
        session: "session".to_owned(),
        now: "2026-11-30T20:00:00.000Z".to_owned(),
        ..Context::default()
    }
}

/// Reads lines as runs do: those without the needle are not looked at, and between two runs the state is a file.
fn runs(provider: Provider, context: &Context, runs: &[&[String]]) -> Outcome {
    let mut state = State::new(provider);
    // Two runs post into one ledger, which keeps the larger numbers: one collection does the same.
    let mut rows = Rows::since(None);
    for lines in runs {
        state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        for line in *lines {
            if state.needle().unwrap().is_match(line.as_bytes()) {
                state.line(line.as_bytes(), context, &mut rows);
            }
        }
    }
    let (rows, skipped) = rows.take();
    Outcome {
        rows: rows.into_iter().map(|row| (row.key.clone(), row)).collect(),
        skipped,
        state,
    }
}

/// Reads lines in one run, and makes sure that any two runs come to the same.
#[track_caller]
fn read_in(provider: Provider, context: &Context, lines: &[String]) -> Outcome {
    let whole = runs(provider, context, &[lines]);
    for cut in 0..lines.len() {
        let parts = runs(provider, context, &[&lines[..cut], &lines[cut..]]);
        assert_eq!(parts.rows, whole.rows, "cut after line {cut}");
        assert_eq!(parts.state, whole.state, "cut after line {cut}");
    }
    whole
}

#[track_caller]
fn read(provider: Provider, lines: &[String]) -> Outcome {
    read_in(provider, &context(), lines)
}

/// The same lines as one stream each.
fn streamed(provider: Provider, lines: &[String]) -> Outcome {
    let mut state = State::new(provider);
    let mut rows = Rows::since(None);
    for line in lines {
        if state
            .stream(line.as_bytes(), &context(), &mut rows)
            .is_err()
        {
            rows.skip("broken");
        }
    }
    let (rows, skipped) = rows.take();
    Outcome {
        rows: rows.into_iter().map(|row| (row.key.clone(), row)).collect(),
        skipped,
        state,
    }
}
