//! The worktree a part is joined in, and what git knows of its files (cli.md 4, steps 1 and 4).

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use crate::cli::failure::Failure;

/// Begins and ends our lines in `info/exclude`.
const BLOCK: [&str; 2] = ["# >>> relayroom", "# <<< relayroom"];

/// The folder a part works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Root of the worktree; without git the folder itself.
    pub root: PathBuf,
    /// The repository's common folder, shared by all its worktrees.
    pub common: Option<PathBuf>,
}

impl Place {
    /// The place of a folder.
    ///
    /// # Errors
    /// Where git has a repository it will not speak of, in its words.
    pub fn of(folder: &Path) -> Result<Self, Failure> {
        let folder = folder.canonicalize()?;
        let asked = git(&folder)
            .args(["rev-parse", "--show-toplevel", "--git-common-dir"])
            .output();
        let found = match asked {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).into_owned()
            }
            Ok(output) if folder.ancestors().any(|up| up.join(".git").exists()) => {
                let said = String::from_utf8_lossy(&output.stderr);
                return Err(Failure::fault(format!("git: {}", said.trim())));
            }
            Err(error) if folder.ancestors().any(|up| up.join(".git").exists()) => {
                return Err(Failure::fault(format!("git: {error}")));
            }
            _ => {
                return Ok(Self {
                    root: folder,
                    common: None,
                });
            }
        };
        let mut lines = found.lines();
        let (Some(root), Some(common)) = (lines.next(), lines.next()) else {
            return Err(Failure::fault("git names no worktree here"));
        };
        Ok(Self {
            root: PathBuf::from(root).canonicalize()?,
            common: Some(folder.join(common).canonicalize()?),
        })
    }

    /// The folder whose name a project gets, and the one above it: the main worktree's.
    #[must_use]
    pub fn names(&self) -> (String, String) {
        let main = match &self.common {
            Some(common) if common.ends_with(".git") => common.parent().unwrap_or(common),
            Some(common) => common,
            None => &self.root,
        };
        let name = |path: Option<&Path>| {
            let name = path.and_then(Path::file_name).unwrap_or_default();
            let name = name.to_string_lossy();
            name.strip_suffix(".git").unwrap_or(&name).to_owned()
        };
        (name(Some(main)), name(main.parent()))
    }

    /// Whether git tracks a file. A link counts as tracked if what it leads to is.
    #[must_use]
    pub fn tracks(&self, path: &Path) -> bool {
        let tracked = |path: &Path| {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                return false;
            };
            let listed = git(folder)
                .args(["ls-files", "--cached", "--"])
                .arg(name)
                .output();
            listed.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
        };
        self.common.is_some()
            && (tracked(path) || path.canonicalize().is_ok_and(|target| tracked(&target)))
    }

    /// Whether `git add -A` would take a file in, or has.
    #[must_use]
    pub fn would_add(&self, path: &Path) -> bool {
        let would = |path: &Path| {
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
                return false;
            };
            // 0: ignored; 1: not; anything else: outside every repository.
            let asked = git(folder)
                .args(["check-ignore", "-q", "--"])
                .arg(name)
                .status();
            asked.is_ok_and(|status| status.code() == Some(1))
        };
        self.common.is_some()
            && (self.tracks(path)
                || would(path)
                || path
                    .canonicalize()
                    .is_ok_and(|target| target != path && would(&target)))
    }

    /// The repository's own list of files to leave out.
    #[must_use]
    pub fn exclude_file(&self) -> Option<PathBuf> {
        Some(self.common.as_ref()?.join("info/exclude"))
    }

    /// The pattern that names a file of this worktree.
    #[must_use]
    pub fn pattern(&self, path: &Path) -> Option<String> {
        let inside = path.strip_prefix(&self.root).ok()?;
        Some(format!("/{}", inside.display()))
    }
}

/// git in a folder, whatever repository a hook or a shell has set.
fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env_remove("GIT_COMMON_DIR")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// An `info/exclude` with these patterns in our block, beside those that are there.
#[must_use]
pub fn excluding(text: &str, patterns: &[String]) -> String {
    let (before, mut ours, after) = split(text);
    for pattern in patterns {
        let known = |lines: &str| lines.lines().any(|line| line.trim_end() == pattern);
        if !ours.contains(pattern) && !known(&before) && !known(&after) {
            ours.push(pattern.clone());
        }
    }
    if ours.is_empty() {
        return text.to_owned();
    }
    let gap = match before.as_str() {
        "" => "",
        text if text.ends_with('\n') => "",
        _ => "\n",
    };
    let lines = ours.join("\n");
    format!("{before}{gap}{}\n{lines}\n{}\n{after}", BLOCK[0], BLOCK[1])
}

/// An `info/exclude` without our block.
#[must_use]
pub fn excluding_nothing(text: &str) -> String {
    let (before, _, after) = split(text);
    before + &after
}

/// What stands before our block, in it and after it.
fn split(text: &str) -> (String, Vec<String>, String) {
    let begin = text.find(BLOCK[0]);
    let found = begin.and_then(|begin| {
        let end = begin + text[begin..].find(BLOCK[1])? + BLOCK[1].len();
        Some((begin, end))
    });
    let Some((begin, end)) = found else {
        return (text.to_owned(), Vec::new(), String::new());
    };
    let ours = text[begin..end]
        .lines()
        .filter(|line| !BLOCK.contains(line))
        .map(str::to_owned)
        .collect();
    let after = &text[end..];
    let after = after.strip_prefix('\n').unwrap_or(after);
    (text[..begin].to_owned(), ours, after.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_lines_come_and_go_and_the_others_stay() {
        for before in ["", "# git's own\n*.swp\n", "*.swp\n/.relayroom/\n"] {
            let patterns = ["/.relayroom/".to_owned(), "/.mcp.json".to_owned()];
            let with = excluding(before, &patterns);
            assert_eq!(with.matches("/.relayroom/").count(), 1, "{with}");
            assert_eq!(excluding(&with, &patterns), with);
            assert_eq!(excluding_nothing(&with), before);
            let more = excluding(&format!("{with}later\n"), &["/GEMINI.md".to_owned()]);
            assert!(
                more.ends_with("/GEMINI.md\n# <<< relayroom\nlater\n"),
                "{more}"
            );
        }
    }

    #[test]
    fn a_project_is_named_after_the_main_worktree() {
        let place = |root: &str, common: Option<&str>| Place {
            root: root.into(),
            common: common.map(PathBuf::from),
        };
        let names = |root, common| place(root, common).names();
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            names("/src/shop-web", Some("/src/shop/.git")),
            pair("shop", "src")
        );
        assert_eq!(
            names("/w/web", Some("/src/old/shop.git")),
            pair("shop", "old")
        );
        assert_eq!(names("/src/notes", None), pair("notes", "src"));
    }
}
