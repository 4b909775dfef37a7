//! Whether an agent is in front of the terminal (pager.md 4, "Agent present").

use std::collections::HashSet;
use std::collections::VecDeque;

use crate::pager::facts::Process;
use crate::pager::rules::Rules;
use crate::pager::rules::Table;
use crate::pager::rules::Version;

/// The agent's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Name of its rule table: `claude`, `codex`, `gemini`, ….
    pub cli: String,
    /// Its version, where known.
    pub version: Option<String>,
    /// Its process.
    pub pid: i32,
    /// When it started, in milliseconds since the epoch.
    pub start: i64,
    /// Name of its working folder, where known.
    pub folder: Option<String>,
}

/// Why there is no agent: a detail of pager.md 4's table and its evidence.
type NoAgent = (&'static str, String);

/// Finds the agent among the pane's process and its descendants: the nearest one that matches a table, is in the foreground group and runs.
///
/// # Errors
/// `stopped`, `shell` or `other`.
pub fn find(
    rules: &Rules,
    pane_pid: i32,
    processes: &[Process],
    version: Option<&str>,
) -> Result<Agent, NoAgent> {
    let tree = descendants(pane_pid, processes);
    let mut stopped = None;
    for process in &tree {
        let Some(table) = rules
            .cli
            .iter()
            .find(|table| matches(rules, table, process))
        else {
            continue;
        };
        if process.stopped {
            stopped = stopped.or(Some(process.pid));
        } else if process.foreground {
            return Ok(Agent {
                cli: table.name.clone(),
                version: version
                    .map(str::to_string)
                    .or_else(|| version_in_path(process)),
                pid: process.pid,
                start: process.start,
                folder: process.cwd.as_deref().map(|path| base(path).to_string()),
            });
        }
    }
    if let Some(pid) = stopped {
        return Err(("stopped", format!("stopped pid {pid}")));
    }
    let front = tree
        .iter()
        .filter(|p| p.foreground)
        .max_by_key(|p| p.pid == p.pgrp);
    let Some(front) = front else {
        return Err(("other", "no foreground process".into()));
    };
    let shell = names(front).any(|name| rules.shells.iter().any(|shell| shell == name));
    Err((
        if shell { "shell" } else { "other" },
        format!("foreground pid {}", front.pid),
    ))
}

/// The pane's process first, then its children, and so on.
fn descendants(root: i32, processes: &[Process]) -> Vec<&Process> {
    let mut seen = HashSet::from([root]);
    let mut queue: VecDeque<&Process> = processes.iter().filter(|p| p.pid == root).collect();
    let mut tree = Vec::new();
    while let Some(process) = queue.pop_front() {
        tree.push(process);
        queue.extend(
            processes
                .iter()
                .filter(|p| p.ppid == process.pid && seen.insert(p.pid)),
        );
    }
    tree
}

fn matches(rules: &Rules, table: &Table, process: &Process) -> bool {
    if process
        .argv
        .iter()
        .any(|word| table.process_not.contains(word))
    {
        return false;
    }
    let script = script(rules, process);
    let program = process.argv.first().map(String::as_str);
    table
        .process
        .iter()
        .any(|pattern| match pattern.split_once(':') {
            Some(("argv", glob)) => [program, script]
                .into_iter()
                .flatten()
                .any(|word| glob_matches(glob, base(word))),
            Some(("path", glob)) => [process.exe.as_deref(), program, script]
                .into_iter()
                .flatten()
                .any(|path| glob_matches(glob, path)),
            _ => false,
        })
}

/// What an interpreter runs: its first argument that is no option.
fn script<'a>(rules: &Rules, process: &'a Process) -> Option<&'a str> {
    let (program, rest) = process.argv.split_first()?;
    if !rules.interpreters.iter().any(|name| name == base(program)) {
        return None;
    }
    rest.iter()
        .map(String::as_str)
        .find(|word| !word.starts_with('-'))
}

fn names(process: &Process) -> impl Iterator<Item = &str> {
    let program = process
        .argv
        .first()
        .map(|word| base(word).trim_start_matches('-'));
    program.into_iter().chain(process.exe.as_deref().map(base))
}

fn base(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

fn version_in_path(process: &Process) -> Option<String> {
    let path = process.exe.as_deref()?;
    path.split('/')
        .find(|part| {
            part.matches('.').count() >= 2
                && part.starts_with(|c: char| c.is_ascii_digit())
                && Version::parse(part).is_some()
        })
        .map(str::to_string)
}

/// `*` stands for any run of characters.
fn glob_matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut open = false;
    let mut last = first;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        open = true;
        last = part;
    }
    rest.is_empty() || (open && (last.is_empty() || text.ends_with(last)))
}
