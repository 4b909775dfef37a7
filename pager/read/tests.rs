//! Every captured screen, and every pattern, judged by what it reads as.

use std::collections::BTreeSet;

use super::Standing;
use super::fixture;
use super::fixture::NOW;
use super::fixture::Variant;
use super::fixture::reads;
use super::fixture::still;
use super::verdict;
use crate::pager::facts::Facts;
use crate::pager::facts::Turn;
use crate::pager::rules::Rules;
use crate::pager::screen::Screen;

/// A screen, what the hook says, and what it must read as.
struct Case {
    name: String,
    cli: String,
    facts: Facts,
    turn: Turn,
    reads: String,
}

fn cases() -> Vec<Case> {
    let expected = fixture::expected();
    let plain = expected.screens.iter().map(|(name, reads)| Variant {
        claim: name.clone(),
        of: name.clone(),
        reads: reads.clone(),
        ..Variant::default()
    });
    let untouched = |variant: &Variant| variant.claim == variant.of;
    plain
        .chain(expected.variant.clone())
        .map(|variant| Case {
            name: format!("{} ({})", variant.claim, variant.of),
            cli: variant.of.split('/').next().unwrap().to_string(),
            facts: if untouched(&variant) {
                fixture::facts(&variant.of)
            } else {
                variant.facts()
            },
            turn: variant.turn(),
            reads: variant.reads,
        })
        .collect()
}

fn read_as(name: &str) -> String {
    let rules = Rules::shipped();
    reads(&still(&rules, &fixture::facts(name), &Turn::default()))
}

#[test]
fn every_captured_screen_reads_as_expected() {
    let rules = Rules::shipped();
    let wrong: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let verdict = still(&rules, &case.facts, &case.turn);
            let found = reads(&verdict);
            (found != case.reads).then(|| {
                format!(
                    "{}: {found}, not {}; {}",
                    case.name, case.reads, verdict.evidence
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_captured_screen_is_listed_and_every_verdict_of_a_cli_is_held_by_one() {
    let mut files = BTreeSet::new();
    for cli in ["claude", "codex", "gemini"] {
        for entry in std::fs::read_dir(fixture::folder().join(cli)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            files.extend(
                name.strip_suffix(".ansi")
                    .map(|name| format!("{cli}/{name}")),
            );
        }
    }
    let listed: BTreeSet<String> = fixture::expected().screens.into_keys().collect();
    assert_eq!(files, listed);
    let held: BTreeSet<(String, String)> = cases()
        .iter()
        .map(|case| {
            (
                case.cli.clone(),
                case.reads.split('/').next().unwrap().to_string(),
            )
        })
        .collect();
    for cli in ["claude", "codex", "gemini"] {
        for kind in [
            "no_agent", "mode", "dialog", "busy", "draft", "unknown", "ready",
        ] {
            assert!(
                held.contains(&(cli.to_string(), kind.to_string())),
                "no screen of {cli} reads {kind}"
            );
        }
    }
}

/// Takes out, one at a time, every pattern of a table that may be missing.
fn reduced_tables() -> Vec<(String, String, Rules)> {
    let whole: toml::Table = toml::from_str(include_str!("../rules.toml")).unwrap();
    let mut found = Vec::new();
    for (at, table) in whole["cli"].as_array().unwrap().iter().enumerate() {
        let cli = table["name"].as_str().unwrap();
        for path in pattern_paths(table, &[]) {
            let mut reduced = whole.clone();
            remove(&mut reduced["cli"].as_array_mut().unwrap()[at], &path);
            let rules = Rules::parse(&toml::to_string(&reduced).unwrap()).unwrap();
            found.push((cli.to_string(), path.join("."), rules));
        }
    }
    found
}

fn pattern_paths(value: &toml::Value, path: &[String]) -> Vec<Vec<String>> {
    const NO_PATTERN: [&str; 5] = ["name", "versions", "cursor", "glyph", "text"];
    let below = |key: String, value| pattern_paths(value, &[path, &[key]].concat());
    match value {
        toml::Value::String(_) => vec![path.to_vec()],
        toml::Value::Array(items) => items
            .iter()
            .enumerate()
            .flat_map(|(at, item)| below(at.to_string(), item))
            .collect(),
        toml::Value::Table(table) => table
            .iter()
            .filter(|(key, _)| !NO_PATTERN.contains(&key.as_str()))
            .flat_map(|(key, item)| below(key.clone(), item))
            .collect(),
        _ => Vec::new(),
    }
}

fn remove(value: &mut toml::Value, path: &[String]) {
    match (value, path) {
        (toml::Value::Table(table), [key]) => drop(table.remove(key)),
        (toml::Value::Array(items), [at]) => drop(items.remove(at.parse().unwrap())),
        (toml::Value::Table(table), [key, rest @ ..]) => remove(table.get_mut(key).unwrap(), rest),
        (other, path) => panic!("no {path:?} in {other}"),
    }
}

#[test]
fn every_pattern_is_needed_by_a_screen() {
    let cases = cases();
    let reduced = reduced_tables();
    assert!(reduced.len() > 30, "only {} patterns found", reduced.len());
    let idle: Vec<String> = reduced
        .iter()
        .filter(|(cli, _, rules)| {
            let own = || cases.iter().filter(|case| case.cli == *cli);
            own().all(|case| reads(&still(rules, &case.facts, &case.turn)) == case.reads)
        })
        .map(|(cli, path, _)| format!("{cli} {path}"))
        .collect();
    assert!(
        idle.is_empty(),
        "without these every screen reads the same: {idle:?}"
    );
}

#[test]
fn pager_036_numbered_list_right_above_an_empty_composer_is_transcript() {
    for name in [
        "claude/2.1.197-after-list",
        "claude/2.1.332-after-list",
        "codex/0.171.0-after-list",
        "gemini/0.61.0-after-list",
    ] {
        assert_eq!(read_as(name), "ready", "{name}");
    }
}

#[test]
fn pager_037_draft_stays_a_draft_however_long_it_rests() {
    let rules = Rules::shipped();
    let facts = fixture::facts("claude/2.1.332-draft");
    let mut sample = None;
    for rest in [0, 2_000, 180_000, 10_800_000] {
        let verdict = verdict(
            &rules,
            &facts,
            sample.as_ref(),
            &Turn::default(),
            NOW + rest,
        );
        assert!(!verdict.is_ready());
        if rest > 0 {
            assert_eq!(reads(&verdict), "draft/text");
        }
        sample = verdict.sample;
    }
}

/// Our unsent line with `rows` footer rows under the composer.
fn unsent_above_footer(rows: usize) -> Facts {
    let mut facts = fixture::facts("claude/2.1.197-wake-typed");
    let pane = facts.pane.as_mut().unwrap();
    let screen = Screen::parse(&facts.capture.take().unwrap(), pane.width, pane.height).unwrap();
    let composer_end = 17;
    let mut lines: Vec<String> = screen.rows()[..composer_end]
        .iter()
        .map(|row| fixture::render(row.cells()))
        .collect();
    lines.extend((0..rows).map(|row| format!("  hint {row}")));
    pane.height = 36;
    facts.capture = Some(lines.join("\n").into_bytes());
    facts
}

#[test]
fn pager_045_a_counter_of_minutes_is_busy_though_nothing_moves() {
    let mut facts = fixture::facts("codex/0.171.0-busy-waiting");
    let capture = String::from_utf8(facts.capture.take().unwrap()).unwrap();
    let seconds = regex::Regex::new(r"\(\d+s").unwrap();
    assert!(seconds.is_match(&capture));
    let minutes = seconds.replace(&capture, "(2m 03s").into_owned();
    facts.capture = Some(minutes.into_bytes());
    let verdict = fixture::still(&Rules::shipped(), &facts, &Turn::default());
    assert_eq!(reads(&verdict), "busy/marker");
}

#[test]
fn pager_048_case_t27_unsent_line_is_seen_above_any_footer() {
    let rules = Rules::shipped();
    for rows in [0, 3, 8, 12] {
        let verdict = still(&rules, &unsent_above_footer(rows), &Turn::default());
        assert_eq!(
            verdict.composer,
            Standing::OwnLine("kqmwvz".into()),
            "{rows} footer rows"
        );
    }
    let verdict = still(&rules, &unsent_above_footer(13), &Turn::default());
    assert_eq!(reads(&verdict), "unknown/no_composer");
}

#[test]
fn pager_059_wrapped_own_line_is_recognised() {
    let mut facts = fixture::facts("claude/2.1.332-draft-wrapped");
    let pane = facts.pane.as_mut().unwrap();
    let screen = Screen::parse(&facts.capture.take().unwrap(), pane.width, pane.height).unwrap();
    let mut lines: Vec<String> = screen
        .rows()
        .iter()
        .map(|row| fixture::render(row.cells()))
        .collect();
    lines[19] = "❯\u{a0}relayroom: you have mail, call".into();
    lines[20] = "  the inbox tool (tag".into();
    lines[21] = "  kqmwvz)".into();
    facts.capture = Some(lines.join("\n").into_bytes());
    let rules = Rules::shipped();
    let verdict = still(&rules, &facts, &Turn::default());
    assert_eq!(verdict.composer, Standing::OwnLine("kqmwvz".into()));
    assert!(verdict.composer_is("relayroom: you have mail, call the inbox tool (tag kqmwvz)"));
    assert!(!verdict.composer_is("relayroom: you have mail, call the inbox tool (tag bbmvmj)"));
}

#[test]
fn pager_069_echo_in_the_transcript_is_counted_and_unsent_text_is_not() {
    let rules = Rules::shipped();
    let line = "relayroom: you have mail, call the inbox tool (tag kqmwvz)";
    let count = |name: &str| still(&rules, &fixture::facts(name), &Turn::default()).echoes(line);
    assert_eq!(count("claude/2.1.332-wake-typed"), 0);
    assert_eq!(count("claude/2.1.332-after-wake"), 1);
    assert_eq!(count("claude/2.1.197-after-wake"), 1);
    assert_eq!(count("claude/2.1.332-empty"), 0);
}

#[test]
fn pager_089_own_line_in_a_turn_is_busy_and_still_seen() {
    let rules = Rules::shipped();
    for name in [
        "claude/2.1.197-busy-wake-typed",
        "claude/2.1.332-busy-wake-typed",
    ] {
        let verdict = still(&rules, &fixture::facts(name), &Turn::default());
        assert_eq!(reads(&verdict), "busy/marker", "{name}");
        assert!(verdict.composer.is_own_line() && verdict.in_turn() && verdict.looks_busy());
    }
}

#[test]
fn pager_091_cursor_after_the_last_column_is_no_fault() {
    let facts = fixture::facts("codex/0.171.0-dialog-permission");
    let pane = facts.pane.as_ref().unwrap();
    assert_eq!(
        (pane.cursor_x, pane.width, pane.cursor_shown),
        (80, 80, false)
    );
    assert_eq!(read_as("codex/0.171.0-dialog-permission"), "dialog/choice");
}

#[test]
fn evidence_never_quotes_the_screen() {
    let rules = Rules::shipped();
    for case in cases() {
        let verdict = still(&rules, &case.facts, &case.turn);
        let told = format!("{verdict:?}");
        for word in [
            "shortcuts",
            "cart",
            "login page",
            "inbox tool",
            "Fake title",
        ] {
            let told = told.replace(&format!("{:?}", verdict.sample), "");
            assert!(!told.contains(word), "{}: {told}", case.name);
        }
    }
}
