//! `doctor` on tmux, panes, the pager and the worktrees joined here.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use super::checkup::codes;
use super::checkup::command;
use super::checkup::mend;
use super::desk::Desk;
use super::desk::mode;
use super::home::Ran;

/// A desk with part web joined in the worktree that is returned, its agent and a pager running.
fn joined() -> (Desk, PathBuf) {
    let desk = Desk::new();
    let shop = desk.repository("src/shop");
    let web = desk.worktree(&shop, "shop-web");
    desk.json(&web, &["join", "web", "--agent", "claude"]);
    desk.started(1);
    (desk, web)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn without_tmux_or_with_an_old_one_the_way_to_install_it_is_told() {
    let desk = Desk::new();
    let home = desk.home.path();
    let bare = desk.path("bare");
    fs::create_dir_all(&bare).unwrap();
    let doctor = || {
        let mut command = command(&desk, home, &["doctor", "--json"]);
        command.env("PATH", &bare);
        Ran::of(&command.output().unwrap()).json()["findings"][0].clone()
    };
    assert_eq!(doctor()["code"], "tmux.missing");
    fs::write(bare.join("tmux"), "#!/bin/sh\necho tmux 2.9a\n").unwrap();
    set_mode(&bare.join("tmux"), 0o755);
    fs::write(bare.join("apt-get"), "").unwrap();
    let old = doctor();
    assert_eq!(
        (&old["code"], &old["fix"]),
        (&"tmux.old".into(), &"sudo apt-get install tmux".into())
    );
}

#[test]
fn cli_037_files_with_tokens_are_for_their_owner_only() {
    let (desk, web) = joined();
    let config = web.join(".relayroom/config.toml");
    set_mode(&config, 0o644);
    let open = mend(&desk, desk.home.path(), "config.mode");
    assert_eq!(open["fix"], format!("chmod 600 {}", config.display()));
    assert_eq!(mode(&config), 0o600);
    set_mode(&web.join(".relayroom"), 0o755);
    mend(&desk, &web, "config.mode");
}

#[test]
fn a_lost_file_is_made_again_and_a_lost_worktree_left() {
    let (desk, web) = joined();
    fs::remove_file(web.join(".relayroom/config.toml")).unwrap();
    mend(&desk, desk.home.path(), "config.missing");
    desk.tmux(&["kill-server"]);
    fs::remove_dir_all(&web).unwrap();
    mend(&desk, desk.home.path(), "config.missing");
}

#[test]
fn a_part_without_a_pane_gets_one_and_two_become_one() {
    let (desk, web) = joined();
    let home = desk.home.path();
    assert!(
        !codes(&desk, home)
            .iter()
            .any(|code| code.starts_with("pane."))
    );
    desk.tmux(&["new-session", "-d", "-s", "other", "sleep 100"]);
    let mark = desk.tmux(&["show-options", "-p", "-v", "-t", "=shop-web:", "@relayroom"]);
    let (place, _) = mark.rsplit_once('/').unwrap();
    let value = format!("{place}/#{{pane_pid}}");
    desk.tmux(&[
        "set-option",
        "-p",
        "-F",
        "-t",
        "=other:",
        "@relayroom",
        &value,
    ]);
    let twice = mend(&desk, home, "pane.twice");
    assert_eq!(twice["subject"], "web");
    assert_eq!(desk.marks(), ["shop-web web"]);
    desk.tmux(&["kill-session", "-t", "=shop-web"]);
    mend(&desk, home, "pane.none");
    assert_eq!(desk.marks(), ["shop-web web"]);
    drop(web);
}

#[test]
fn a_pager_that_is_gone_is_started_again() {
    let (desk, web) = joined();
    for (pid, line) in desk.processes() {
        if line.contains(" pager --server") {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
    // The relay forgets a pager after 90 s; a new one knows of none.
    let mut desk = desk;
    desk.home.kill();
    rusqlite::Connection::open(desk.home.db())
        .unwrap()
        .execute("UPDATE pane SET heard_at = heard_at - 100000", [])
        .unwrap();
    desk.home.serve();
    mend(&desk, &web, "pager.down");
}

#[test]
fn the_machines_token_is_private_and_known() {
    let (desk, web) = joined();
    let token = desk.home.state().join("machine.token");
    set_mode(&token, 0o644);
    mend(&desk, &web, "pager.token");
    assert_eq!(mode(&token), 0o600);
    fs::write(&token, "rrp_of_another_relay\n").unwrap();
    mend(&desk, &web, "pager.token");
}

#[test]
fn cli_038_wake_says_of_each_joined_pane_why_it_was_not_tried() {
    let (desk, web) = joined();
    let output = command(&desk, &web, &["doctor", "--wake", "--json"])
        .output()
        .unwrap();
    let ran = Ran::of(&output);
    let answer = ran.json();
    // The stand-in for an agent draws no composer: nothing is typed into it.
    let pane = &answer["panes"][0];
    assert_eq!(
        (&pane["part"], &pane["outcome"]),
        (&"web".into(), &"refused".into()),
        "{answer}"
    );
    assert_eq!(pane["submits"], 0);
    let told = answer["findings"].as_array().unwrap();
    assert!(
        told.iter().any(|finding| finding["code"] == "wake.canary"),
        "{answer}"
    );
}
