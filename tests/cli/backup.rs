//! `backup`: with and without a relay, killed, out of room.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use relayroom::store::backup;
use rusqlite::Connection;
use serde_json::json;

use super::home::Home;
use super::home::Ran;
use crate::support::http::PATIENCE;
use crate::support::wait::until;

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Makes the file of a stopped relay some megabytes larger.
fn fatten(home: &Home, megabytes: u32) {
    let connection = Connection::open(home.db()).unwrap();
    connection
        .execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO report (event, wake, result, at)
             SELECT 'filler ' || i, (SELECT min(seq) FROM wake), hex(zeroblob(524288)), 1 FROM n",
            [megabytes],
        )
        .unwrap();
}

#[test]
fn cli_028_a_backup_under_load_holds_every_message_acknowledged_before_it() {
    let home = Home::furnished();
    let stop = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicUsize::new(0));
    let senders: Vec<_> = ["web", "api"]
        .into_iter()
        .map(|part| {
            let (seat, stop, sent) = (home.seat(part), Arc::clone(&stop), Arc::clone(&sent));
            let to = if part == "web" { "api" } else { "web" };
            std::thread::spawn(move || {
                let mut number = 0;
                while !stop.load(Ordering::Relaxed) {
                    let mail = json!({"to": [to], "subject": format!("{part} {number}"), "body": format!("{part} {number}"), "fyi": true});
                    // The brakes on runaway senders stop each of them sooner or later.
                    let stored = seat.tool("send", &mail).get("threadId").is_some();
                    sent.fetch_add(usize::from(stored), Ordering::SeqCst);
                    number += 1;
                }
            })
        })
        .collect();
    until(PATIENCE, "20 messages", || {
        sent.load(Ordering::SeqCst) >= 20
    });
    let before = sent.load(Ordering::SeqCst);
    let made = home.json(&["backup"]);
    stop.store(true, Ordering::Relaxed);
    for sender in senders {
        sender.join().unwrap();
    }
    let path = PathBuf::from(made["path"].as_str().unwrap());
    assert_eq!(path.parent(), Some(&*home.db().with_file_name("backups")));
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let contents = backup::check(&path).unwrap();
    let messages = usize::try_from(contents.messages).unwrap();
    assert!(messages >= before, "{messages} of {before}");
    assert_eq!(made["messages"], contents.messages);
    assert_eq!(names(path.parent().unwrap()).len(), 1);
}

#[test]
fn cli_028_without_a_relay_the_log_of_a_killed_one_is_in_the_backup_too() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    let made = home.json(&["backup", "copy.db"]);
    assert_eq!(made["path"], *home.path().join("copy.db").to_string_lossy());
    assert_eq!(made["messages"], 1);
    let contents = backup::check(&home.path().join("copy.db")).unwrap();
    assert_eq!((contents.projects, contents.parts), (1, 2));
}

#[test]
fn a_name_that_is_taken_is_refused_with_and_without_a_relay() {
    let mut home = Home::furnished();
    fs::write(home.path().join("mine.db"), "mine").unwrap();
    for _ in 0..2 {
        let ran = home.run(&["backup", "mine.db"]);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.err.contains("mine.db: exists"), "{ran:?}");
        let wal = format!("{}-wal", home.db().display());
        assert_eq!(home.run(&["backup", &wal]).code, 3);
        home.kill();
    }
    assert_eq!(fs::read(home.path().join("mine.db")).unwrap(), b"mine");
    let nowhere = home.run(&["backup", "nowhere/copy.db"]);
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
}

#[test]
fn old_backups_go_and_nothing_else() {
    let home = Home::furnished();
    let folder = home.path().join("kept");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("relayroom-mine.db"), "mine").unwrap();
    for _ in 0..3 {
        home.done(&["backup", "kept"]);
    }
    let all = names(&folder);
    assert_eq!(all.len(), 4);
    let made = home.json(&["backup", "kept", "--keep", "2"]);
    assert_eq!(made["removed"].as_array().unwrap().len(), 2, "{made}");
    let left = names(&folder);
    let newest = Path::new(made["path"].as_str().unwrap())
        .file_name()
        .unwrap();
    assert_eq!(
        left,
        [
            all[2].as_str(),
            newest.to_str().unwrap(),
            "relayroom-mine.db"
        ]
    );
    assert_eq!(home.run(&["backup", "--keep", "0"]).code, 2);
}

#[test]
fn cli_029_killed_half_way_there_is_no_backup_and_the_next_run_clears_up() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    fatten(&home, 64);
    let folder = home.path().join("kept");
    fs::create_dir(&folder).unwrap();
    let mut copying = home
        .command(&["backup", "kept"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until(PATIENCE, "the copying has begun", || {
        !names(&folder).is_empty()
    });
    copying.kill().unwrap();
    copying.wait().unwrap();
    let left = names(&folder);
    assert!(
        left.iter().all(|name| name.contains(".db.part")),
        "{left:?}"
    );
    home.done(&["backup", "kept"]);
    let left = names(&folder);
    assert!(left.len() == 1 && left[0].ends_with("Z.db"), "{left:?}");
}

#[test]
fn cli_029_interrupted_nothing_stays() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    fatten(&home, 64);
    let folder = home.path().join("kept");
    fs::create_dir(&folder).unwrap();
    let copying = home
        .command(&["backup", "kept"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until(PATIENCE, "the copying has begun", || {
        !names(&folder).is_empty()
    });
    let pid = copying.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    let ended = Ran::of(&copying.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{ended:?}");
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn cli_029_a_full_disk_leaves_no_file() {
    let mut home = Home::furnished();
    home.done(&["send", "web", "hello", "-m", "x"]);
    home.kill();
    fatten(&home, 8);
    let folder = home.path().join("kept");
    fs::create_dir(&folder).unwrap();
    // A limit on the size of files stands for the disk: 2 MiB, in blocks of 512 bytes.
    let relayroom = env!("CARGO_BIN_EXE_relayroom");
    let mut shell = home.command(&[]);
    let script = format!("trap '' XFSZ; ulimit -f 4096; exec {relayroom} backup kept");
    let output = Command::new("/bin/sh")
        .args(["-c", &script])
        .current_dir(home.path())
        .env_clear()
        .envs(
            shell
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let ran = Ran::of(&output);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("kept/relayroom-"), "{ran:?}");
    assert_eq!(names(&folder), [""; 0]);
    shell.args(["backup", "kept"]);
    assert!(shell.output().unwrap().status.success());
}
