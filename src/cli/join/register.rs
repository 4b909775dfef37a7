//! `joined.toml` in the state folder: every worktree of this machine that a part is joined in, and which project each repository
//! belongs to. `up`, `rotate-code` and `token rotate` go by it; a worktree that was deleted is still named there.

use std::fs::File;
use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;
use serde::Serialize;

use crate::cli::detach;
use crate::cli::failure::Failure;
use crate::cli::logging;
use crate::config;
use crate::config::Env;

/// What this machine has joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Register {
    /// Repositories with their projects; a repository keeps its project after the last `leave`.
    pub repository: Vec<Repository>,
    /// Worktrees, in the order they were joined in.
    pub worktree: Vec<Worktree>,
}

/// Which project a repository belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    /// Its common git folder.
    pub common: PathBuf,
    /// The relay that has the project.
    pub server: String,
    /// The project.
    pub project: String,
}

/// A worktree with a part in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Its root.
    pub root: PathBuf,
    /// Its repository's common git folder; none without git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<PathBuf>,
    /// The relay.
    pub server: String,
    /// The project.
    pub project: String,
    /// The part.
    pub part: String,
    /// The CLI.
    pub agent: String,
    /// The person's own command, where the agent is not started as it comes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

impl Register {
    /// Reads it; one that cannot be read is a fault, for it may not be overwritten.
    ///
    /// # Errors
    /// The file system's, or the line that is wrong.
    pub fn read(env: &Env) -> Result<Self, Failure> {
        let path = path(env);
        match std::fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).map_err(|error| {
                Failure::fault(format!("{}: {}", path.display(), error.message()))
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::fault(format!("{}: {error}", path.display()))),
        }
    }

    /// Changes it, while no other command does.
    ///
    /// # Errors
    /// The file system's.
    pub fn change(env: &Env, change: impl FnOnce(&mut Self)) -> Result<(), Failure> {
        let folder = env.state_dir();
        detach::private_folder(&folder)?;
        let lock: File = logging::append(&folder.join("joined.lock"))?;
        lock.lock()?;
        let before = Self::read(env)?;
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            let text =
                toml::to_string(&after).map_err(|error| Failure::fault(error.to_string()))?;
            config::write_secret(&path(env), text.trim_end())?;
        }
        Ok(())
    }

    /// Enters a worktree in the place of what was known of it.
    pub fn enter(&mut self, worktree: Worktree) {
        if let Some(common) = &worktree.common {
            self.repository
                .retain(|known| known.common != *common || known.server != worktree.server);
            self.repository.push(Repository {
                common: common.clone(),
                server: worktree.server.clone(),
                project: worktree.project.clone(),
            });
        }
        match self
            .worktree
            .iter_mut()
            .find(|known| known.root == worktree.root)
        {
            Some(known) => *known = worktree,
            None => self.worktree.push(worktree),
        }
    }

    /// What is known of a worktree.
    #[must_use]
    pub fn of(&self, root: &Path) -> Option<&Worktree> {
        self.worktree.iter().find(|known| known.root == root)
    }

    /// Where else a part is joined.
    #[must_use]
    pub fn elsewhere(
        &self,
        root: &Path,
        server: &str,
        project: &str,
        part: &str,
    ) -> Option<&Worktree> {
        self.worktree.iter().find(|known| {
            known.root != root
                && known.server == server
                && known.project == project
                && known.part == part
        })
    }

    /// The project of a repository.
    #[must_use]
    pub fn project(&self, common: &Path, server: &str) -> Option<&str> {
        self.repository
            .iter()
            .find(|known| known.common == common && known.server == server)
            .map(|known| known.project.as_str())
    }

    /// Whether a project is another repository's, which is still there.
    #[must_use]
    pub fn is_of_another(&self, project: &str, common: Option<&Path>, server: &str) -> bool {
        self.repository.iter().any(|known| {
            known.project == project
                && known.server == server
                && Some(known.common.as_path()) != common
                && known.common.exists()
        })
    }
}

fn path(env: &Env) -> PathBuf {
    env.state_dir().join("joined.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worktree(root: &str, part: &str) -> Worktree {
        Worktree {
            root: root.into(),
            common: Some("/src/shop/.git".into()),
            server: "http://127.0.0.1:1".into(),
            project: "shop".into(),
            part: part.into(),
            agent: "claude".into(),
            command: vec!["claude".into(), "--model".into(), "x".into()],
        }
    }

    #[test]
    fn what_was_entered_is_found_again() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", home.path().to_str().unwrap())], home.path());
        assert_eq!(Register::read(&env).unwrap(), Register::default());
        Register::change(&env, |register| {
            register.enter(worktree("/src/web", "web"));
            register.enter(worktree("/src/api", "api"));
            register.enter(worktree("/src/web", "web"));
        })
        .unwrap();
        let register = Register::read(&env).unwrap();
        assert_eq!(register.worktree.len(), 2);
        assert_eq!(register.repository.len(), 1);
        assert_eq!(
            register.of(Path::new("/src/web")),
            Some(&worktree("/src/web", "web"))
        );
        let server = "http://127.0.0.1:1";
        let found = register.elsewhere(Path::new("/src/x"), server, "shop", "api");
        assert_eq!(found.unwrap().root, Path::new("/src/api"));
        let here = Path::new("/src/shop/.git");
        assert_eq!(register.project(here, server), Some("shop"));
        assert_eq!(register.project(here, "http://other"), None);
        // A repository that is gone keeps no name from the next.
        assert!(!register.is_of_another("shop", None, server));
    }
}
