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

impl Agent {
    /// Its version in numbers.
    #[must_use]
    pub fn version_number(&self) -> Option<Version> {
        self.version.as_deref().and_then(Version::parse)
    }

    /// Its rule table: the one for its version.
    #[must_use]
    pub fn table<'r>(&self, rules: &'r Rules) -> Option<&'r Table> {
        rules.table(&self.cli, self.version_number().as_ref())
    }
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
    let Some((start, rest)) = glob.split_once('*') else {
        return glob == text;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|at| glob_matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::read::fixture::process;

    const SHELL: i32 = 100;

    fn running(pid: i32, ppid: i32, argv: &str) -> Process {
        let argv: Vec<String> = argv.split(' ').map(str::to_string).collect();
        process(pid, ppid, SHELL, &argv)
    }

    fn behind(process: Process) -> Process {
        Process {
            foreground: false,
            ..process
        }
    }

    fn stopped(process: Process) -> Process {
        Process {
            stopped: true,
            ..process
        }
    }

    /// `claude 101`, or the detail.
    fn found(processes: &[Process]) -> String {
        match find(&Rules::shipped(), SHELL, processes, None) {
            Ok(agent) => format!("{} {}", agent.cli, agent.pid),
            Err((detail, _)) => detail.to_string(),
        }
    }

    #[test]
    fn pager_055_case_t13_agents_are_found_however_they_were_started() {
        let shell = || behind(running(SHELL, 1, "-bash"));
        let table: [(&str, Vec<Process>); 9] = [
            (
                "claude 101",
                vec![
                    running(SHELL, 1, "bash -c cd"),
                    running(101, SHELL, "./claude"),
                ],
            ),
            (
                "claude 100",
                vec![running(SHELL, 1, "claude --permission-mode default")],
            ),
            (
                "claude 101",
                vec![shell(), running(101, SHELL, "/home/dev/.local/bin/claude")],
            ),
            (
                "gemini 101",
                vec![
                    shell(),
                    running(101, SHELL, "node /home/dev/bin/gemini"),
                    running(
                        102,
                        101,
                        "/opt/node --max-old-space-size=9 /home/dev/bin/gemini",
                    ),
                ],
            ),
            (
                "gemini 102",
                vec![
                    shell(),
                    running(101, SHELL, "npm exec gemini"),
                    running(102, 101, "node /x/.bin/gemini"),
                ],
            ),
            (
                "codex 101",
                vec![shell(), running(101, SHELL, "/opt/vendor/bin/codex")],
            ),
            (
                "codex 101",
                vec![
                    shell(),
                    running(101, SHELL, "node /usr/bin/codex"),
                    running(102, 101, "/opt/vendor/bin/codex"),
                ],
            ),
            (
                "claude 101",
                vec![
                    shell(),
                    running(101, SHELL, "claude"),
                    running(102, 101, "vim draft.md"),
                ],
            ),
            (
                "codex 101",
                vec![
                    shell(),
                    running(101, SHELL, "codex"),
                    behind(running(102, 1, "codex app-server")),
                ],
            ),
        ];
        for (expected, processes) in table {
            assert_eq!(found(&processes), expected, "{processes:?}");
        }
    }

    #[test]
    fn pager_054_what_is_no_agent_says_what_it_is() {
        let shell = || running(SHELL, 1, "-zsh");
        let back = || behind(shell());
        let table: [(&str, Vec<Process>); 9] = [
            ("shell", vec![shell()]),
            (
                "shell",
                vec![shell(), behind(running(101, SHELL, "claude"))],
            ),
            ("other", vec![back(), running(101, SHELL, "vim claude")]),
            (
                "other",
                vec![back(), running(101, SHELL, "less /x/bin/codex")],
            ),
            ("other", vec![back(), running(101, SHELL, "ssh vm claude")]),
            ("other", vec![back(), running(101, SHELL, "sleep 100")]),
            (
                "other",
                vec![back(), running(101, SHELL, "node server.js gemini")],
            ),
            (
                "other",
                vec![back(), behind(running(101, SHELL, "codex app-server"))],
            ),
            ("shell", vec![shell(), running(201, 200, "claude")]),
        ];
        for (expected, processes) in table {
            assert_eq!(found(&processes), expected, "{processes:?}");
        }
    }

    #[test]
    fn pager_056_a_stopped_agent_is_no_agent() {
        let suspended = [
            running(SHELL, 1, "-bash"),
            stopped(behind(running(101, SHELL, "claude"))),
        ];
        assert_eq!(found(&suspended), "stopped");
        let signalled = [
            behind(running(SHELL, 1, "-bash")),
            stopped(running(101, SHELL, "claude")),
        ];
        assert_eq!(found(&signalled), "stopped");
    }

    #[test]
    fn a_process_that_is_its_own_ancestor_ends_the_walk() {
        assert_eq!(
            found(&[running(SHELL, 101, "-bash"), running(101, SHELL, "sleep 1")]),
            "shell"
        );
    }

    #[test]
    fn the_version_comes_from_the_caller_or_from_the_path() {
        let native = Process {
            exe: Some("/home/dev/.local/share/claude/versions/2.1.34".into()),
            ..running(SHELL, 1, "claude")
        };
        let rules = Rules::shipped();
        let version = |given| {
            find(&rules, SHELL, std::slice::from_ref(&native), given)
                .unwrap()
                .version
        };
        assert_eq!(version(None).as_deref(), Some("2.1.34"));
        assert_eq!(version(Some("2.1.35")).as_deref(), Some("2.1.35"));
    }

    #[test]
    fn globs_match_whole_texts() {
        let table = [
            ("claude", "claude", true),
            ("claude", "claude2", false),
            ("*/claude-code/*", "/usr/lib/claude-code/cli.js", true),
            ("*/claude-code/*", "/usr/lib/claude-coder/cli.js", false),
            ("*.js", "a.js.js", true),
            ("*.js", "a.jsx", false),
            ("a*a", "a", false),
            ("*", "", true),
        ];
        for (glob, text, expected) in table {
            assert_eq!(glob_matches(glob, text), expected, "{glob} {text}");
        }
    }
}
