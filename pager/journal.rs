//! What a restart has to know of a part's delivery: one small JSON file, written before each step that could be seen twice (pager.md 2,
//! "Journal"). It holds no connect code and no token, and its name is a hash of both names.

use std::fs;
use std::io;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;
use sha2::Digest;

use super::facts::Identity;
use super::target::PartKey;
use crate::api::Stage as Reported;
use crate::store::Time;

/// The form of the file; another one is moved aside.
const VERSION: u32 = 1;

/// How far a delivery had come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The text is about to be sent.
    Intent,
    /// It was sent.
    Typed,
    /// An Enter is about to be pressed; `enters` counts it.
    Entering,
    /// Nothing is open.
    Done,
}

/// One delivery as it stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// UUID of the wake.
    pub wake: String,
    /// Which nudge of it.
    pub nudge: u32,
    /// Tag of the wake.
    pub tag: String,
    /// Its line.
    pub line: String,
    /// How far it had come.
    pub stage: Stage,
    /// Enters pressed, the one about to be pressed included.
    pub enters: u32,
    /// Texts sent, the one about to be sent included.
    pub attempts: u32,
    /// When this was written.
    pub at: Time,
    /// Tag of the line in the composer, an earlier wake's if that was found there.
    pub standing: String,
    /// How often that line stood above the composer before.
    pub echoes: usize,
    /// Start of the turn the hook had reported before.
    pub turn: Option<i64>,
}

/// A report the relay has not answered yet. A repeat carries the same event id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Unsent {
    /// UUID of the event.
    pub event: String,
    /// The wake.
    pub wake_id: String,
    /// The nudge.
    pub nudge: u32,
    /// When it happened, RFC 3339.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub stage: Reported,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content {
    v: u32,
    wake_id: String,
    nudge: u32,
    tag: String,
    line: String,
    stage: Stage,
    enters: u32,
    attempts: u32,
    at: String,
    standing: String,
    echoes: usize,
    turn: Option<i64>,
    identity: Option<Identity>,
    unsent: Vec<Unsent>,
}

/// A part's journal.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// The last delivery, if there was any.
    pub record: Option<Record>,
    /// The pane it went to.
    pub identity: Option<Identity>,
    /// Reports still to be answered, in order.
    pub unsent: Vec<Unsent>,
}

impl Journal {
    /// Opens the journal of a part in `folder`. The second value says where a file that could not be read was moved to: its part is not
    /// typed into for 90 s then.
    ///
    /// # Errors
    /// If an unreadable file cannot be moved aside either.
    pub fn open(folder: &Path, key: &PartKey, now: Time) -> io::Result<(Self, Option<PathBuf>)> {
        let path = folder.join(format!("{}.json", name(key)));
        let empty = Self {
            path: path.clone(),
            record: None,
            identity: None,
            unsent: Vec::new(),
        };
        let content: Option<Content> = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((empty, None)),
            Err(error) => return Err(error),
            Ok(bytes) => serde_json::from_slice(&bytes).ok(),
        };
        let read = content
            .filter(|content| content.v == VERSION)
            .and_then(|content| Some((Time::parse(&content.at)?, content)));
        let Some((at, content)) = read else {
            let aside = path.with_extension(format!("unreadable-{}", now.0));
            fs::rename(&path, &aside)?;
            return Ok((empty, Some(aside)));
        };
        let record = Record {
            wake: content.wake_id,
            nudge: content.nudge,
            tag: content.tag,
            line: content.line,
            stage: content.stage,
            enters: content.enters,
            attempts: content.attempts,
            at,
            standing: content.standing,
            echoes: content.echoes,
            turn: content.turn,
        };
        let journal = Self {
            path,
            record: Some(record),
            identity: content.identity,
            unsent: content.unsent,
        };
        Ok((journal, None))
    }

    /// Writes the file: temporary name, fsync, rename, fsync of the folder. Without any record there is nothing to write.
    ///
    /// # Errors
    /// Any error of the file system; the old file stands then.
    pub fn save(&self) -> io::Result<()> {
        let Some(record) = &self.record else {
            return Ok(());
        };
        let content = Content {
            v: VERSION,
            wake_id: record.wake.clone(),
            nudge: record.nudge,
            tag: record.tag.clone(),
            line: record.line.clone(),
            stage: record.stage,
            enters: record.enters,
            attempts: record.attempts,
            at: record.at.rfc3339(),
            standing: record.standing.clone(),
            echoes: record.echoes,
            turn: record.turn,
            identity: self.identity.clone(),
            unsent: self.unsent.clone(),
        };
        let temporary = self.path.with_extension("tmp");
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(&serde_json::to_vec(&content)?)?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::File::open(folder)?.sync_all()
    }
}

/// A file name that tells neither code nor part.
#[must_use]
pub fn name(key: &PartKey) -> String {
    let hash = sha2::Sha256::digest(format!("{}\n{}", key.code, key.part));
    hash[..12]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> PartKey {
        PartKey {
            code: "SECRETCODE".into(),
            part: "web".into(),
        }
    }

    fn record() -> Record {
        Record {
            wake: "w".into(),
            nudge: 2,
            tag: "kqmwvz".into(),
            line: "relayroom: you have mail (tag kqmwvz)".into(),
            stage: Stage::Entering,
            enters: 1,
            attempts: 1,
            at: Time(1_700_000_000_000),
            standing: "kqmwvz".into(),
            echoes: 3,
            turn: Some(5),
        }
    }

    #[test]
    fn reads_back_what_it_wrote_and_names_no_code() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, aside) = Journal::open(folder.path(), &key(), Time(0)).unwrap();
        assert!(journal.record.is_none() && aside.is_none());
        journal.record = Some(record());
        journal.unsent.push(Unsent {
            event: "e".into(),
            wake_id: "w".into(),
            nudge: 2,
            at: "2026-01-02T03:04:05.678Z".into(),
            stage: Reported::Typed {
                tag: "kqmwvz".into(),
            },
        });
        journal.save().unwrap();
        let (again, _) = Journal::open(folder.path(), &key(), Time(0)).unwrap();
        assert_eq!(again.record, Some(record()));
        assert_eq!(again.unsent, journal.unsent);
        let text = fs::read_to_string(&journal.path).unwrap();
        assert!(!text.contains("SECRETCODE"));
        assert!(!journal.path.to_string_lossy().contains("SECRETCODE"));
    }

    #[test]
    fn pager_082_a_cut_file_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(folder.path(), &key(), Time(0)).unwrap();
        journal.record = Some(record());
        journal.save().unwrap();
        let bytes = fs::read(&journal.path).unwrap();
        fs::write(&journal.path, &bytes[..7]).unwrap();
        let (empty, aside) = Journal::open(folder.path(), &key(), Time(9)).unwrap();
        assert!(empty.record.is_none());
        assert_eq!(fs::read(aside.unwrap()).unwrap(), &bytes[..7]);
        assert!(
            Journal::open(folder.path(), &key(), Time(9))
                .unwrap()
                .1
                .is_none()
        );
    }

    #[test]
    fn a_failed_write_is_told_and_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, _) = Journal::open(folder.path(), &key(), Time(0)).unwrap();
        journal.record = Some(record());
        journal.save().unwrap();
        fs::create_dir(journal.path.with_extension("tmp")).unwrap();
        journal.record.as_mut().unwrap().enters = 2;
        assert!(journal.save().is_err());
        let (old, _) = Journal::open(folder.path(), &key(), Time(0)).unwrap();
        assert_eq!(old.record.unwrap().enters, 1);
    }
}
