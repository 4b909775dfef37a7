//! The folder a part's hook keeps its state in (usage.md 5): made for the owner only, files replaced by rename, locks held by processes.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Digest;

use super::find::Joined;
use crate::config::Env;

/// How often a lock that is held is tried again.
const AGAIN: Duration = Duration::from_millis(2);

/// Names the part whose folder this is, for who comes without an event: the pager and `doctor`.
const OWNER: &str = "part.json";

/// Whose state a folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its `.relayroom/config.toml`; none if flags named the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<PathBuf>,
    /// The relay its reports go to.
    pub server: String,
    /// The part's name.
    pub part: String,
}

/// A state folder. Without a home there is none: then everything is read from its start, and nothing is kept for later.
#[derive(Debug, Clone)]
pub struct Place {
    folder: Option<PathBuf>,
}

impl Place {
    /// The folder of a part: that of its config file, or of none.
    #[must_use]
    pub fn of(env: &Env, joined: &Joined) -> Self {
        match &joined.config {
            Some(config) => Self::of_config(env, config),
            None => {
                let part = format!("{}\n{}\n{}", joined.server, joined.code, joined.part);
                Self::named(env, &hash(part.as_bytes()))
            }
        }
    }

    /// The folder of the part of this config file, however its path is spelt.
    #[must_use]
    pub fn of_config(env: &Env, config: &Path) -> Self {
        let config = fs::canonicalize(config).unwrap_or_else(|_| config.to_owned());
        Self::named(env, &hash(config.as_os_str().as_encoded_bytes()))
    }

    fn named(env: &Env, name: &str) -> Self {
        let has_home = env.path("HOME").is_some() || env.path("XDG_STATE_HOME").is_some();
        Self {
            folder: has_home.then(|| all(env).join(name)),
        }
    }

    /// A folder known by its path.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: Some(folder.to_owned()),
        }
    }

    /// Makes the folder, 0700. What cannot be made is not there when it is asked for.
    pub fn make(&self) {
        if let Some(folder) = &self.folder
            && !folder.is_dir()
        {
            let _ = fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder);
        }
    }

    /// Makes the folder and notes whose it is.
    pub fn make_for(&self, joined: &Joined) {
        self.make();
        if self.path(OWNER).is_ok_and(|path| path.exists()) {
            return;
        }
        let owner = Owner {
            config: joined.config.clone(),
            server: joined.server.clone(),
            part: joined.part.clone(),
        };
        let _ = self.save(OWNER, &owner);
    }

    /// Whose state this is, if it says so.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        self.load(OWNER)
    }

    /// The path of one of its files.
    ///
    /// # Errors
    /// Not found, without a home.
    pub fn path(&self, name: &str) -> io::Result<PathBuf> {
        match &self.folder {
            Some(folder) => Ok(folder.join(name)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Reads one of its files; `None` if it is not there or not readable.
    #[must_use]
    pub fn load<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.path(name).ok()?).ok()?).ok()
    }

    /// Replaces one of its files.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub fn save(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.replace(name, &serde_json::to_vec(value)?)
    }

    /// Replaces one of its files: 0600, temporary name, rename.
    ///
    /// # Errors
    /// The file system's; the old file stands then.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name)?;
        let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
        let result = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&temporary, &path));
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        result
    }

    /// Takes the lock of that name, waiting for it at most `wait`; held until the value is dropped, or its process has ended.
    #[must_use]
    pub fn lock(&self, name: &str, wait: Duration) -> Option<File> {
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.path(name).ok()?)
            .ok()?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Some(file),
                Err(fs::TryLockError::WouldBlock) if begun.elapsed() < wait => {
                    std::thread::sleep(AGAIN);
                }
                Err(_) => return None,
            }
        }
    }
}

/// The folder that holds a state folder per part.
#[must_use]
pub fn all(env: &Env) -> PathBuf {
    env.state_dir().join("hook")
}

/// The first 16 hexadecimal digits of the SHA-256.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    let hash = sha2::Sha256::digest(bytes);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn joined(config: Option<PathBuf>) -> Joined {
        Joined {
            server: "http://127.0.0.1:9".to_owned(),
            code: "SECRETCODE".to_owned(),
            part: "web".to_owned(),
            token: None,
            joined_at: None,
            config,
            excerpts: false,
        }
    }

    #[test]
    fn the_folder_and_its_files_are_the_owners_alone() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", home.path().to_str().unwrap())], home.path());
        let joined = joined(Some(home.path().join(".relayroom/config.toml")));
        let place = Place::of(&env, &joined);
        place.make_for(&joined);
        assert_eq!(place.owner().unwrap().part, "web");
        let file = place.path(OWNER).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
        let name = file.parent().unwrap().file_name().unwrap();
        assert_eq!(name.len(), 16);
        assert!(file.starts_with(home.path().join(".local/state/relayroom/hook")));
    }

    #[test]
    fn usage_023_without_a_home_nothing_is_kept() {
        let place = Place::of(&Env::of([], Path::new("/")), &joined(None));
        place.make_for(&joined(None));
        assert!(place.save("x", &1).is_err());
        assert!(place.lock("x", Duration::ZERO).is_none());
        assert_eq!(place.load::<u8>("x"), None);
    }

    #[test]
    fn a_lock_is_waited_for_and_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::at(folder.path());
        let held = place.lock("x.lock", Duration::ZERO).unwrap();
        assert!(place.lock("x.lock", Duration::from_millis(5)).is_none());
        drop(held);
        assert!(place.lock("x.lock", Duration::ZERO).is_some());
    }
}
