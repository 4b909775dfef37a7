//! `hook.log`: what went wrong, for the person (usage.md 1). No prompt, no answer, no token.

use std::fmt::Display;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::store::Time;

/// A file this long, in bytes, is put aside; one is kept.
const ROTATE_AT: u64 = 256 * 1024;

/// Longest line, in characters.
const LINE: usize = 400;

/// Appends a line. A log that cannot be written costs its line, nothing else.
pub fn line(path: &Path, now: Time, text: impl Display) {
    let text: String = text
        .to_string()
        .chars()
        .filter(|c| !c.is_control())
        .take(LINE)
        .collect();
    if fs::metadata(path).is_ok_and(|meta| meta.len() >= ROTATE_AT) {
        let _ = fs::rename(path, path.with_added_extension("1"));
    }
    let file = fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path);
    if let Ok(mut file) = file {
        // One write, so that the lines of two hooks at once stay apart.
        let _ = file.write_all(format!("{now} {text}\n").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_put_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hook.log");
        for round in 0..3 {
            line(&path, Time(0), format_args!("round\n{round}"));
            fs::OpenOptions::new()
                .append(true)
                .open(&path)
                .and_then(|file| file.set_len(ROTATE_AT))
                .unwrap();
        }
        let old = fs::read_to_string(folder.path().join("hook.log.1")).unwrap();
        assert!(
            old.starts_with("1970-01-01T00:00:00.000Z round1\n"),
            "{old:.60}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
