//! The pager's log: one line per change, for the person whose panes these are (pager.md 7). No code in full, no token, no word of a screen.

use std::fmt::Display;
use std::fs;
use std::fs::File;
use std::io;
use std::io::IsTerminal;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use crate::store::Time;

/// A file this long is put aside.
const ROTATE_AT: u64 = 5 * 1024 * 1024;
/// Files kept besides the one being written.
const KEPT: u32 = 3;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// What happened.
    Info,
    /// What a person should mend.
    Warn,
}

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: Option<File>,
    length: u64,
    terminal: bool,
}

impl Log {
    /// Opens `<folder>/pager.log` for appending.
    ///
    /// # Errors
    /// Any error of the file system.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join("pager.log");
        let file = append(&path)?;
        let length = file.metadata()?.len();
        Ok(Self {
            path,
            file: Some(file),
            length,
            terminal: io::stderr().is_terminal(),
        })
    }

    /// Writes a line about no part.
    pub fn general(&mut self, level: Level, now: Time, text: impl Display) {
        self.line(level, now, "-", "-", text);
    }

    /// Writes a line: `<time> <level> <part> <tag> <text>`. A disk that is full costs the line, not the pager.
    pub fn line(&mut self, level: Level, now: Time, part: &str, tag: &str, text: impl Display) {
        let level = match level {
            Level::Info => "INFO",
            Level::Warn => "WARN",
        };
        let line = plain(&format!("{now} {level} {part} {tag} {text}"));
        if self.terminal {
            eprintln!("{line}");
        }
        if self.length >= ROTATE_AT {
            self.rotate();
        }
        if let Some(file) = &mut self.file
            && writeln!(file, "{line}").is_ok()
        {
            self.length += line.len() as u64 + 1;
        }
    }

    fn rotate(&mut self) {
        let name = |number: u32| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        for number in (1..KEPT).rev() {
            let _ = fs::rename(name(number), name(number + 1));
        }
        if fs::rename(&self.path, name(1)).is_ok() {
            self.file = append(&self.path).ok();
            self.length = 0;
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// Text without control characters: a line stays a line, a terminal stays as it was.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// The first four characters of a connect code.
#[must_use]
pub fn cut(code: &str) -> String {
    code.chars().take(4).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_line_is_one_line_and_the_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path()).unwrap();
        log.line(
            Level::Info,
            Time(0),
            "web",
            "kqmwvz",
            "looking a\nb\x1b[31m",
        );
        drop(log);
        Log::open(folder.path())
            .unwrap()
            .general(Level::Warn, Time(0), cut("SECRETCODE"));
        let path = folder.path().join("pager.log");
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "1970-01-01T00:00:00.000Z INFO web kqmwvz looking ab[31m\n\
             1970-01-01T00:00:00.000Z WARN - - SECR…\n"
        );
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_long_file_is_put_aside_and_three_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path()).unwrap();
        for round in 0..5 {
            log.length = ROTATE_AT;
            log.general(Level::Info, Time(0), round);
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read("pager.log").ends_with("4\n"));
        assert!(read("pager.log.1").ends_with("3\n"));
        assert!(read("pager.log.3").ends_with("1\n"));
        assert!(!folder.path().join("pager.log.4").exists());
    }
}
