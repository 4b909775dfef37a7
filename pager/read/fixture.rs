//! Real screens as facts, for tests: `pager/fixtures/<cli>/<version>-<state>.ansi` with the facts of the same moment beside it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::Verdict;
use super::verdict;
use crate::pager::facts::Facts;
use crate::pager::facts::Identity;
use crate::pager::facts::PaneFacts;
use crate::pager::facts::Process;
use crate::pager::facts::Turn;
use crate::pager::facts::TurnState;
use crate::pager::rules::Rules;
use crate::pager::screen::Cell;
use crate::pager::screen::Colour;
use crate::pager::screen::Screen;

/// The instant every fixture is judged at.
pub const NOW: i64 = 1_800_000_000_000;
const SHELL: i32 = 100;

/// `pager/fixtures/expected.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What each captured screen reads as.
    pub screens: BTreeMap<String, String>,
    /// Screens changed in one respect.
    pub variant: Vec<Variant>,
}

/// A captured screen with something changed.
#[derive(Deserialize, Clone, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Variant {
    /// What it shows.
    pub claim: String,
    /// The screen it was made from.
    pub of: String,
    /// What it reads as.
    pub reads: String,
    /// Replacements in the capture, each found at least once.
    pub edit: Vec<(String, String)>,
    /// Rows written anew in plain style.
    pub rows: Vec<(usize, String)>,
    pub title: Option<String>,
    pub turn: Option<String>,
    pub cursor: Option<(u16, u16)>,
    pub cursor_shown: Option<bool>,
    pub argv: Option<Vec<String>>,
    pub exe: Option<String>,
    pub height: Option<u16>,
}

#[derive(Deserialize)]
struct Recorded {
    cli: String,
    width: u16,
    height: u16,
    cursor_x: u16,
    cursor_y: u16,
    cursor_flag: u8,
    pane_in_mode: u8,
    pane_mode: String,
    pane_title: String,
    foreground_group: Vec<Vec<String>>,
    state: String,
}

pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("pager/fixtures")
}

pub fn expected() -> Expected {
    toml::from_str(&std::fs::read_to_string(folder().join("expected.toml")).unwrap()).unwrap()
}

/// The facts of a captured screen.
pub fn facts(name: &str) -> Facts {
    let path = |extension: &str| folder().join(format!("{name}.{extension}"));
    let text = std::fs::read_to_string(path("toml")).unwrap_or_else(|e| panic!("{name}: {e}"));
    let recorded: Recorded = toml::from_str(&text).unwrap();
    let identity = Identity {
        socket: "/tmp/tmux-1000/default".into(),
        server_pid: 10,
        server_start: 1_799_000_000,
        pane: "%3".into(),
        pane_pid: SHELL,
    };
    Facts {
        expected: Some(identity.clone()),
        processes: Some(processes(&recorded)),
        pane: Ok(PaneFacts {
            identity,
            session_id: "$1".into(),
            session_name: "web".into(),
            window_id: "@1".into(),
            window_index: 0,
            window_name: "agent".into(),
            pane_index: 0,
            width: recorded.width,
            height: recorded.height,
            dead: false,
            dead_status: None,
            in_mode: recorded.pane_in_mode == 1,
            mode: recorded.pane_mode,
            input_off: false,
            synchronized: false,
            cursor_x: recorded.cursor_x,
            cursor_y: recorded.cursor_y,
            cursor_shown: recorded.cursor_flag == 1,
            window_activity: NOW / 1_000 - 600,
            option: String::new(),
            title: recorded.pane_title,
        }),
        clients: Vec::new(),
        capture: Some(std::fs::read(path("ansi")).unwrap()),
        cli_version: None,
        refused_read_only: false,
    }
}

/// A shell as the pane's process and the recorded foreground group below it; a suspended agent is a stopped child.
fn processes(recorded: &Recorded) -> Vec<Process> {
    let shell_in_front = recorded.foreground_group[0][0].ends_with("bash");
    let mut list = vec![Process {
        foreground: shell_in_front,
        ..process(SHELL, 1, SHELL, &["-bash".into()])
    }];
    if recorded.state == "suspended" {
        list.push(Process {
            stopped: true,
            foreground: false,
            ..process(101, SHELL, 101, std::slice::from_ref(&recorded.cli))
        });
    }
    if !shell_in_front {
        for (argv, pid) in recorded.foreground_group.iter().zip(101..) {
            list.push(process(pid, pid - 1, 101, argv));
        }
    }
    list
}

/// A running foreground process, an hour old.
pub fn process(pid: i32, ppid: i32, pgrp: i32, argv: &[String]) -> Process {
    Process {
        pid,
        ppid,
        pgrp,
        argv: argv.to_vec(),
        exe: None,
        cwd: Some("/home/dev/shop".into()),
        start: NOW - 3_600_000,
        stopped: false,
        foreground: true,
    }
}

/// Cells as `capture-pane -e` would write them, each with its whole style.
pub fn render(cells: &[Cell]) -> String {
    let mut line = String::new();
    for cell in cells.iter().filter(|cell| cell.ch != '\0') {
        let style = cell.style;
        line.push_str("\x1b[0");
        for (on, code) in [(style.bold, ";1"), (style.dim, ";2"), (style.reverse, ";7")] {
            line.push_str(if on { code } else { "" });
        }
        line.push_str(&colour(38, style.fg));
        line.push_str(&colour(48, style.bg));
        line.push('m');
        line.push(cell.ch);
    }
    line + "\x1b[0m"
}

fn colour(code: u8, colour: Colour) -> String {
    match colour {
        Colour::Default => String::new(),
        Colour::Index(n) => format!(";{code};5;{n}"),
        Colour::Rgb(r, g, b) => format!(";{code};2;{r};{g};{b}"),
    }
}

impl Variant {
    pub fn facts(&self) -> Facts {
        let mut facts = facts(&self.of);
        let mut capture = String::from_utf8(facts.capture.take().unwrap()).unwrap();
        for (from, to) in &self.edit {
            assert!(
                capture.contains(from.as_str()),
                "{}: {from:?} is not on the screen",
                self.claim
            );
            capture = capture.replace(from.as_str(), to);
        }
        let pane = facts.pane.as_mut().unwrap();
        pane.height = self.height.unwrap_or(pane.height);
        let screen = Screen::parse(capture.as_bytes(), pane.width, pane.height).unwrap();
        let mut lines: Vec<String> = screen
            .rows()
            .iter()
            .map(|row| render(row.cells()))
            .collect();
        for (row, text) in &self.rows {
            lines[*row].clone_from(text);
        }
        facts.capture = Some((lines.join("\n") + "\n").into_bytes());
        pane.title = self.title.clone().unwrap_or_else(|| pane.title.clone());
        (pane.cursor_x, pane.cursor_y) = self.cursor.unwrap_or((pane.cursor_x, pane.cursor_y));
        pane.cursor_shown = self.cursor_shown.unwrap_or(pane.cursor_shown);
        if let Some(argv) = &self.argv {
            facts.processes = Some(vec![Process {
                exe: self.exe.clone(),
                ..process(SHELL, 1, SHELL, argv)
            }]);
        }
        facts
    }

    pub fn turn(&self) -> Turn {
        turn(self.turn.as_deref().unwrap_or("none"))
    }
}

pub fn turn(state: &str) -> Turn {
    Turn {
        state: match state {
            "busy" => TurnState::Busy,
            "blocked" => TurnState::Blocked,
            "idle" => TurnState::Idle,
            "none" => TurnState::None,
            other => panic!("no turn is called {other}"),
        },
        ..Turn::default()
    }
}

/// The second of two equal looks two seconds apart.
pub fn still(rules: &Rules, facts: &Facts, turn: &Turn) -> Verdict {
    let first = verdict(rules, facts, None, turn, NOW - 2_000);
    verdict(rules, facts, first.sample.as_ref(), turn, NOW)
}

/// `kind/detail`, or `ready`.
pub fn reads(verdict: &Verdict) -> String {
    match verdict.detail {
        "" => verdict.state().to_string(),
        detail => format!("{}/{detail}", verdict.state()),
    }
}
