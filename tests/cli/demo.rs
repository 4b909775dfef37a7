//! The demo, as a person runs it.

use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use super::home::Home;
use super::home::Ran;
use crate::support::http::PATIENCE;

/// On a busy machine times get a factor 3, counts none.
const SLACK: u32 = 3;

fn demo(home: &Home, args: &[&str]) -> Command {
    let temporary = home.path().join("t");
    std::fs::create_dir_all(&temporary).unwrap();
    let mut command = home.command(args);
    command.env("TMPDIR", temporary);
    command
}

/// What demos have in their temporary folder, by name.
fn left(home: &Home) -> Vec<String> {
    let entries = std::fs::read_dir(home.path().join("t")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Processes whose command line or working folder names `folder`.
fn living_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let at = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        if line.contains(&*folder.to_string_lossy()) || at.starts_with(folder) {
            found.push(line);
        }
    }
    found
}

#[test]
fn cli_039_the_fast_demo_ends_well_in_time_and_leaves_nothing() {
    let home = Home::empty();
    let begun = Instant::now();
    let ran = Ran::of(&demo(&home, &["demo", "--fast"]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    assert!(
        ran.out.contains("hold    api: mail waits, limited"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("lesson  Lists of orders show the newest first"),
        "{ran:?}"
    );
    assert!(
        ran.out.contains("wakes: 4 stored, 4 presented, 4 consumed"),
        "{ran:?}"
    );
    assert!(!ran.out.contains('\u{1b}'), "{ran:?}");
    assert_eq!(left(&home), [""; 0]);
    assert_eq!(living_in(&home.path().join("t")), [""; 0]);
    // Nothing of the person's own was made.
    assert!(!home.db().exists());
    assert!(!home.state().exists());
}

#[test]
fn cli_039_what_a_killed_demo_left_is_removed_by_the_next() {
    let home = Home::empty();
    let mut killed = demo(&home, &["demo"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let folder = loop {
        // Both agents, relay and pager: the middle of the story.
        let folder = left(&home)
            .first()
            .map(|name| home.path().join("t").join(name));
        if let Some(folder) = folder.filter(|folder| living_in(folder).len() >= 4) {
            break folder;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    };
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!living_in(&folder).is_empty());

    let next = Ran::of(&demo(&home, &["demo", "--fast", "--json"]).output().unwrap());
    assert_eq!(next.code, 0, "{next:?}");
    assert_eq!(next.json()["wakes"]["consumed"], 4);
    assert_eq!(left(&home), [""; 0]);
    let begun = Instant::now();
    while !living_in(&folder).is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{:?}", living_in(&folder));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn cli_039_an_interrupted_demo_tidies_up_and_says_so() {
    let home = Home::empty();
    let running = demo(&home, &["demo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while left(&home).is_empty() || living_in(&home.path().join("t")).len() < 2 {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = running.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let begun = Instant::now();
    let ran = Ran::of(&running.wait_with_output().unwrap());
    assert!(
        begun.elapsed() < Duration::from_secs(4) * SLACK,
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(ran.code, 130, "{ran:?}");
    assert_eq!(left(&home), [""; 0]);
    assert_eq!(living_in(&home.path().join("t")), [""; 0]);
}

#[test]
fn cli_039_without_tmux_the_demo_names_the_command_that_installs_it() {
    let home = Home::empty();
    let tools = home.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::write(tools.join("apt-get"), "").unwrap();
    let ran = Ran::of(&demo(&home, &["demo"]).env("PATH", &tools).output().unwrap());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(
        ran.err,
        "error: the demo needs tmux, and there is none (sudo apt-get install tmux)\n"
    );
    assert_eq!(left(&home), [""; 0]);
}
