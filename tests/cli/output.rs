//! What commands print, and how they fail.

use std::time::Duration;
use std::time::Instant;

use serde_json::Value;

use super::home::Home;
use super::home::Ran;

/// Every command that asks the relay, with arguments it can do something with.
const ASKING: &[&[&str]] = &[
    &["status"],
    &["roster"],
    &["roster", "-v"],
    &["send", "web", "again", "-m", "x"],
    &["inbox"],
    &["inbox", "--part", "web", "--all"],
    &["show", "THREAD"],
    &["reply", "THREAD", "-m", "x"],
    &["close", "THREAD", "--status", "open"],
    &["threads"],
    &["search", "hello"],
    &["pause", "web"],
    &["resume", "--all"],
    &["wake", "web"],
    &["wakes", "--part", "web"],
    &["wakes", "--report"],
    &["usage", "--by", "cause"],
    &["project", "list"],
    &["project", "show"],
    &["project", "code"],
    &["project", "set", "distillOnClose", "off"],
    &["project", "rotate-code", "--yes"],
    &["part", "list", "--all"],
    &["part", "add", "db"],
    &["part", "main", "web"],
    &["part", "nick", "web", "Bo"],
    &["part", "colour", "web", "#7aa2f7"],
    &["part", "delete", "db", "--yes"],
    &["part", "revive", "db"],
    &["token", "list"],
    &["token", "new", "web"],
    &["token", "new", "--pager", "box"],
    &["member", "budget", "kim"],
    &[
        "knowledge",
        "add",
        "Use make",
        "--kind",
        "fact",
        "-m",
        "Not npm.",
    ],
    &["knowledge", "list"],
    &["export", "--out", "all.jsonl"],
    &["project", "new", "blog"],
    &["project", "archive", "--project", "blog"],
    &["project", "unarchive", "--project", "blog"],
];

#[test]
fn cli_023_a_pipe_gets_tabs_and_whole_names_and_no_colour() {
    let home = Home::furnished();
    home.done(&["part", "add", "a-part-with-a-name-of-its-own"]);
    let roster = home.done(&["roster"]);
    assert!(!roster.contains('\u{1b}'), "{roster:?}");
    let rows: Vec<Vec<&str>> = roster
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let names: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names, ["a-part-with-a-name-of-its-own", "api", "web"]);
    assert!(
        rows.iter().all(|row| row.len() == rows[0].len()),
        "{rows:?}"
    );

    assert!(
        home.done(&["roster", "--color", "always"])
            .contains("\u{1b}[")
    );
    let plain = home
        .command(&["roster"])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!Ran::of(&plain).out.contains('\u{1b}'));
}

#[test]
fn cli_024_every_command_speaks_json() {
    let home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    let thread = home.json(&["threads"])["threads"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for args in ASKING {
        let args: Vec<&str> = args
            .iter()
            .map(|arg| {
                if *arg == "THREAD" {
                    thread.as_str()
                } else {
                    arg
                }
            })
            .collect();
        let answer = home.json(&args);
        assert_eq!(answer["v"], 1, "{args:?}: {answer}");
    }
}

#[test]
fn cli_024_without_a_relay_every_command_says_so_in_json() {
    let mut home = Home::furnished();
    home.kill();
    for args in ASKING {
        let mut args: Vec<&str> = args
            .iter()
            .map(|arg| if *arg == "THREAD" { "3f9a2c" } else { arg })
            .collect();
        args.push("--json");
        let ran = home.run(&args);
        assert_eq!(ran.code, 4, "{args:?}: {ran:?}");
        assert_eq!(ran.out, "", "{args:?}");
        let error: Value = serde_json::from_str(&ran.err).unwrap();
        assert_eq!(error["error"]["code"], "unreachable", "{args:?}");
        assert_eq!(error["error"]["fix"], "relayroom up", "{args:?}");
    }
}

#[test]
fn cli_025_an_unreachable_relay_is_told_within_a_second_and_a_flag_wins() {
    let home = Home::furnished();
    let begun = Instant::now();
    let dead = home
        .command(&["status"])
        .env("RELAYROOM_SERVER", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(1) * 3,
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(Ran::of(&dead).code, 4);
    let alive = home
        .command(&["status", "--server", &home.address])
        .env("RELAYROOM_SERVER", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert_eq!(Ran::of(&alive).code, 0);
}

#[test]
fn cli_025_a_misspelt_variable_is_named() {
    let home = Home::furnished();
    let output = home
        .command(&["status"])
        .env("RELAYROOM_SERVR", "x")
        .output()
        .unwrap();
    let ran = Ran::of(&output);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.err, "warning: unknown variable RELAYROOM_SERVR\n");
}

#[test]
fn a_settings_file_that_cannot_be_used_is_named_with_its_line() {
    let home = Home::empty();
    let folder = home.path().join(".config/relayroom");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), "server = \"x\"\nlisten = 5\n").unwrap();
    let ran = home.run(&["status"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("config.toml: line 2:"), "{ran:?}");

    std::fs::write(folder.join("config.toml"), "# mine\n\npublic_url = \"x\"\n").unwrap();
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(
        ran.err.contains("config.toml: line 3: public_url"),
        "{ran:?}"
    );
}

#[test]
fn the_admin_token_goes_to_no_other_machine_whatever_a_repository_says() {
    let home = Home::furnished();
    let repository = home.path().join("repository");
    std::fs::create_dir_all(repository.join(".relayroom")).unwrap();
    std::fs::write(
        repository.join(".relayroom/config.toml"),
        "server = \"http://relay.example\"\n",
    )
    .unwrap();
    let output = home
        .command(&["status"])
        .env_remove("RELAYROOM_SERVER")
        .current_dir(&repository)
        .output()
        .unwrap();
    let ran = Ran::of(&output);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("is not on this machine"), "{ran:?}");
}

#[test]
fn cli_042_a_misspelt_command_is_wrong_usage() {
    let home = Home::empty();
    let ran = home.run(&["sned"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.err,
        "error: no command \"sned\"; did you mean send? (relayroom --help)\n"
    );
    let json = home.run(&["--json", "sned"]);
    let error: Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!(error["error"]["code"], "usage");
}
