//! The database: whole, private, its log bounded, its disk not full, backed up lately.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use super::around::Around;
use super::finding::Finding;
use super::finding::quoted;
use crate::cli::text;
use crate::store::Time;
use crate::store::backup;
use crate::store::backup::names;

/// A log over this size is told, in bytes.
const WAL: u64 = 256 << 20;

/// Less room than this on the disk is told, in bytes.
const ROOM: u64 = 512 << 20;

/// A backup older than this is told, in milliseconds.
const BACKUP_MS: i64 = 7 * 24 * 3_600_000;

/// How long the file may be read: a start reads all of it, doctor as far as it comes.
const READ: Duration = Duration::from_millis(2_500);

/// What is known of it.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The file.
    pub db: PathBuf,
    /// Its mode; `None`: there is none.
    pub mode: Option<u32>,
    /// What is wrong inside; `None`: nothing that was found in time.
    pub damage: Option<String>,
    /// When it was made.
    pub made_at: Option<Time>,
    /// Bytes of its log.
    pub wal: u64,
    /// Bytes left on its disk.
    pub room: Option<u64>,
    /// The newest backup in the usual folder.
    pub backup: Option<(PathBuf, Time)>,
    /// What stands before a command that needs the relay to be down, and behind it.
    pub stopped: (String, &'static str),
    /// The command that ends the relay and starts it again.
    pub restart: String,
}

/// Gathers; reads the file for a bounded time.
pub async fn gather(around: &Around) -> Facts {
    let db = around.db.clone();
    let mode = std::fs::metadata(&db)
        .ok()
        .map(|meta| meta.permissions().mode() & 0o777);
    let (damage, made_at) = match mode {
        Some(_) => read(db.clone()).await,
        None => (None, None),
    };
    let folder = db.with_file_name("backups");
    let newest = names::newest(&folder);
    Facts {
        mode,
        damage,
        made_at,
        wal: size(&db, "-wal"),
        room: db.parent().and_then(room),
        backup: newest.map(|at| (folder.join(names::of(at)), at)),
        stopped: match around.pid {
            Some(pid) => (format!("kill {pid} && sleep 2 && "), " && relayroom up"),
            None => (String::new(), ""),
        },
        restart: around.restart(),
        db,
    }
}

/// What is wrong in the file, and when it was made.
async fn read(db: PathBuf) -> (Option<String>, Option<Time>) {
    let read = tokio::task::spawn_blocking(move || backup::look(&db, READ)).await;
    match read {
        Ok(Ok(made_at)) => (None, made_at),
        Ok(Err(error)) => (Some(error.cause), None),
        Err(_) => (None, None),
    }
}

fn size(db: &Path, tail: &str) -> u64 {
    let mut name = db.as_os_str().to_owned();
    name.push(tail);
    std::fs::metadata(PathBuf::from(name)).map_or(0, |meta| meta.len())
}

fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts, now: Time) -> Vec<Finding> {
    let Some(mode) = facts.mode else {
        return Vec::new();
    };
    let db = facts.db.display().to_string();
    let mut found = Vec::new();
    if let Some(damage) = &facts.damage {
        let finding = Finding::error("file.check", &db, damage);
        found.push(match &facts.backup {
            Some((backup, _)) => {
                let (before, behind) = &facts.stopped;
                let backup = quoted(&backup.to_string_lossy());
                finding.fix(format!("{before}relayroom restore {backup} --yes{behind}"))
            }
            None => finding,
        });
    }
    if mode & 0o077 != 0 {
        let text = format!("is readable by others (mode {mode:o})");
        let fix = format!("chmod 600 {}", quoted(&db));
        found.push(Finding::error("file.mode", &db, text).fix(fix));
    }
    if facts.wal > WAL {
        let text = format!("its write-ahead log has {}", text::bytes(facts.wal));
        found.push(Finding::warning("file.wal", &db, text).fix(&facts.restart));
    }
    if let Some(room) = facts.room.filter(|room| *room < ROOM) {
        let folder = facts
            .db
            .parent()
            .unwrap_or(&facts.db)
            .to_string_lossy()
            .into_owned();
        let text = format!("its disk has {} left", text::bytes(room));
        let fix = format!("df -h {}", quoted(&folder));
        found.push(Finding::warning("disk.low", folder, text).fix(fix));
    }
    found.extend(old_backup(facts, now));
    found
}

/// A file younger than a week needs no backup yet.
fn old_backup(facts: &Facts, now: Time) -> Option<Finding> {
    let text = match facts.backup {
        Some((_, at)) if now.since(at) <= BACKUP_MS => return None,
        Some((_, at)) => format!("the newest is {} old", text::age(now, at)),
        None => {
            facts.made_at.filter(|at| now.since(*at) > BACKUP_MS)?;
            "there is none".to_owned()
        }
    };
    let folder = facts.db.with_file_name("backups");
    let finding = Finding::warning("backup.old", folder.display(), text);
    Some(finding.fix("relayroom backup"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(40 * 24 * 3_600_000);

    fn well() -> Facts {
        Facts {
            db: "/data/relayroom.db".into(),
            mode: Some(0o600),
            made_at: Some(NOW),
            room: Some(1 << 40),
            restart: "relayroom up".into(),
            ..Facts::default()
        }
    }

    fn found(facts: &Facts) -> Vec<(&'static str, String)> {
        judge(facts, NOW)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    #[test]
    fn a_sound_young_file_gives_no_finding_nor_does_one_that_is_not_there() {
        assert_eq!(found(&well()), []);
        let none = Facts {
            mode: None,
            wal: WAL + 1,
            ..well()
        };
        assert_eq!(found(&none), []);
    }

    #[test]
    fn a_damaged_file_is_mended_by_its_newest_backup() {
        let mut facts = Facts {
            damage: Some("is damaged".into()),
            ..well()
        };
        assert_eq!(found(&facts), [("file.check", String::new())]);
        facts.backup = Some(("/data/backups/b.db".into(), NOW));
        let restore = "relayroom restore /data/backups/b.db --yes";
        assert_eq!(found(&facts), [("file.check", restore.to_owned())]);
        facts.stopped = ("kill 7 && ".into(), " && relayroom up");
        let all = format!("kill 7 && {restore} && relayroom up");
        assert_eq!(found(&facts), [("file.check", all)]);
    }

    #[test]
    fn bounds_are_what_may_be_and_one_more_is_told() {
        let facts = |wal, room| Facts {
            wal,
            room: Some(room),
            ..well()
        };
        assert_eq!(found(&facts(WAL, ROOM)), []);
        let over = found(&facts(WAL + 1, ROOM - 1));
        assert_eq!(over[0], ("file.wal", "relayroom up".to_owned()));
        assert_eq!(over[1], ("disk.low", "df -h /data".to_owned()));
    }

    #[test]
    fn a_backup_is_missed_after_a_week() {
        let week_ago = Time(NOW.0 - BACKUP_MS);
        let before = Time(week_ago.0 - 1);
        let with = |made: Time, backup: Option<Time>| Facts {
            made_at: Some(made),
            backup: backup.map(|at| ("/b".into(), at)),
            ..well()
        };
        assert_eq!(found(&with(week_ago, None)), []);
        assert_eq!(found(&with(Time(0), Some(week_ago))), []);
        let old = [("backup.old", "relayroom backup".to_owned())];
        assert_eq!(found(&with(before, None)), old);
        assert_eq!(found(&with(NOW, Some(before))), old);
    }
}
