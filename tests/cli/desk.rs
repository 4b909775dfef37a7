//! A person's desk: a home with a relay, repositories, a tmux server of its own, and agent CLIs that only say their version, note how
//! they were started, and wait.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::home::Home;
use super::home::Ran;
use crate::support::wait::until;

/// Longest that anything on a desk takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A desk; what runs on it ends with it.
pub struct Desk {
    pub home: Home,
}

/// How an agent was started.
#[derive(Debug, Clone)]
pub struct Started {
    /// Its process.
    pub pid: i32,
    pub agent: String,
    pub words: Vec<String>,
    pub folder: PathBuf,
    pub environment: Vec<String>,
}

impl Started {
    /// Whether it still runs.
    pub fn lives(&self) -> bool {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        line.starts_with(self.agent.as_bytes())
    }

    pub fn line(&self) -> String {
        self.words.join(" ")
    }

    pub fn variable(&self, name: &str) -> Option<&str> {
        let start = format!("{name}=");
        self.environment
            .iter()
            .find_map(|line| line.strip_prefix(&start))
    }
}

/// A CLI: says its version; else leaves a note of its start and waits under its own name.
fn script(agent: &str, version: &str) -> String {
    format!(
        r#"#!/bin/bash
if [ "$1" = --version ]; then echo '{version}'; exit; fi
note="$HOME/starts/{agent}-$$"
{{ pwd; printf '%s\n' "$#" "$@"; env; }} > "$note.part"
mv "$note.part" "$note"
exec -a {agent} sleep 1000
"#
    )
}

impl Desk {
    /// A desk whose relay runs and which has all three CLIs.
    pub fn new() -> Self {
        let desk = Self { home: Home::new() };
        desk.furnish();
        desk
    }

    /// A desk without a relay.
    pub fn without_relay() -> Self {
        let desk = Self {
            home: Home::empty(),
        };
        desk.furnish();
        desk
    }

    fn furnish(&self) {
        fs::create_dir_all(self.path("starts")).unwrap();
        fs::create_dir_all(self.path("bin")).unwrap();
        self.install("claude", "2.1.332 (Claude Code)");
        self.install("codex", "codex-cli 0.171.0");
        self.install("gemini", "0.61.0");
    }

    pub fn install(&self, agent: &str, version: &str) {
        let path = self.path(&format!("bin/{agent}"));
        fs::write(&path, script(agent, version)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    /// A repository with one commit.
    pub fn repository(&self, name: &str) -> PathBuf {
        let root = self.path(name);
        fs::create_dir_all(&root).unwrap();
        self.git(&root, &["init", "-q", "-b", "main"]);
        fs::write(root.join("README"), "x\n").unwrap();
        self.commit(&root);
        root
    }

    /// Another worktree of a repository.
    pub fn worktree(&self, repository: &Path, name: &str) -> PathBuf {
        let root = self.path(name);
        let path = root.to_str().unwrap();
        self.git(
            repository,
            &["worktree", "add", "-q", "-b", &name.replace('/', "-"), path],
        );
        root
    }

    pub fn commit(&self, root: &Path) {
        self.git(root, &["add", "-A"]);
        self.git(root, &["commit", "-q", "-m", "x"]);
    }

    pub fn git(&self, root: &Path, words: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Kim", "-c", "user.email=kim@example.org"])
            .args(words)
            .current_dir(root)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The program, in a folder.
    pub fn command(&self, folder: &Path, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        command
            .current_dir(folder)
            .env("PATH", self.search_path())
            .env("TMUX_TMPDIR", self.home.path());
        if self.home.address.is_empty() {
            command.env_remove("RELAYROOM_SERVER");
        }
        command
    }

    pub fn search_path(&self) -> String {
        format!(
            "{}:/usr/local/bin:/usr/bin:/bin",
            self.path("bin").display()
        )
    }

    pub fn run(&self, folder: &Path, words: &[&str]) -> Ran {
        Ran::of(&self.command(folder, words).output().unwrap())
    }

    /// Runs a command that is to succeed, with `--json`.
    pub fn json(&self, folder: &Path, words: &[&str]) -> Value {
        let mut all = vec!["--json"];
        all.extend(words);
        let ran = self.run(folder, &all);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.json()
    }

    /// Runs a command that is to succeed.
    pub fn done(&self, folder: &Path, words: &[&str]) -> String {
        let ran = self.run(folder, words);
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.out
    }

    pub fn socket(&self) -> PathBuf {
        let uid = rustix::process::getuid().as_raw();
        self.home.path().join(format!("tmux-{uid}/default"))
    }

    /// tmux, without settings; must succeed.
    pub fn tmux(&self, words: &[&str]) -> String {
        let output = self.try_tmux(words);
        assert!(output.status.success(), "tmux {words:?}: {output:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .trim_end()
            .to_owned()
    }

    fn try_tmux(&self, words: &[&str]) -> std::process::Output {
        fs::create_dir_all(self.socket().parent().unwrap()).unwrap();
        let folder = self.socket().parent().unwrap().to_owned();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        Command::new("tmux")
            .arg("-S")
            .arg(self.socket())
            .args(["-f", "/dev/null", "-u"])
            .args(words)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", self.search_path())
            .env("SHELL", "/bin/sh")
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap()
    }

    /// The mark of each pane that has one, by its session: `shop-web web`.
    pub fn marks(&self) -> Vec<String> {
        let format = "#{session_name} #{pane_pid} #{@relayroom}";
        let output = self.try_tmux(&["list-panes", "-a", "-F", format]);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut marks: Vec<String> = text
            .lines()
            .filter_map(|line| {
                let mut words = line.split(' ');
                let (session, pid) = (words.next()?, words.next()?);
                let mut fields = words.next()?.split('/');
                let (_, part) = (fields.next()?, fields.next()?);
                assert_eq!(fields.next(), Some(pid), "{line}");
                Some(format!("{session} {part}"))
            })
            .collect();
        marks.sort();
        marks
    }

    /// Every start of an agent so far, by folder.
    pub fn starts(&self) -> Vec<Started> {
        let mut starts: Vec<Started> = fs::read_dir(self.path("starts"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().extension().is_none())
            .map(|entry| {
                let name = entry.file_name().into_string().unwrap();
                let (agent, pid) = name.split_once('-').unwrap();
                let text = fs::read_to_string(entry.path()).unwrap();
                let mut lines = text.lines();
                let folder = PathBuf::from(lines.next().unwrap());
                let count: usize = lines.next().unwrap().parse().unwrap();
                Started {
                    pid: pid.parse().unwrap(),
                    agent: agent.to_owned(),
                    words: lines.by_ref().take(count).map(str::to_owned).collect(),
                    folder,
                    environment: lines.map(str::to_owned).collect(),
                }
            })
            .collect();
        starts.sort_by(|a, b| a.folder.cmp(&b.folder));
        starts
    }

    /// Waits until so many agents were started in all.
    pub fn started(&self, count: usize) -> Vec<Started> {
        until(PATIENCE, "the agents are started", || {
            self.starts().len() >= count
        });
        let starts = self.starts();
        assert_eq!(starts.len(), count, "{starts:#?}");
        starts
    }

    /// A part's record in a worktree.
    pub fn record(&self, root: &Path) -> relayroom::config::File {
        let (file, unknown) =
            relayroom::config::read_file(&root.join(".relayroom/config.toml")).unwrap();
        assert_eq!(unknown, [""; 0]);
        file
    }

    /// Processes with this home in their environment: by pid, their command lines.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let home = format!("HOME={}", self.home.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let Ok(pid) = entry.file_name().to_string_lossy().parse() else {
                continue;
            };
            if environment
                .split(|byte| *byte == 0)
                .any(|field| field == home.as_bytes())
            {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push((pid, String::from_utf8_lossy(&line).replace('\0', " ")));
            }
        }
        found
    }

    /// Ends every process of this home.
    pub fn end_all(&self) {
        for (pid, _) in self.processes() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.try_tmux(&["kill-server"]);
        self.end_all();
    }
}

/// The text of a file; none if there is no such file.
pub fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Who may read a file.
pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
