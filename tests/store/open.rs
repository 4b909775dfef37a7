//! Files that are not ours, damaged, newer, held by another: refused, named, and left exactly as they were.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use relayroom::store::SCHEMA_VERSION;
use relayroom::store::Store;
use relayroom::store::Time;

fn open(path: &Path) -> Result<Store, String> {
    Store::open(path, "127.0.0.1:1", Time(1_000)).map_err(|error| error.to_string())
}

/// Every file of the folder with its bytes, the lock file aside.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .filter(|(name, _)| !name.ends_with(".lock"))
        .collect()
}

/// A closed file with one row of its own in it.
fn made(path: &Path) {
    let store = open(path).unwrap();
    store
        .write_blocking(|tx| relayroom::identity::found(tx, "kim", Time(1_000)))
        .unwrap();
}

fn refused(path: &Path, words: &str) {
    let before = bytes(path.parent().unwrap());
    let error = open(path).err().unwrap();
    assert!(error.contains(words), "{error:?} lacks {words:?}");
    assert!(
        error.contains(path.file_name().unwrap().to_str().unwrap()),
        "{error}"
    );
    assert_eq!(bytes(path.parent().unwrap()), before, "a file was touched");
}

#[test]
fn case_s04_zeros_text_and_empty_files_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    for content in [vec![0; 4096], b"hello, I am a text".to_vec(), Vec::new()] {
        fs::write(&path, content).unwrap();
        refused(&path, "not a RelayRoom database");
    }
}

#[test]
fn case_s04_a_truncated_copy_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    made(&whole);
    let content = fs::read(&whole).unwrap();
    for keep in [50, 4096, content.len() / 2, content.len() - 4096] {
        let path = folder.path().join("cut.db");
        fs::write(&path, &content[..keep]).unwrap();
        refused(&path, "left as it is");
    }
}

#[test]
fn case_s04_one_damaged_page_is_found_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    made(&path);
    let mut content = fs::read(&path).unwrap();
    let last = content.len() - 4096;
    content[last..].fill(0xff);
    fs::write(&path, &content).unwrap();
    refused(&path, "damaged");
}

#[test]
fn case_s04_a_newer_schema_and_a_foreign_database_are_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    made(&path);
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
        .unwrap();
    drop(other);
    refused(&path, "newer");

    let path = folder.path().join("foreign.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(other);
    refused(&path, "another program");
}

#[test]
fn case_s04_a_folder_a_dead_link_and_a_read_only_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("d.db");
    fs::create_dir(&directory).unwrap();
    refused(&directory, "is not a file");

    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("gone.db"), &link).unwrap();
    refused(&link, "leads nowhere");

    let path = folder.path().join("relay.db");
    made(&path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    refused(&path, "chmod u+w");
}

#[test]
fn case_s04_a_missing_file_beside_its_log_is_never_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    fs::write(folder.path().join("relay.db-wal"), b"mail of somebody").unwrap();
    refused(&path, "is missing");
}

#[test]
fn case_s12_a_second_server_is_refused_by_any_spelling_and_a_dead_holder_blocks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    let first = open(&path).unwrap();
    first.announce("127.0.0.1:4711");
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for spelling in [path.clone(), link, folder.path().join(".").join("relay.db")] {
        let error = open(&spelling).err().unwrap();
        assert!(
            error.contains(&format!("pid {} 127.0.0.1:4711", std::process::id())),
            "{error}"
        );
    }
    drop(first);
    assert!(open(&path).is_ok());
}

#[test]
fn case_s12_a_file_with_two_names_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    made(&path);
    fs::hard_link(&path, folder.path().join("other.db")).unwrap();
    refused(&path, "several names");
}

#[test]
fn a_new_file_is_private_and_carries_schema_and_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    made(&path);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let fresh = rusqlite::Connection::open_in_memory().unwrap();
    fresh
        .execute_batch(include_str!("../../schema.sql"))
        .unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    let tables = |connection: &rusqlite::Connection| -> Vec<(String, Option<String>)> {
        connection
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    };
    assert_eq!(tables(&file), tables(&fresh));
}

#[test]
fn a_start_that_was_killed_while_it_made_the_file_hinders_no_later_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    fs::write(folder.path().join("relay.db.new"), b"half a header").unwrap();
    made(&path);
    assert!(open(&path).is_ok());
    assert!(!folder.path().join("relay.db.new").exists());
}

#[test]
fn case_s03_a_disk_that_is_full_at_the_first_start_leaves_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    // A folder in the way plays the part of the full disk: the name cannot be made.
    fs::create_dir(folder.path().join("relay.db.new")).unwrap();
    assert!(open(&path).err().unwrap().contains("cannot be made"));
    assert!(!path.exists());
    fs::remove_dir(folder.path().join("relay.db.new")).unwrap();
    assert!(open(&path).is_ok());
}

#[test]
fn a_file_closed_in_peace_holds_everything_and_has_no_log_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.db");
    let store = open(&path).unwrap();
    store
        .write_blocking(|tx| relayroom::identity::found(tx, "kim", Time(1_000)))
        .unwrap();
    store.read_blocking(relayroom::identity::instance).unwrap();
    drop(store);
    assert!(!folder.path().join("relay.db-wal").exists());
}
