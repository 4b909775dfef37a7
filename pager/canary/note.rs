//! The canary's own journal: which word it typed where, until the word is known to be gone. A file of its own, because the pager that
//! serves the part keeps writing the part's.

use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::config;
use crate::pager::facts::Identity;
use crate::pager::journal;
use crate::pager::target::PartKey;

/// A word that may stand in a composer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The word.
    pub nonce: String,
    /// The pane it was typed into.
    pub identity: Identity,
}

/// Where a part's note is kept.
pub fn path(folder: &Path, key: &PartKey) -> PathBuf {
    folder.join(format!("{}.canary", journal::name(key)))
}

/// Writes the note down before its word is typed.
///
/// # Errors
/// Any error of the file system; nothing may be typed then.
pub fn write(path: &Path, note: &Note) -> io::Result<()> {
    config::write_secret(path, &serde_json::to_string(note)?)
}

/// The note of an earlier run, if one is there and can be read.
pub fn read(path: &Path) -> Option<Note> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Its word is gone.
pub fn forget(path: &Path) {
    // A note that stays names a word that no composer holds: it permits nothing.
    let _ = fs::remove_file(path);
}
