//! `files.json`: how far each transcript was read (usage.md 3, 5).

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::Serialize;

use super::event::Provider;
use super::parse::State;
use super::place;
use super::place::Place;
use crate::store::Time;

const FILE: &str = "files.json";
const LOCK: &str = "files.lock";

/// How long another run is waited for; then it does the reading.
const WAIT: Duration = Duration::from_millis(300);

/// Bytes at a file's beginning that tell it from another in its place.
const HEAD: u64 = 1 << 10;

/// A file not grown for this long, in milliseconds, is forgotten: keys prevent double counting.
const FORGET_MS: i64 = 30 * 24 * 3_600_000;

/// How far one transcript was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    device: u64,
    inode: u64,
    /// Bytes read.
    pub offset: u64,
    /// Hash of the first bytes, and of how many.
    head: String,
    head_length: u64,
    /// The session its rows are posted with.
    pub session: String,
    /// Whether a child of that session writes it.
    pub sidechain: bool,
    /// When it was read last, in milliseconds since 1970.
    pub at: i64,
    /// What its lines so far come to.
    pub state: State,
    /// When a document, which is written anew as a whole, was changed last: nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<i128>,
}

/// All transcripts of a part.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Files {
    /// When a run read last, in milliseconds since 1970.
    pub last_run: i64,
    files: BTreeMap<PathBuf, Seen>,
}

/// The files, for the one run that may read.
pub struct Held {
    /// What is known.
    pub files: Files,
    place: Place,
    _lock: Option<File>,
}

impl Held {
    /// Waits for another run at most 300 ms; `None`: that one reads. Without a folder of state nobody else can be reading.
    #[must_use]
    pub fn take(place: &Place) -> Option<Self> {
        let lock = place.lock(LOCK, WAIT);
        if lock.is_none() && place.path(LOCK).is_ok() {
            return None;
        }
        Some(Self {
            files: place.load(FILE).unwrap_or_default(),
            place: place.clone(),
            _lock: lock,
        })
    }

    /// Writes what is known.
    pub fn save(&self) {
        // What cannot be written is read again: late and twice is harmless.
        let _ = self.place.save(FILE, &self.files);
    }
}

impl Files {
    /// What is known of a file.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Seen> {
        self.files.get(path)
    }

    /// Notes how far a file was read.
    pub fn note(&mut self, path: PathBuf, seen: Seen) {
        self.files.insert(path, seen);
    }

    /// Known files with more in them than was read. Files that are gone, or have not grown for a month, are forgotten.
    pub fn grown(&mut self, now: Time) -> Vec<PathBuf> {
        let mut grown = Vec::new();
        self.files.retain(|path, seen| {
            let Ok(meta) = fs::metadata(path) else {
                return false;
            };
            if !seen.is_read(&meta) {
                grown.push(path.clone());
                return true;
            }
            now.since(Time(seen.at)) < FORGET_MS
        });
        grown
    }
}

impl Seen {
    /// A file nothing was read of.
    fn new(provider: Provider, session: &str, sidechain: bool) -> Self {
        Self {
            device: 0,
            inode: 0,
            offset: 0,
            head: String::new(),
            head_length: 0,
            session: session.to_owned(),
            sidechain,
            at: 0,
            state: State::new(provider),
            changed: None,
        }
    }

    /// Whether nothing more is in the file.
    #[must_use]
    pub fn is_read(&self, meta: &Metadata) -> bool {
        (self.device, self.inode, self.offset) == (meta.dev(), meta.ino(), meta.len())
            && self
                .changed
                .is_none_or(|changed| changed == changed_at(meta))
    }

    /// What of `known` still holds for the file: from the start, if another file is in its place or it was cut.
    ///
    /// # Errors
    /// The file system's.
    pub fn resume(
        known: Option<&Self>,
        file: &File,
        meta: &Metadata,
        provider: Provider,
        (session, sidechain): (&str, bool),
    ) -> io::Result<Self> {
        let same = known.filter(|known| {
            (known.device, known.inode) == (meta.dev(), meta.ino())
                && known.offset <= meta.len()
                && head(file, known.head_length).is_ok_and(|head| head == known.head)
        });
        let mut seen = match same {
            Some(known) => known.clone(),
            None => Self::new(provider, session, sidechain),
        };
        seen.device = meta.dev();
        seen.inode = meta.ino();
        seen.head_length = meta.len().min(HEAD);
        seen.head = head(file, seen.head_length)?;
        Ok(seen)
    }
}

/// When a file was changed last, in nanoseconds since 1970.
#[must_use]
pub fn changed_at(meta: &Metadata) -> i128 {
    i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec())
}

fn head(file: &File, length: u64) -> io::Result<String> {
    let mut bytes = vec![0; usize::try_from(length.min(HEAD)).unwrap_or_default()];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(place::hash(&bytes))
}
