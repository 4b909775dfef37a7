//! `doctor` on relay, file and settings.

use std::fs;
use std::fs::File;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use relayroom::config;
use relayroom::store::Store;
use rusqlite::Connection;
use serde_json::json;

use super::checkup::codes;
use super::checkup::command;
use super::checkup::found;
use super::checkup::mend;
use super::checkup::shell;
use super::desk::Desk;
use super::desk::mode;
use super::home::Ran;
use crate::support::http::Call;
use crate::support::process::ask;
use crate::support::process::free_address;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.home.furnish();
    desk
}

fn home(desk: &Desk) -> &Path {
    desk.home.path()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A page somewhere in the file, overwritten.
fn damage(db: &Path) {
    let mut bytes = fs::read(db).unwrap();
    let last = bytes.len() - 4096;
    bytes[last..].fill(0xaa);
    fs::write(db, bytes).unwrap();
}

#[test]
fn cli_033_a_relay_that_is_well_gives_no_finding_and_is_not_touched() {
    let desk = desk();
    assert_eq!(codes(&desk, home(&desk)), [""; 0]);
    let words = command(&desk, home(&desk), &["doctor", "--strict"])
        .output()
        .unwrap();
    let ran = Ran::of(&words);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
}

#[test]
fn an_empty_machine_lacks_a_relay_and_nothing_else() {
    let mut desk = Desk::without_relay();
    desk.home.address = format!("http://{}", free_address());
    let before = fs::read_dir(home(&desk)).unwrap().count();
    let down = found(&desk, home(&desk), "relay.down");
    assert_eq!(down["fix"], "relayroom up");
    assert_eq!(codes(&desk, home(&desk)).len(), 1);
    assert_eq!(fs::read_dir(home(&desk)).unwrap().count(), before);
    mend(&desk, home(&desk), "relay.down");
}

#[test]
fn cli_037_with_the_relay_down_all_local_checks_still_run() {
    let mut desk = desk();
    desk.home.kill();
    set_mode(&desk.home.db(), 0o644);
    let all = codes(&desk, home(&desk));
    assert!(
        all.contains(&format!("relay.down {}", desk.home.address)),
        "{all:?}"
    );
    assert!(
        all.iter().any(|one| one.starts_with("file.mode ")),
        "{all:?}"
    );
    mend(&desk, home(&desk), "file.mode");
    assert_eq!(mode(&desk.home.db()), 0o600);
    mend(&desk, home(&desk), "relay.down");
}

#[test]
fn piped_a_finding_is_a_record_with_its_fix() {
    let mut desk = desk();
    desk.home.kill();
    let output = command(&desk, home(&desk), &["doctor"]).output().unwrap();
    let ran = Ran::of(&output);
    assert_eq!(ran.code, 10, "{ran:?}");
    let line = format!(
        "error\trelay.down\t{}\tdoes not answer\trelayroom up\n",
        desk.home.address
    );
    assert_eq!((ran.out, ran.err), (line, String::new()));
    // A relay named by a flag is the one its mending command names.
    let other = format!("http://{}", free_address());
    let words = ["doctor", "--json", "--server", &other];
    let ran = Ran::of(&command(&desk, home(&desk), &words).output().unwrap());
    let fix = &ran.json()["findings"][0]["fix"];
    assert_eq!(fix, &format!("relayroom --server {other} up"));
}

#[test]
fn a_relay_that_cannot_write_is_told_with_its_cause() {
    let mut desk = Desk::without_relay();
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    desk.home.address = format!("http://{}", relay.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in relay.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = [0; 4096];
            let _ = stream.read(&mut asked);
            let body = r#"{"ok":false,"cause":"the disk of the database is full"}"#;
            let head = "HTTP/1.1 503 x\r\ncontent-type: application/json\r\nconnection: close";
            let _ = write!(
                stream,
                "{head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let unwell = found(&desk, home(&desk), "relay.health");
    assert_eq!(
        unwell["text"],
        "cannot write: the disk of the database is full"
    );
}

#[test]
fn the_admin_token_is_private_and_there() {
    let desk = desk();
    let admin = config::admin_token_file(&desk.home.db());
    set_mode(&admin, 0o640);
    mend(&desk, home(&desk), "admin.token");
    assert_eq!(mode(&admin), 0o600);
    fs::remove_file(&admin).unwrap();
    let pid = Store::holder(&desk.home.db()).unwrap().pid;
    let lost = mend(&desk, home(&desk), "admin.token");
    assert_eq!(
        lost["fix"],
        format!("kill {pid} && sleep 2 && relayroom up")
    );
    assert!(admin.exists());
}

#[test]
fn a_damaged_database_is_mended_by_its_newest_backup() {
    let mut desk = desk();
    desk.home.done(&["backup"]);
    desk.home.kill();
    // What stands in the log is folded in first, so that the damage is not covered by it.
    Connection::open(desk.home.db())
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    damage(&desk.home.db());
    let damaged = mend(&desk, home(&desk), "file.check");
    assert!(
        damaged["text"].as_str().unwrap().contains("damaged"),
        "{damaged}"
    );
    mend(&desk, home(&desk), "relay.down");
    assert_eq!(desk.home.done(&["part", "list"]).lines().count(), 2);
}

#[test]
fn a_log_that_grew_is_folded_by_a_new_start() {
    let mut desk = desk();
    desk.home.kill();
    let log = format!("{}-wal", desk.home.db().display());
    File::options()
        .write(true)
        .open(&log)
        .unwrap()
        .set_len(300 << 20)
        .unwrap();
    mend(&desk, home(&desk), "file.wal");
}

#[test]
fn an_old_backup_is_followed_by_a_new_one() {
    let desk = desk();
    let folder = desk.home.db().with_file_name("backups");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("relayroom-20200101T000000.000Z.db"), "").unwrap();
    mend(&desk, home(&desk), "backup.old");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn cli_025_what_means_nothing_in_the_settings_is_told_and_taken_out() {
    let desk = desk();
    let folder = home(&desk).join(".config/relayroom");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("config.toml");
    let text = "servr = \"x\"\nrelays = [\"https://old.example\"]\n";
    fs::write(&file, text).unwrap();
    mend(&desk, home(&desk), "config.unknown");
    mend(&desk, home(&desk), "relays.stray");
    assert_eq!(fs::read_to_string(&file).unwrap(), "relays = []\n");

    let mut misspelt = command(&desk, home(&desk), &["doctor", "--json"]);
    misspelt.env("RELAYROOM_SERVR", "x");
    let finding = Ran::of(&misspelt.output().unwrap()).json()["findings"][0].clone();
    assert_eq!(finding["code"], "config.unknown");
    let fix = finding["fix"].as_str().unwrap();
    let line = format!("export RELAYROOM_SERVR=x; {fix}; relayroom doctor --strict");
    let ran = shell(&desk, home(&desk), &line);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn cli_025_settings_are_printed_with_their_source() {
    let desk = desk();
    let words = ["doctor", "--settings", "--server", "http://127.0.0.1:9"];
    let out = desk.done(home(&desk), &words);
    let row = |name: &str| {
        let start = format!("{name}\t");
        out.lines()
            .find(|line| line.starts_with(&start))
            .unwrap()
            .to_owned()
    };
    assert_eq!(row("server"), "server\thttp://127.0.0.1:9\tfrom flag");
    assert!(row("listen").ends_with("built in"), "{out}");
}

#[test]
fn candidates_nobody_looks_at_are_told_after_two_weeks() {
    let mut desk = desk();
    let lesson = serde_json::json!({"kind": "fact", "title": "Use make", "body": "Not npm."});
    let learned = desk.home.tool("web", "learn", &lesson);
    assert!(learned.get("error").is_none(), "{learned}");
    desk.home.kill();
    Connection::open(desk.home.db())
        .unwrap()
        .execute(
            "UPDATE knowledge SET created_at = created_at - 15 * 86400000",
            [],
        )
        .unwrap();
    desk.home.serve();
    mend(&desk, home(&desk), "knowledge.waiting");
}

#[test]
fn a_model_without_a_price_is_told_until_it_has_one() {
    let desk = desk();
    let code = desk.home.done(&["project", "code"]).trim().to_owned();
    let at = relayroom::store::system_clock().0.rfc3339();
    let row = json!({"key": "m1", "at": at, "model": "nobodys-model", "input_tokens": 4, "output_tokens": 120});
    let post =
        json!({"code": code, "part": "web", "provider": "claude", "session": "s", "rows": [row]});
    let address = desk
        .home
        .address
        .trim_start_matches("http://")
        .parse()
        .unwrap();
    let answer = ask(&Call::new(address, "POST", "/api/usage").json(&post)).unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);

    let missing = found(&desk, home(&desk), "price.missing");
    assert_eq!(missing["subject"], "nobodys-model");
    let editor = desk.path("editor");
    let price = "as_of = \"2026-12-01\"\n[[price]]\nmodel = \"nobodys-model\"\ninput = 3.0\noutput = 15.0\n";
    fs::write(
        &editor,
        format!("#!/bin/sh\ncat > \"$1\" <<'EOF'\n{price}EOF\n"),
    )
    .unwrap();
    set_mode(&editor, 0o755);
    let fix = missing["fix"].as_str().unwrap();
    let line = format!("EDITOR={}; {fix}", editor.display());
    let ran = shell(&desk, home(&desk), &line);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(codes(&desk, home(&desk)), [""; 0]);
}
