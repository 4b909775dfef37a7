//! The recorded transcripts: whole and cut after each line, read as lines and as streams.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::*;

fn scenarios(provider: Provider) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/transcripts")
        .join(provider.word());
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
        .collect();
    all.sort();
    all
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(transcripts(&path));
        } else if path.extension().is_some_and(|kind| kind == "jsonl") {
            found.push(path);
        }
    }
    found
}

fn truth(path: &Path) -> [u64; 6] {
    let table: toml::Table = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let main = table["main"].as_table().unwrap();
    let number = |name: &str| u64::try_from(main[name].as_integer().unwrap()).unwrap();
    [
        number("input_tokens"),
        number("cache_read_tokens"),
        number("cache_write_tokens"),
        number("cache_write_1h_tokens"),
        number("output_tokens"),
        number("reasoning_tokens"),
    ]
}

#[test]
fn usage_049_every_recorded_transcript_comes_to_what_the_server_handed_out() {
    let mut seen = 0;
    for provider in [Provider::Claude, Provider::Codex, Provider::Gemini] {
        for scenario in scenarios(provider) {
            let mut lines_sum = [0; 6];
            let mut streams_sum = [0; 6];
            for transcript in transcripts(&scenario.with_extension("")) {
                let text = fs::read_to_string(&transcript).unwrap();
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                let outcome = read(provider, &lines);
                assert_eq!(outcome.skipped.get("broken"), None);
                assert_eq!(outcome.skipped.get("unknown"), None);
                let rows = outcome.rows.values();
                assert!(rows.clone().all(|row| !row.model.is_empty()));
                let named = provider != Provider::Gemini;
                assert!(rows.clone().all(|row| row.turn.is_some() == named));
                let turn = rows.last().and_then(|row| row.turn.clone());
                let place = transcript.to_string_lossy();
                let unsettled = place.contains("denied") || place.contains("subagents");
                assert!(
                    unsettled || outcome.state.is_settled(turn.as_deref()),
                    "{}",
                    transcript.display()
                );
                let streamed = streamed(provider, &lines);
                assert_eq!(streamed.rows, outcome.rows);
                for place in 0..6 {
                    lines_sum[place] += outcome.sums()[place];
                    streams_sum[place] += streamed.sums()[place];
                }
            }
            let mut expected = truth(&scenario);
            if scenario.to_string_lossy().contains("2.1.332-interrupted") {
                // The CLI writes the usage a broken-off reply began with.
                expected = [117, 2170, 419, 37, 1, 0];
            }
            assert_eq!(lines_sum[..5], expected[..5], "{}", scenario.display());
            if provider != Provider::Claude {
                assert_eq!(lines_sum[5], expected[5], "{}", scenario.display());
            }
            assert_eq!(streams_sum, lines_sum);
            seen += 1;
        }
    }
    assert_eq!(seen, 26, "a scenario is missing");
}
