//! `RELAYROOM.md`, the playbook as a file in a worktree (knowledge.md 10): whether a file there is ours, what is to stand in it, and
//! writing it. Its first line is a comment that says whose it is and which text it holds; without it the file is the person's.

use std::fs;
use std::io;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Its name in a worktree.
pub const FILE: &str = "RELAYROOM.md";

/// What the first line of a file of ours begins with.
const MARK: &str = "<!-- relayroom:playbook ";

/// And what it ends with, for who opens the file to change it.
const MARK_END: &str =
    " Rewritten by relayroom: change it with relayroom project playbook edit. -->";

/// What the relay answered: the text, `X-Relayroom-Playbook-Hash`, and `ETag` without its quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The text.
    pub text: String,
    /// Names the text without the line on the main agent: what makes a file stale.
    pub hash: String,
    /// Names the whole text: sent back as `If-None-Match`.
    pub etag: String,
}

/// What a file of ours says it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark<'a> {
    /// As [`Served::hash`].
    pub hash: &'a str,
    /// As [`Served::etag`].
    pub etag: &'a str,
}

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// There was none.
    Made,
    /// It was ours and another.
    Rewritten,
    /// It holds this text.
    Same,
    /// It is not ours, or a link: left alone.
    Foreign,
}

/// Reads the mark of a file's text; `None`: it is not ours.
#[must_use]
pub fn mark(file: &str) -> Option<Mark<'_>> {
    let line = file.strip_prefix(MARK)?.lines().next()?;
    let mut words = line.strip_suffix(MARK_END)?.split(' ');
    let (hash, etag) = (words.next()?, words.next()?);
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric());
    (plain(hash) && plain(etag) && words.next().is_none()).then_some(Mark { hash, etag })
}

/// The file's whole text for what the relay answered.
#[must_use]
pub fn content(served: &Served) -> String {
    format!(
        "{MARK}{} {}{MARK_END}\n{}",
        served.hash, served.etag, served.text
    )
}

/// What a file of ours in `folder` holds, as its whole text; `None` if there is none, it is a link, or it is not ours.
#[must_use]
pub fn read(folder: &Path) -> Option<String> {
    let path = folder.join(FILE);
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    mark(&text).is_some().then_some(text)
}

/// Brings a file of ours in `folder` up to date, if it is there; makes none.
///
/// # Errors
/// The file system's; the old file stands then.
pub fn refresh(folder: &Path, served: &Served) -> io::Result<Written> {
    let Some(present) = read(folder) else {
        return Ok(Written::Foreign);
    };
    let text = content(served);
    if present == text {
        return Ok(Written::Same);
    }
    replace(&folder.join(FILE), &text)?;
    Ok(Written::Rewritten)
}

/// As [`refresh`], but makes the file where nothing has its name.
///
/// # Errors
/// As [`refresh`].
pub fn write(folder: &Path, served: &Served) -> io::Result<Written> {
    let path = folder.join(FILE);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            replace(&path, &content(served))?;
            Ok(Written::Made)
        }
        Err(error) => Err(error),
        Ok(_) => refresh(folder, served),
    }
}

/// Temporary name, rename: a reader sees the old text or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_added_extension(format!("{}.tmp", std::process::id()));
    let result = (|| {
        let mut file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
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

    fn served(text: &str) -> Served {
        Served {
            text: text.to_owned(),
            hash: "aa11".to_owned(),
            etag: format!("e{}", text.len()),
        }
    }

    #[test]
    fn a_file_of_ours_is_known_by_its_first_line() {
        let text = content(&served("# Hello\n"));
        assert_eq!(
            mark(&text),
            Some(Mark {
                hash: "aa11",
                etag: "e8"
            })
        );
        assert!(text.ends_with("-->\n# Hello\n"));
        for foreign in [
            "",
            "# Hello\n",
            "<!-- relayroom:playbook -->\n",
            &text[1..],
            &format!("\n{text}"),
            &text.replace("aa11", "a/../b"),
        ] {
            assert_eq!(mark(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn only_a_file_of_ours_is_rewritten_and_only_if_it_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        assert_eq!(
            refresh(folder.path(), &served("a")).unwrap(),
            Written::Foreign
        );
        assert!(!path.exists());
        assert_eq!(write(folder.path(), &served("a")).unwrap(), Written::Made);
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(refresh(folder.path(), &served("a")).unwrap(), Written::Same);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
        assert_eq!(
            refresh(folder.path(), &served("bc")).unwrap(),
            Written::Rewritten
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), content(&served("bc")));

        fs::write(&path, "mine").unwrap();
        assert_eq!(
            write(folder.path(), &served("a")).unwrap(),
            Written::Foreign
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("notes");
        fs::write(&target, content(&served("a"))).unwrap();
        std::os::unix::fs::symlink(&target, folder.path().join(FILE)).unwrap();
        assert_eq!(
            write(folder.path(), &served("bb")).unwrap(),
            Written::Foreign
        );
        assert_eq!(fs::read_to_string(&target).unwrap(), content(&served("a")));
    }
}
