//! Which files a run reads (usage.md 3, 4): the session's transcript, wherever it is, and those of its children. Never "the newest file".

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use super::event::Event;
use super::event::Provider;
use super::files::Files;
use super::files::changed_at;
use super::parse::codex;
use crate::config::Env;
use crate::store::Time;

/// How deep folders of children are looked through.
const DEPTH: usize = 8;

/// How much earlier than the last run a file may have been touched to count as touched since: clocks of file systems are coarse.
const MARGIN_MS: i64 = 2_000;

/// The session's transcript: where the CLI says, else the one with the session's id in its name.
#[must_use]
pub fn main(provider: Provider, event: &Event, env: &Env) -> Option<PathBuf> {
    let said = event.transcript.as_ref().filter(|path| is_filled(path));
    said.cloned()
        .or_else(|| by_id(provider, &event.session, env))
}

fn is_filled(path: &Path) -> bool {
    // Opened only if it is a plain file: opening a pipe would wait for its other end.
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
        && fs::File::open(path).is_ok()
}

/// The transcript of a session by its id.
#[must_use]
pub fn by_id(provider: Provider, session: &str, env: &Env) -> Option<PathBuf> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if session.len() < 8 || !session.bytes().all(plain) {
        return None;
    }
    let mut found = match provider {
        Provider::Claude => {
            let projects = root(env, "CLAUDE_CONFIG_DIR", ".claude")?.join("projects");
            let name = format!("{session}.jsonl");
            entries(&projects)
                .map(|project| project.join(&name))
                .collect()
        }
        Provider::Codex => {
            let sessions = root(env, "CODEX_HOME", ".codex")?.join("sessions");
            rollouts(&sessions, session)
        }
        Provider::Gemini => {
            let start: String = session.chars().take(8).collect();
            let chats = entries(&env.path("HOME")?.join(".gemini/tmp"));
            chats
                .flat_map(|project| entries(&project.join("chats")))
                .filter(|path| {
                    let name = name(path);
                    name.starts_with("session-") && name.contains(&start)
                })
                .collect()
        }
    };
    found.retain(|path| is_filled(path));
    found
        .into_iter()
        .max_by_key(|path| fs::metadata(path).map_or(0, |meta| changed_at(&meta)))
}

/// Transcripts of a Codex session below the folder of all days.
fn rollouts(sessions: &Path, session: &str) -> Vec<PathBuf> {
    let end = format!("{session}.jsonl");
    below(sessions, 4, &|name| {
        name.starts_with("rollout-") && name.ends_with(&end)
    })
}

/// The transcript of a session in the place where that of a child is.
#[must_use]
pub fn codex_beside(child: &Path, session: &str) -> Option<PathBuf> {
    let folder = child.parent()?;
    let root = match day_of(folder) {
        Some(_) => folder.ancestors().nth(3)?,
        None => folder,
    };
    rollouts(root, session).into_iter().next()
}

fn root(env: &Env, variable: &str, default: &str) -> Option<PathBuf> {
    env.path(variable)
        .or_else(|| Some(env.path("HOME")?.join(default)))
}

/// Whether the event comes from a child's session, which begins and ends nothing of its parent's.
#[must_use]
pub fn is_child(provider: Provider, event: &Event) -> bool {
    let Some(path) = &event.transcript else {
        return false;
    };
    match provider {
        Provider::Claude => false,
        Provider::Codex => lineage(path).is_some_and(|lineage| lineage.spawned),
        Provider::Gemini => path
            .ancestors()
            .nth(2)
            .is_some_and(|folder| name(folder) == "chats"),
    }
}

/// The transcripts of the session's children, as far as they are beside it or were touched since the last run.
#[must_use]
pub fn children(provider: Provider, main: &Path, session: &str, files: &Files) -> Vec<PathBuf> {
    match provider {
        Provider::Claude => below(&main.with_extension("").join("subagents"), DEPTH, &|name| {
            name.starts_with("agent-") && name.ends_with(".jsonl")
        }),
        Provider::Codex => spawned(main, session, files),
        Provider::Gemini => {
            let folder = main.parent().map(|chats| chats.join(session));
            folder.map_or_else(Vec::new, |folder| {
                below(&folder, DEPTH, &|name| {
                    name.ends_with(".jsonl") || name.ends_with(".json")
                })
            })
        }
    }
}

/// Codex keeps children beside their parents, by day; the first line of each names its parent.
fn spawned(main: &Path, session: &str, files: &Files) -> Vec<PathBuf> {
    let since = files.last_run - MARGIN_MS;
    let touched = days(main, Time(files.last_run))
        .into_iter()
        .flat_map(|day| entries(&day).collect::<Vec<_>>())
        .filter(|path| path != main && name(path).starts_with("rollout-"))
        .filter(|path| {
            fs::metadata(path).is_ok_and(|meta| changed_at(&meta) / 1_000_000 >= i128::from(since))
        });
    let mut open: Vec<_> = touched
        .filter_map(|path| Some((lineage(&path)?, path)))
        .collect();
    let mut family = HashSet::from([session.to_owned()]);
    let mut found = Vec::new();
    loop {
        let (kin, rest): (Vec<_>, Vec<_>) = open
            .into_iter()
            .partition(|(lineage, _)| family.contains(&lineage.parent));
        if kin.is_empty() {
            return found;
        }
        open = rest;
        for (lineage, path) in kin {
            family.insert(lineage.session);
            found.push(path);
        }
    }
}

/// The folders of the days since the later of the parent's day and the one before the last run: nothing else can hold a child that is not
/// known.
fn days(main: &Path, last_run: Time) -> Vec<PathBuf> {
    let Some(day) = main.parent() else {
        return Vec::new();
    };
    let Some(root) = day.ancestors().nth(3).filter(|_| day_of(day).is_some()) else {
        return vec![day.to_owned()];
    };
    let before = Time(last_run.0 - 86_400_000).rfc3339();
    let from = day_of(day).max(before.get(..10).map(|day| day.replace('-', "/")));
    let mut days: Vec<PathBuf> = entries(root)
        .flat_map(|year| entries(&year).collect::<Vec<_>>())
        .flat_map(|month| entries(&month).collect::<Vec<_>>())
        .filter(|folder| day_of(folder) >= from)
        .collect();
    days.sort();
    days
}

/// `2026/11/30`, if the folder's path ends like that.
fn day_of(folder: &Path) -> Option<String> {
    let parts: Vec<String> = folder.ancestors().take(3).map(name).collect();
    let [day, month, year] = parts.try_into().ok()?;
    let digits =
        |text: &str, length| text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    (digits(&year, 4) && digits(&month, 2) && digits(&day, 2))
        .then(|| format!("{year}/{month}/{day}"))
}

fn lineage(path: &Path) -> Option<codex::Lineage> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    codex::lineage(fs::File::open(path).ok()?)
}

fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

/// Files below a folder whose name fits, without following links.
fn below(folder: &Path, depth: usize, fits: &impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        if meta.is_dir() && depth > 1 {
            found.extend(below(&path, depth - 1, fits));
        } else if meta.is_file() && fits(&name(&path)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5e551011-0000-4000-8000-000000000001";

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn meta(id: &str, parent: &str) -> String {
        format!(
            "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"forked_from_id\":\"{parent}\"}}}}\n"
        )
    }

    #[test]
    fn usage_016_a_session_is_found_by_its_id_in_the_place_of_its_cli() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", home.path().to_str().unwrap())], home.path());
        for (provider, place) in [
            (
                Provider::Claude,
                format!(".claude/projects/-shop/{ID}.jsonl"),
            ),
            (
                Provider::Codex,
                format!(".codex/sessions/2026/11/30/rollout-2026-11-30T18-52-48-{ID}.jsonl"),
            ),
            (
                Provider::Gemini,
                ".gemini/tmp/shop/chats/session-2026-11-30T18-52-5e551011.jsonl".to_owned(),
            ),
        ] {
            assert_eq!(by_id(provider, ID, &env), None);
            let path = home.path().join(place);
            write(&path, "x\n");
            assert_eq!(by_id(provider, ID, &env), Some(path));
            for other in ["", "short", "../../../etc/passwd", "5e551012-0000"] {
                assert_eq!(by_id(provider, other, &env), None, "{other}");
            }
        }
    }

    #[test]
    fn usage_008_children_of_children_are_found_in_the_days_that_can_hold_them() {
        let root = tempfile::tempdir().unwrap();
        let day = |day: &str| root.path().join("sessions/2026/11").join(day);
        let main = day("28").join("rollout-x-main0000.jsonl");
        write(&main, "x\n");
        let file = |on: &str, id: &str, parent: &str| {
            let path = day(on).join(format!("rollout-x-{id}.jsonl"));
            write(&path, &meta(id, parent));
            path
        };
        file("27", "before00", "main0000");
        file("30", "stranger", "another0");
        let child = file("29", "child000", "main0000");
        let grandchild = file("28", "grand000", "child000");
        let mut files = Files::default();
        let find = |files: &Files| {
            let mut found = children(Provider::Codex, &main, "main0000", files);
            found.sort();
            found
        };
        assert_eq!(find(&files), [grandchild, child.clone()]);
        // As if a run had read on the 30th: what is left of the days before is known.
        files.last_run = Time::parse("2026-11-30T12:00:00Z").unwrap().0;
        assert_eq!(find(&files), [child]);
        assert_eq!(
            codex_beside(&main, "before00"),
            Some(day("27").join("rollout-x-before00.jsonl"))
        );
    }
}
