//! Names of backups, of what is unfinished, and which of both are to go.

use std::io;
use std::path::Path;
use std::path::PathBuf;

use crate::store::Time;

/// What stands behind the name of a backup that is being made.
const UNFINISHED: &str = ".part";

/// The name of a backup made now: `relayroom-20261201T093000.000Z.db`. Names in this form sort by time.
#[must_use]
pub fn of(now: Time) -> String {
    format!("relayroom-{}.db", stamp(now))
}

/// A time as part of a file's name: `20261201T093000.000Z`.
#[must_use]
pub fn stamp(now: Time) -> String {
    now.rfc3339().replace(['-', ':'], "")
}

/// Whether a file is called as [`of`] calls them.
fn is_of(name: &str) -> bool {
    const FORM: &[u8] = b"relayroom-00000000T000000.000Z.db";
    name.len() == FORM.len()
        && name.bytes().zip(FORM).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == *form,
        })
}

/// The name a backup has until it is whole.
#[must_use]
pub fn unfinished(backup: &Path) -> PathBuf {
    with(backup, UNFINISHED)
}

/// When the newest backup in `folder` that is called as [`of`] calls them was made.
#[must_use]
pub fn newest(folder: &Path) -> Option<Time> {
    let name = all(folder).ok()?.pop()?.file_name()?.to_str()?.to_owned();
    let digits: Vec<char> = name.chars().filter(char::is_ascii_digit).collect();
    let part = |from: usize, to: usize| digits[from..to].iter().collect::<String>();
    Time::parse(&format!(
        "{}-{}-{}T{}:{}:{}.{}Z",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(8, 10),
        part(10, 12),
        part(12, 14),
        part(14, 17)
    ))
}

/// Removes all but the `keep` newest backups in `folder` that are called as [`of`] calls them; returns what went.
///
/// # Errors
/// The file system's.
pub fn prune(folder: &Path, keep: usize) -> io::Result<Vec<PathBuf>> {
    let mut backups = all(folder)?;
    let old = backups.len().saturating_sub(keep);
    backups.truncate(old);
    for backup in &backups {
        std::fs::remove_file(backup)?;
    }
    Ok(backups)
}

/// Backups in `folder` that are called as [`of`] calls them, oldest first.
fn all(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_of) && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes what runs left that were killed half-way: unfinished copies beside `backup`, called as [`of`] calls them or for `backup`
/// itself.
pub(super) fn clear(backup: &Path) {
    let Some(folder) = backup.parent() else {
        return;
    };
    let unfinished: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let of = name.and_then(|name| name.strip_suffix(UNFINISHED));
            of.is_some_and(|name| is_of(name) || backup.ends_with(name))
        })
        .collect();
    for path in unfinished {
        remove_unfinished(&path);
    }
}

/// Removes an unfinished copy, and the journal SQLite may have left beside it.
pub fn remove_unfinished(path: &Path) {
    // What is not there need not go.
    let _ = std::fs::remove_file(with(path, "-journal"));
    let _ = std::fs::remove_file(path);
}

/// The path with something behind its name.
pub(super) fn with(path: &Path, tail: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(tail);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_time() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(newest(folder.path()), None);
        let now = Time::parse("2026-12-01T09:30:00.007Z").unwrap();
        assert_eq!(of(now), "relayroom-20261201T093000.007Z.db");
        for time in [now, Time(now.0 - 1_000)] {
            std::fs::write(folder.path().join(of(time)), "").unwrap();
        }
        assert_eq!(newest(folder.path()), Some(now));
    }

    #[test]
    fn only_backups_by_our_names_are_removed_and_the_newest_stay() {
        let folder = tempfile::tempdir().unwrap();
        let kept = [
            "relayroom-mine.db",
            "relayroom-20261201T093000.000Z.db.old",
            "relayroom-2026120aT093000.000Z.db",
            "notes.txt",
        ];
        for name in kept {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for time in 1..=5 {
            std::fs::write(folder.path().join(of(Time(time * 1_000))), "").unwrap();
        }
        let gone = prune(folder.path(), 2).unwrap();
        assert_eq!(gone.len(), 3);
        assert_eq!(
            all(folder.path()).unwrap(),
            [of(Time(4_000)), of(Time(5_000))].map(|name| folder.path().join(name))
        );
        assert!(kept.iter().all(|name| folder.path().join(name).exists()));
    }

    #[test]
    fn cli_029_the_rest_of_a_killed_run_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let dead = unfinished(&path(&of(Time(1))));
        for rest in [&dead, &with(&dead, "-journal"), &path("mine.db.part")] {
            std::fs::write(rest, "half").unwrap();
        }
        let kept = ["another.db.part", "part", "relayroom-x.part"];
        for name in kept {
            std::fs::write(path(name), "").unwrap();
        }
        clear(&path("mine.db"));
        let left = std::fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, kept);
    }
}
