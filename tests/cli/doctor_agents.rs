//! `doctor` on the parts joined here: who their agents are, what those were told, their hooks and playbook.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use std::time::SystemTime;

use rusqlite::Connection;
use serde_json::json;

use super::checkup::codes;
use super::checkup::command;
use super::checkup::findings;
use super::checkup::found;
use super::checkup::mend;
use super::checkup::shell;
use super::desk::Desk;
use super::home::Ran;
use crate::support::wait::until;

/// A desk with one part joined in a worktree of its own, without an agent.
fn joined(part: &str, agent: &str) -> (Desk, PathBuf) {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    let root = desk.worktree(&shop, &format!("shop-{part}"));
    desk.json(&root, &["join", part, "--agent", agent, "--no-start"]);
    (desk, root)
}

/// Every file below a folder but git's own and logs, with its content and when it was written.
fn files(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = entry.file_name().into_string().unwrap();
            if kind.is_dir() && name != ".git" {
                folders.push(path);
            } else if kind.is_file() && !name.ends_with(".log") && !name.contains(".db") {
                let written = path.metadata().unwrap().modified().unwrap();
                found.insert(path.clone(), (fs::read(&path).unwrap(), written));
            }
        }
    }
    found
}

fn replace(file: &Path, what: &str, by: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(what), "{what} is not in {text}");
    fs::write(file, text.replace(what, by)).unwrap();
}

fn trust(desk: &Desk, root: &Path) {
    let folder = desk.path(".codex");
    fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
        root.display()
    );
    fs::write(folder.join("config.toml"), text).unwrap();
}

/// What the relay holds, but for when it was asked.
fn rows(desk: &Desk) -> Vec<String> {
    let lines = desk.home.done(&["export"]);
    let lines = lines
        .lines()
        .skip(1)
        .filter(|line| !line.contains("\"type\":\"part\""));
    lines.map(str::to_owned).collect()
}

#[test]
fn cli_033_a_crew_of_three_that_is_well_gives_no_finding_and_nothing_changes() {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    for (part, agent) in [("web", "claude"), ("api", "codex"), ("db", "gemini")] {
        let root = desk.worktree(&shop, &format!("shop-{part}"));
        trust(&desk, &desk.path("shop-api"));
        desk.json(&root, &["join", part, "--agent", agent]);
    }
    desk.started(3);
    let home = desk.home.path();
    until(super::desk::PATIENCE, "all three are served", || {
        let status = desk.home.json(&["status"]);
        let parts = status["parts"].as_array().unwrap();
        parts.len() == 3 && parts.iter().all(|part| part["pager"].is_object())
    });
    let (before, had) = (files(home), rows(&desk));
    let (exit, found) = findings(&desk, home);
    assert_eq!((exit, found), (0, Vec::new()));
    let after = files(home);
    let changed: Vec<&PathBuf> = after
        .iter()
        .filter(|(path, content)| before.get(*path) != Some(content))
        .map(|(path, _)| path)
        .filter(|path| !path.starts_with(desk.home.state().join("journal")))
        .collect();
    assert_eq!(changed, [""; 0]);
    assert_eq!(before.len(), after.len());
    assert_eq!(rows(&desk), had);
}

#[test]
fn cli_034_an_entry_that_names_another_part_is_mended_by_joining_again() {
    let (desk, web) = joined("web", "claude");
    replace(&web.join(".mcp.json"), "part=web", "part=api");
    let finding = mend(&desk, desk.home.path(), "identity.entry");
    assert_eq!(finding["text"], ".mcp.json names part api");
    assert_eq!(finding["subject"], "web");
    fs::remove_file(web.join(".mcp.json")).unwrap();
    mend(&desk, &web, "identity.entry");

    for (part, agent, file) in [
        ("api", "codex", ".codex/config.toml"),
        ("db", "gemini", ".gemini/settings.json"),
    ] {
        let root = desk.worktree(&desk.path("src/shop"), &format!("shop-{part}"));
        desk.json(&root, &["join", part, "--agent", agent, "--no-start"]);
        let other = format!("part={part}");
        replace(&root.join(file), &other, "part=web");
        let finding = mend(&desk, &web, "identity.entry");
        assert_eq!(finding["text"], format!("{file} names part web"));
    }
}

#[test]
fn cli_035_an_agent_older_than_its_entry_is_restarted() {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    let web = desk.worktree(&shop, "shop-web");
    desk.json(&web, &["join", "web", "--agent", "claude"]);
    let old = desk.started(1)[0].pid;
    let entry = fs::File::options()
        .append(true)
        .open(web.join(".mcp.json"))
        .unwrap();
    // The agent leaves a note when it starts.
    let note = fs::metadata(desk.path(&format!("starts/claude-{old}"))).unwrap();
    let after = note.modified().unwrap() + Duration::from_secs(2);
    entry.set_modified(after).unwrap();
    let finding = found(&desk, &web, "agent.restart");
    let text = finding["text"].as_str().unwrap();
    assert!(
        text.contains(&format!("(pid {old})")) && text.contains(".mcp.json"),
        "{finding}"
    );
    let fix = finding["fix"].as_str().unwrap();
    assert!(fix.starts_with(&format!("kill {old} && ")), "{fix}");
    let ran = shell(&desk, &web, fix);
    assert_eq!(ran.code, 0, "{ran:?}");
    let starts = desk.started(2);
    assert!(starts.iter().any(|start| start.lives()), "{starts:?}");
    until(super::desk::PATIENCE, "it is mended", || {
        !codes(&desk, &web)
            .iter()
            .any(|code| code.starts_with("agent.restart"))
    });
}

#[test]
fn cli_035_a_token_copied_to_a_second_worktree_is_told_with_both_places() {
    let (desk, web) = joined("web", "claude");
    let copy = desk.worktree(&desk.path("src/shop"), "copy");
    let record = fs::read(web.join(".relayroom/config.toml")).unwrap();
    fs::create_dir(copy.join(".relayroom")).unwrap();
    let file = copy.join(".relayroom/config.toml");
    fs::write(&file, record).unwrap();
    for path in [&file, &copy.join(".relayroom")] {
        let output = shell(&desk, &copy, &format!("chmod go= '{}'", path.display()));
        assert_eq!(output.code, 0);
    }
    let finding = mend(&desk, &copy, "identity.shared");
    let text = finding["text"].as_str().unwrap();
    for root in [&web, &copy] {
        assert!(text.contains(root.to_str().unwrap()), "{text}");
    }
    assert!(!copy.join(".relayroom").exists() && web.join(".relayroom").exists());
}

#[test]
fn a_token_that_was_revoked_is_mended_by_joining_again() {
    let (desk, web) = joined("web", "claude");
    let tokens = desk.home.json(&["token", "list"]);
    let tokens = tokens["tokens"].as_array().unwrap();
    let id = tokens.iter().find(|token| token["part"] == "web").unwrap()["id"]
        .as_str()
        .unwrap();
    desk.home.done(&["token", "revoke", id]);
    mend(&desk, &web, "identity.live");
}

#[test]
fn cli_036_a_token_git_would_take_is_made_worthless_and_never_printed() {
    let (desk, web) = joined("web", "claude");
    let token = desk.record(&web).agent_token.unwrap();
    fs::write(web.join("notes.txt"), format!("use {token}\n")).unwrap();
    let finding = mend(&desk, &web, "secret.tracked");
    assert!(
        finding["fix"]
            .as_str()
            .unwrap()
            .starts_with("relayroom token rotate web --now"),
        "{finding}"
    );
    assert!(
        finding["text"].as_str().unwrap().contains("notes.txt"),
        "{finding}"
    );
    assert!(!finding.to_string().contains(&token));
    // Also where git has it already.
    let token = desk.record(&web).agent_token.unwrap();
    fs::write(web.join("notes.txt"), format!("use {token}\n")).unwrap();
    desk.commit(&web);
    mend(&desk, &web, "secret.tracked");
}

#[test]
fn hooks_that_are_gone_broken_or_there_twice_are_mended() {
    let (desk, web) = joined("web", "claude");
    let settings = web.join(".claude/settings.local.json");
    fs::write(&settings, "{}").unwrap();
    mend(&desk, &web, "hook.missing");
    replace(
        &settings,
        "/relayroom hook claude",
        "/nowhere/relayroom hook claude",
    );
    let finding = mend(&desk, &web, "hook.broken");
    assert!(
        finding["text"]
            .as_str()
            .unwrap()
            .contains("/nowhere/relayroom"),
        "{finding}"
    );
    let mut twice: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let ours = twice["hooks"]["Stop"][0].clone();
    twice["hooks"]["Stop"].as_array_mut().unwrap().push(ours);
    fs::write(&settings, twice.to_string()).unwrap();
    mend(&desk, &web, "hook.twice");
}

#[test]
fn reports_that_wait_are_sent_once_relay_and_pager_run() {
    let (mut desk, web) = joined("web", "claude");
    desk.home.kill();
    let mut hook = command(&desk, &web, &["hook", "claude"]);
    let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
    let event = json!({"hook_event_name": "SessionStart", "session_id": "s1", "cwd": web, "source": "startup"});
    std::io::Write::write_all(
        &mut hook.stdin.take().unwrap(),
        event.to_string().as_bytes(),
    )
    .unwrap();
    assert!(hook.wait().unwrap().success());
    let spool = files(&desk.home.state())
        .into_keys()
        .find(|path| path.ends_with("spool.jsonl"))
        .unwrap();
    let text = fs::read_to_string(&spool).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    line["kept"] = (line["kept"].as_i64().unwrap() - 600_000).into();
    fs::write(&spool, format!("{line}\n")).unwrap();
    let finding = found(&desk, &web, "hook.spool");
    assert!(
        finding["text"].as_str().unwrap().starts_with("1 reports"),
        "{finding}"
    );
    let ran = shell(&desk, &web, finding["fix"].as_str().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    // The pager sends every 30 s.
    until(Duration::from_secs(100), "the report is sent", || {
        !codes(&desk, &web)
            .iter()
            .any(|code| code.starts_with("hook.spool"))
    });
}

#[test]
fn what_a_cli_would_not_read_or_would_tell_is_mended() {
    let (desk, api) = joined("api", "codex");
    let untrusted = mend(&desk, &api, "folder.untrusted");
    assert_eq!(untrusted["subject"], "api");

    let db = desk.worktree(&desk.path("src/shop"), "shop-db");
    desk.json(&db, &["join", "db", "--agent", "gemini", "--no-start"]);
    let settings = desk.path(".gemini/settings.json");
    for telemetry in [
        json!({"enabled": true}),
        json!({"enabled": true, "logPrompts": true}),
    ] {
        let mut value: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        value["telemetry"] = telemetry;
        fs::write(&settings, serde_json::to_string_pretty(&value).unwrap()).unwrap();
        mend(&desk, &db, "telemetry.prompts");
    }
}

#[test]
fn an_old_playbook_is_brought_up_to_date() {
    let (desk, web) = joined("web", "claude");
    let text = desk.path("playbook.md");
    fs::write(&text, "# Ours\n\nAnswer within a turn.\n").unwrap();
    desk.home
        .done(&["project", "playbook", "set", text.to_str().unwrap()]);
    mend(&desk, &web, "playbook.stale");
    let held = fs::read_to_string(web.join("RELAYROOM.md")).unwrap();
    assert!(held.contains("Answer within a turn."), "{held}");
}

#[test]
fn a_wake_nobody_answered_is_mended_by_another() {
    let (mut desk, web) = joined("web", "claude");
    desk.home.done(&["send", "web", "hello", "-m", "x"]);
    desk.home.kill();
    Connection::open(desk.home.db())
        .unwrap()
        .execute_batch(
            "UPDATE wake SET state = 'done', outcome = 'unanswered', typed = 1, ended_at = issued_at;
             UPDATE recipient SET nudged_by = (SELECT max(seq) FROM wake);",
        )
        .unwrap();
    desk.home.serve();
    mend(&desk, &web, "wake.unanswered");
}

#[test]
fn doctor_ends_with_10_in_words_too() {
    let (desk, web) = joined("web", "claude");
    fs::remove_file(web.join(".mcp.json")).unwrap();
    let ran = Ran::of(&command(&desk, &web, &["doctor"]).output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (10, ""), "{ran:?}");
    assert!(
        ran.out.starts_with("error\tidentity.entry\tweb\t"),
        "{ran:?}"
    );
}
