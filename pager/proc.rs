//! Processes under a pane, read from `/proc`: the kernel is asked, never `ps` (pager.md 1 and 4, "Agent present").
//!
//! Where there is no `/proc` nothing is known of any process, and so nothing is typed.

use std::collections::HashMap;
use std::fs;

use super::facts::Process;

/// Ticks per second of the times in `/proc/<pid>/stat`: fixed by Linux's interface for programs, whatever the kernel's own clock.
const TICKS_PER_SECOND: i64 = 100;

/// All processes at one instant.
#[derive(Debug, Default)]
pub struct Snapshot {
    stats: HashMap<i32, Stat>,
    children: HashMap<i32, Vec<i32>>,
    booted_at: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    ppid: i32,
    pgrp: i32,
    foreground_group: i32,
    state: char,
    start_ticks: i64,
}

impl Snapshot {
    /// Reads the process list; `None` where it cannot be read.
    #[must_use]
    pub fn take() -> Option<Self> {
        let booted_at = boot_time(&fs::read_to_string("/proc/stat").ok()?)?;
        let mut snapshot = Self {
            booted_at,
            ..Self::default()
        };
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            // A process may end while the list is read.
            let Some(stat) = fs::read(format!("/proc/{pid}/stat"))
                .ok()
                .and_then(|bytes| Stat::parse(&String::from_utf8_lossy(&bytes)))
            else {
                continue;
            };
            snapshot.children.entry(stat.ppid).or_default().push(pid);
            snapshot.stats.insert(pid, stat);
        }
        Some(snapshot)
    }

    /// The process `root` and everything below it, with words and executable; `None` if `root` is not listed.
    #[must_use]
    pub fn tree(&self, root: i32) -> Option<Vec<Process>> {
        self.stats.get(&root)?;
        let mut found = Vec::new();
        let mut next = vec![root];
        while let Some(pid) = next.pop() {
            let Some(stat) = self.stats.get(&pid) else {
                continue;
            };
            found.push(Process {
                pid,
                ppid: stat.ppid,
                pgrp: stat.pgrp,
                argv: words(pid),
                exe: link(pid, "exe"),
                cwd: link(pid, "cwd"),
                start: self.booted_at + stat.start_ticks * 1_000 / TICKS_PER_SECOND,
                stopped: matches!(stat.state, 'T' | 't'),
                foreground: stat.foreground_group > 0 && stat.foreground_group == stat.pgrp,
            });
            next.extend(self.children.get(&pid).into_iter().flatten());
        }
        Some(found)
    }

    /// `pid` and all above it.
    #[must_use]
    pub fn ancestors(&self, pid: i32) -> Vec<i32> {
        let mut chain = Vec::new();
        let mut at = pid;
        // A list read while processes come and go could hold a circle.
        while at > 0 && !chain.contains(&at) {
            chain.push(at);
            at = self.stats.get(&at).map_or(0, |stat| stat.ppid);
        }
        chain
    }

    /// When `pid` started, in milliseconds since the epoch.
    #[must_use]
    pub fn start(&self, pid: i32) -> Option<i64> {
        let stat = self.stats.get(&pid)?;
        Some(self.booted_at + stat.start_ticks * 1_000 / TICKS_PER_SECOND)
    }
}

impl Stat {
    /// Reads `/proc/<pid>/stat`. The command name stands in parentheses and may hold anything, so the line is read from its last one.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Self {
            state: fields.first()?.chars().next()?,
            ppid: fields.get(1)?.parse().ok()?,
            pgrp: fields.get(2)?.parse().ok()?,
            foreground_group: fields.get(5)?.parse().ok()?,
            start_ticks: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Start of the machine in milliseconds since the epoch, from `/proc/stat`.
fn boot_time(stat: &str) -> Option<i64> {
    let seconds: i64 = stat
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()?;
    Some(seconds * 1_000)
}

fn link(pid: i32, name: &str) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

fn words(pid: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_with_parentheses_is_read_over() {
        let line = "7 (a) R 1 (b)) T 3 7 7 34816 9 4194304 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        assert_eq!(
            Stat::parse(line),
            Some(Stat {
                ppid: 3,
                pgrp: 7,
                foreground_group: 9,
                state: 'T',
                start_ticks: 12_345
            })
        );
        assert_eq!(Stat::parse("7 (a) R 1"), None);
        assert_eq!(
            boot_time("cpu 1\nbtime 1700000000\n"),
            Some(1_700_000_000_000)
        );
    }

    #[test]
    fn this_process_is_found_under_its_parent() {
        let snapshot = Snapshot::take().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let tree = snapshot.tree(own).unwrap();
        assert_eq!(tree[0].pid, own);
        assert!(
            tree[0]
                .exe
                .as_deref()
                .is_some_and(|exe| exe.starts_with('/'))
        );
        assert!(!tree[0].argv.is_empty() && !tree[0].stopped);
        assert!(snapshot.ancestors(own).contains(&tree[0].ppid));
        assert!(!snapshot.ancestors(1).contains(&own));
        assert!(snapshot.tree(i32::MAX).is_none());
    }
}
