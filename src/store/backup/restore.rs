//! Putting a backup in the file's place.

use std::path::Path;
use std::path::PathBuf;

use rusqlite::Connection;

use super::make::create;
use super::make::sync_folder;
use super::names;
use crate::store::Contents;
use crate::store::Fault;
use crate::store::OpenError;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::connect;
use crate::store::inspect;
use crate::store::lock::FileLock;
use crate::store::migrate;
use crate::store::open;

/// What stands behind the database's name while its successor is being made.
const COMING: &str = ".restore";

/// The place of a database no relay serves and none can open while this lives.
pub struct Place {
    db: PathBuf,
    _lock: FileLock,
}

/// A checked copy of a backup in the database's folder, not yet in its place; removed unless it takes it.
pub struct Coming {
    place: Place,
    path: PathBuf,
}

impl Drop for Coming {
    fn drop(&mut self) {
        // It is gone once it has the database's name.
        names::remove_unfinished(&self.path);
    }
}

impl Place {
    /// Takes the lock of the database at `db`, which need not be there.
    ///
    /// # Errors
    /// [`OpenError`], `held` if a relay serves it.
    pub fn take(db: &Path) -> Result<Self, OpenError> {
        let db = open::resolve(db)?;
        let lock = open::lock(&db, "restore")?;
        Ok(Self { db, _lock: lock })
    }

    /// What the present database holds; `None` where there is none.
    ///
    /// # Errors
    /// What is wrong with it: it can be replaced all the same.
    pub fn present(&self) -> Result<Option<Contents>, OpenError> {
        if !self.db.exists() {
            return Ok(None);
        }
        inspect::whole(&self.db).map(Some)
    }

    /// Whether `backup` is the present database itself.
    #[must_use]
    pub fn is(&self, backup: &Path) -> bool {
        backup.canonicalize().is_ok_and(|path| path == self.db)
    }

    /// Copies `backup`, what stands in a log beside it included, and lets `change` bring the copy up to date.
    ///
    /// # Errors
    /// A fault; the database and the backup are as they were.
    pub fn prepare(
        self,
        backup: &Path,
        change: impl FnOnce(&Connection) -> Outcome<()>,
    ) -> Outcome<Coming> {
        let coming = Coming {
            path: names::with(&self.db, COMING),
            place: self,
        };
        clear(&coming.place.db);
        let source = connect::inspector(backup, inspect::has_wal(backup))?;
        create(&coming.path).map_err(Fault::Io)?;
        let to = coming.path.to_str();
        let to = to.ok_or_else(|| Fault::Io(std::io::ErrorKind::InvalidFilename.into()))?;
        source.execute("VACUUM INTO ?1", [to])?;
        let copy = connect::maker(&coming.path)?;
        migrate::migrate(&copy)?;
        let changes = copy.unchecked_transaction()?;
        change(&changes)?;
        changes.commit()?;
        copy.close().map_err(|(_, error)| error)?;
        std::fs::File::open(&coming.path)
            .and_then(|file| file.sync_all())
            .map_err(Fault::Io)?;
        Ok(coming)
    }
}

impl Coming {
    /// Gives the copy the database's name; what had it is kept under the name that is returned. Killed at any instant, one of the two
    /// stands whole under the database's name.
    ///
    /// # Errors
    /// The file system's.
    pub fn take_place(self, now: Time) -> std::io::Result<Option<PathBuf>> {
        let db = &self.place.db;
        let kept = db
            .exists()
            .then(|| names::with(db, &format!(".before-{}", names::stamp(now))));
        if let Some(kept) = &kept {
            // A damaged file keeps its log as it is.
            if inspect::quick(db).is_ok() {
                fold(db);
            }
            // A second name for the old file first, so that the database's own name is never without a file.
            std::fs::hard_link(db, kept)?;
            for tail in ["-wal", "-shm"] {
                let log = names::with(db, tail);
                if log.exists() {
                    std::fs::rename(&log, names::with(kept, tail))?;
                }
            }
        }
        std::fs::rename(&self.path, db)?;
        sync_folder(db)?;
        Ok(kept)
    }
}

/// Removes what a restore left that was ended half-way.
pub fn clear(db: &Path) {
    names::remove_unfinished(&names::with(db, COMING));
}

/// Brings what a killed relay left in the log into the file, so that one file is all there is. Where it cannot be, the log goes with it.
fn fold(db: &Path) {
    if let Ok(connection) = connect::writer(db) {
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}
