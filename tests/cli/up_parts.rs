//! `relayroom up` with joined parts (cli.md 3 and 9): after a reboot, with a worktree gone, beside agents that live.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use relayroom::store::system_clock;
use serde_json::Value;
use serde_json::json;

use super::desk::Desk;
use super::desk::PATIENCE;
use super::desk::text;
use crate::support::http::Call;
use crate::support::process::ask;
use crate::support::wait::until;

const SESSION: &str = "0194f0a2-1111-7000-8000-000000000001";

/// A desk with a part per CLI, each joined and running.
fn crew() -> (Desk, [PathBuf; 3]) {
    let desk = Desk::without_relay();
    let address = crate::support::process::free_address();
    let config = desk.path(".config/relayroom");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        format!("listen = \"{address}\"\nserver = \"http://{address}\"\n"),
    )
    .unwrap();
    desk.done(&desk.path(""), &["up"]);
    let shop = desk.repository("shop");
    let roots = [("api", "codex"), ("db", "gemini"), ("web", "claude")].map(|(part, agent)| {
        let root = desk.worktree(&shop, part);
        desk.json(&root, &["join", part, "--agent", agent]);
        root
    });
    desk.started(3);
    (desk, roots)
}

/// Forgets how agents were started before.
fn forget_starts(desk: &Desk) {
    for start in fs::read_dir(desk.path("starts")).unwrap().flatten() {
        fs::remove_file(start.path()).unwrap();
    }
}

/// What a report of a hook does: the relay knows the session.
fn reported(desk: &Desk, root: &Path, provider: &str) {
    let record = desk.record(root);
    let address = record.server.unwrap();
    let report = json!({
        "code": record.code, "part": record.part, "provider": provider, "session": SESSION,
        "kind": "session_start", "at": system_clock().0.rfc3339(),
    });
    let call = Call::new(
        address.trim_start_matches("http://").parse().unwrap(),
        "POST",
        "/api/activity",
    );
    assert_eq!(ask(&call.json(&report)).unwrap().status, 200);
}

fn row<'a>(up: &'a Value, part: &str) -> &'a Value {
    let rows = up["parts"].as_array().unwrap();
    rows.iter().find(|row| row["part"] == part).unwrap()
}

fn make(path: PathBuf) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "").unwrap();
}

#[test]
fn cli_015_after_a_reboot_up_brings_back_everything_with_its_conversations() {
    let (desk, roots) = crew();
    let [api, _, web] = &roots;
    reported(&desk, web, "claude");
    let folder = web
        .to_string_lossy()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    make(desk.path(&format!(".claude/projects/{folder}/{SESSION}.jsonl")));
    make(desk.path(".codex/sessions/2026/11/30/rollout-2026-x.jsonl"));
    fs::write(api.join("RELAYROOM.md"), "<!-- relayroom:playbook a b Rewritten by relayroom: change it with relayroom project playbook edit. -->\nold").unwrap();

    desk.tmux(&["kill-server"]);
    desk.end_all();
    forget_starts(&desk);
    let dry = desk.json(&desk.path(""), &["up", "--dry-run"]);
    assert_eq!(row(&dry, "web")["agent"], "would be started", "{dry}");
    assert_eq!(desk.processes(), []);

    let up = desk.json(&desk.path(""), &["up"]);
    assert_eq!(up["relay"]["state"], "started", "{up}");
    assert_eq!(up["pager"]["state"], "started", "{up}");
    for part in ["api", "db", "web"] {
        assert_eq!(row(&up, part)["agent"], "started", "{up}");
    }
    assert_eq!(desk.marks(), ["shop-api api", "shop-db db", "shop-web web"]);
    let starts = desk.started(3);
    let lines: Vec<String> = starts.iter().map(super::desk::Started::line).collect();
    assert_eq!(
        lines,
        [
            "resume --last".to_owned(),
            String::new(),
            format!("--resume {SESSION}")
        ],
        "the newest of Codex; nothing of Gemini's to take up; the one Claude's hook reported"
    );
    assert!(
        text(&api.join("RELAYROOM.md"))
            .unwrap()
            .contains("# Working with")
    );

    // Again: nothing is started, whoever lives keeps its process.
    let again = desk.json(&desk.path(""), &["up"]);
    for part in ["api", "db", "web"] {
        assert_eq!(row(&again, part)["agent"], "runs", "{again}");
    }
    let after = desk.started(3);
    assert!(after.iter().all(super::desk::Started::lives));
}

#[test]
fn cli_015_mail_that_waited_is_presented_to_the_agent_up_brought_back() {
    let (desk, _) = crew();
    desk.done(
        &desk.path(""),
        &[
            "send",
            "web",
            "Index",
            "-m",
            "Which one?",
            "--project",
            "shop",
        ],
    );
    desk.tmux(&["kill-server"]);
    desk.end_all();
    // From now on one that draws a composer and takes keys.
    let agent = crate::support::fake_agent::program();
    let script = format!(
        "#!/bin/bash\n[ \"$1\" = --version ] && echo '2.1.332 (Claude Code)' && exit\nexec -a claude {} --style claude\n",
        agent.display()
    );
    fs::write(desk.path("bin/claude"), script).unwrap();
    desk.json(&desk.path(""), &["up"]);
    until(3 * PATIENCE, "the wake is presented", || {
        let wakes = desk.json(
            &desk.path(""),
            &["wakes", "--part", "web", "--project", "shop"],
        );
        wakes.to_string().contains("\"presented\"")
    });
    let screen = desk.tmux(&["capture-pane", "-p", "-t", "shop-web"]);
    assert!(screen.contains("relayroom: you have mail"), "{screen}");
}

#[test]
fn cli_016_one_that_fails_has_its_reason_and_the_others_are_up() {
    let (desk, roots) = crew();
    let [api, db, web] = &roots;
    desk.done(&desk.path(""), &["pause", "db", "--project", "shop"]);
    let ended: Vec<String> = ["shop-web", "shop-db"].map(str::to_owned).to_vec();
    for session in &ended {
        desk.tmux(&["kill-session", "-t", session]);
    }
    forget_starts(&desk);
    let lives = desk.tmux(&["list-panes", "-a", "-F", "#{session_name} #{pane_pid}"]);
    desk.git(
        api,
        &["worktree", "remove", "--force", web.to_str().unwrap()],
    );

    let ran = desk.run(&desk.path(""), &["--json", "up"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let up = ran.json();
    let why = row(&up, "web")["error"]["message"].as_str().unwrap();
    assert!(why.contains(web.to_str().unwrap()), "{up}");
    assert_eq!(row(&up, "db")["agent"], "paused");
    assert_eq!(row(&up, "api")["agent"], "runs");
    assert_eq!(desk.starts().len(), 0);
    assert_eq!(desk.marks(), ["shop-api api"]);
    assert_eq!(
        desk.tmux(&["list-panes", "-a", "-F", "#{session_name} #{pane_pid}"]),
        lives
    );

    desk.done(&desk.path(""), &["leave", "web"]);
    desk.done(&desk.path(""), &["resume", "db", "--project", "shop"]);
    let only = desk.json(&desk.path(""), &["up", "--no-agents"]);
    assert_eq!(row(&only, "db")["agent"], "not started");
    assert_eq!(only["parts"].as_array().unwrap().len(), 2, "{only}");
    let only = desk.json(&desk.path(""), &["up", "--only", "db"]);
    assert_eq!(only["parts"].as_array().unwrap().len(), 1, "{only}");
    assert_eq!(row(&only, "db")["agent"], "started");
    assert_eq!(desk.started(1)[0].folder, *db);
    assert_eq!(desk.run(&desk.path(""), &["up", "--only", "dbb"]).code, 5);
}

#[test]
fn a_session_without_its_agent_gets_a_new_window() {
    let (desk, roots) = crew();
    let web = &roots[2];
    desk.tmux(&["kill-session", "-t", "shop-web"]);
    let shell = desk.tmux(&[
        "new-session",
        "-d",
        "-P",
        "-F",
        "#{pane_id}",
        "-s",
        "shop-web",
        "-c",
        web.to_str().unwrap(),
        "sh",
    ]);
    forget_starts(&desk);
    let up = desk.json(&desk.path(""), &["up"]);
    assert_eq!(row(&up, "web")["agent"], "started", "{up}");
    assert_eq!(desk.started(1)[0].folder, *web);
    let panes = desk.tmux(&["list-panes", "-s", "-t", "shop-web", "-F", "#{pane_id}"]);
    assert_eq!(panes.lines().count(), 2, "{panes}");
    let screen = desk.tmux(&["capture-pane", "-p", "-t", &shell]);
    assert!(
        !screen.contains("relayroom") && !screen.contains("claude"),
        "{screen}"
    );
}
