//! Changes of files: planned first, then made one by one, and undone together if a later step fails (cli.md 4).

use std::fs;
use std::io;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::path::PathBuf;

use crate::cli::failure::Exit;
use crate::cli::failure::Failure;

/// What is to become of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file. A link stays one: what it leads to is changed.
    pub path: PathBuf,
    /// Its text now; `None`: there is none.
    pub before: Option<String>,
    /// Its text afterwards; `None`: there is to be none.
    pub after: Option<String>,
    /// Whether a secret is in it: then only its owner may read it.
    pub secret: bool,
}

impl Change {
    /// A change of a file as it stands now, from its text to that of `to`.
    ///
    /// # Errors
    /// Exit 3 for a file that cannot be read as text.
    pub fn of(
        path: &Path,
        secret: bool,
        to: impl FnOnce(Option<&str>) -> Result<Option<String>, Failure>,
    ) -> Result<Self, Failure> {
        let before = read(path)?;
        let after = to(before.as_deref())?;
        Ok(Self {
            path: path.to_owned(),
            before,
            after,
            secret,
        })
    }

    fn is_needed(&self) -> bool {
        self.before != self.after
            || self.secret && self.after.is_some() && is_readable_by_others(&self.path)
    }
}

/// The text of a file; `None` if there is none.
///
/// # Errors
/// Exit 3 for one that cannot be read as text, or a link that leads nowhere.
pub fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        Err(error) => Err(Failure::new(
            Exit::Refused,
            "conflict",
            format!("{}: {error}", path.display()),
        )),
    }
}

fn is_readable_by_others(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.permissions().mode() & 0o077 != 0)
}

/// What was done, so that it can be undone.
#[derive(Debug, Default)]
pub struct Done {
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    /// A file that was there: its text and mode.
    Changed(PathBuf, Vec<u8>, u32),
    Made(PathBuf),
    Folder(PathBuf),
}

impl Done {
    /// Makes a change, unless nothing would be different; whether something is.
    ///
    /// # Errors
    /// The file system's; the file is as before then.
    pub fn make(&mut self, change: &Change) -> Result<bool, Failure> {
        if !change.is_needed() {
            return Ok(false);
        }
        self.try_make(change)
            .map_err(|error| Failure::fault(format!("{}: {error}", change.path.display())))?;
        Ok(true)
    }

    fn try_make(&mut self, change: &Change) -> io::Result<()> {
        let Some(text) = &change.after else {
            self.remember(&change.path)?;
            return fs::remove_file(&change.path);
        };
        let path = match change.path.canonicalize() {
            Ok(path) => path,
            Err(_) => change.path.clone(),
        };
        if let Some(folder) = path.parent() {
            self.folder(folder, change.secret)?;
        }
        let present = path.metadata().ok().map(|meta| meta.permissions().mode());
        let mode = match (present, change.secret) {
            (_, true) => 0o600,
            (Some(mode), false) => mode & 0o777,
            (None, false) => 0o644,
        };
        if present.is_some() {
            self.remember(&path)?;
        }
        replace(&path, text, mode)?;
        if present.is_none() {
            self.steps.push(Step::Made(path));
        }
        Ok(())
    }

    fn remember(&mut self, path: &Path) -> io::Result<()> {
        let mode = path.metadata()?.permissions().mode() & 0o777;
        let text = fs::read(path)?;
        self.steps.push(Step::Changed(path.to_owned(), text, mode));
        Ok(())
    }

    /// Makes a folder and those above it.
    fn folder(&mut self, folder: &Path, private: bool) -> io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|up| !up.as_os_str().is_empty() && !up.exists())
            .collect();
        for folder in missing.into_iter().rev() {
            fs::DirBuilder::new()
                .mode(if private { 0o700 } else { 0o755 })
                .create(folder)?;
            self.steps.push(Step::Folder(folder.to_owned()));
        }
        Ok(())
    }

    /// Notes a file that another step made.
    pub fn made(&mut self, path: PathBuf) {
        self.steps.push(Step::Made(path));
    }

    /// Undoes everything, the last first.
    pub fn undo(self) {
        for step in self.steps.into_iter().rev() {
            // What cannot be undone is left: the step's own failure is what the person is told.
            let _ = match step {
                Step::Changed(path, text, mode) => replace_bytes(&path, &text, mode),
                Step::Made(path) => fs::remove_file(path),
                Step::Folder(path) => fs::remove_dir(path),
            };
        }
    }
}

/// Temporary name, sync, rename: a reader sees the old text or the new one.
fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    replace_bytes(path, text.as_bytes(), mode)
}

fn replace_bytes(path: &Path, text: &[u8], mode: u32) -> io::Result<()> {
    let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let result = (|| {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &Path, after: Option<&str>, secret: bool) -> Change {
        Change::of(path, secret, |_| Ok(after.map(str::to_owned))).unwrap()
    }

    #[test]
    fn what_was_done_is_undone_to_the_byte_and_the_mode() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("old");
        fs::write(&old, "a\n").unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o664)).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&old, &link).unwrap();
        let new = folder.path().join("deep/er/new");
        let gone = folder.path().join("gone");
        fs::write(&gone, "x").unwrap();

        let mut done = Done::default();
        assert!(done.make(&change(&link, Some("b\n"), true)).unwrap());
        assert!(done.make(&change(&new, Some("n"), true)).unwrap());
        assert!(done.make(&change(&gone, None, false)).unwrap());
        assert!(!done.make(&change(&new, Some("n"), true)).unwrap());
        assert!(link.is_symlink() && !gone.exists());
        assert_eq!(fs::read_to_string(&old).unwrap(), "b\n");
        for path in [&old, &new] {
            assert!(!is_readable_by_others(path));
        }
        done.undo();
        assert_eq!(fs::read_to_string(&old).unwrap(), "a\n");
        assert_eq!(
            fs::metadata(&old).unwrap().permissions().mode() & 0o777,
            0o664
        );
        assert!(gone.exists() && !folder.path().join("deep").exists());
    }

    #[test]
    fn a_dangling_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert_eq!(read(&link).unwrap_err().exit, Exit::Refused);
        assert_eq!(read(&folder.path().join("none")), Ok(None));
    }
}
