//! A file's lines from an offset on, in memory that does not grow with it (usage.md 3). Only `\n` ends a line; a last line without it is
//! left for later.

use std::fs::File;
use std::io;
use std::io::BufReader;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use regex::bytes::Regex;

/// What is held in memory at once, in bytes; a longer line is read as a stream.
const BLOCK: usize = 256 << 10;

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A line that matters, for [`Lines::bytes`].
    Line(Range<usize>),
    /// A line of so many bytes, too long to be held: to be read with [`Lines::long`], then passed with [`Lines::pass`].
    Long(u64),
    /// Nothing more, for now.
    End,
    /// The time is up.
    Late,
}

/// A file being read.
#[derive(Debug)]
pub struct Lines<'f> {
    file: &'f File,
    until: Instant,
    buffer: Vec<u8>,
    /// What was passed, how far whole lines go, and how far the file was read.
    start: usize,
    whole: usize,
    filled: usize,
    /// Offset of `start` in the file.
    at: u64,
}

impl<'f> Lines<'f> {
    /// The lines from `at` on, until `until`.
    #[must_use]
    pub fn new(file: &'f File, at: u64, until: Instant) -> Self {
        Self {
            file,
            until,
            buffer: vec![0; BLOCK],
            start: 0,
            whole: 0,
            filled: 0,
            at,
        }
    }

    /// Where the file was read to: behind the line given out last, and all lines passed over since.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// A line's bytes, without its end.
    #[must_use]
    pub fn bytes(&self, line: Range<usize>) -> &[u8] {
        &self.buffer[line]
    }

    /// The next line that contains `needle`; any, without one.
    ///
    /// # Errors
    /// The file system's.
    pub fn next(&mut self, needle: Option<&Regex>) -> io::Result<Next> {
        loop {
            if self.start < self.whole {
                let Some(begin) = self.find(needle) else {
                    self.advance(self.whole);
                    continue;
                };
                let length = self.buffer[begin..self.whole]
                    .iter()
                    .position(|byte| *byte == b'\n');
                let end = begin + length.unwrap_or_default();
                self.advance(end + 1);
                return Ok(Next::Line(begin..end));
            }
            if Instant::now() >= self.until {
                return Ok(Next::Late);
            }
            self.fill()?;
            match last_end(&self.buffer[..self.filled]) {
                Some(last) => self.whole = last + 1,
                None if self.filled == BLOCK => return self.measure(),
                None => return Ok(Next::End),
            }
        }
    }

    /// Where the next line that matters begins.
    fn find(&self, needle: Option<&Regex>) -> Option<usize> {
        let lines = &self.buffer[self.start..self.whole];
        let hit = match needle {
            Some(needle) => needle.find(lines)?.start(),
            None => 0,
        };
        Some(self.start + last_end(&lines[..hit]).map_or(0, |end| end + 1))
    }

    fn advance(&mut self, to: usize) {
        self.at += (to - self.start) as u64;
        self.start = to;
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        self.whole = 0;
        while self.filled < BLOCK {
            let place = self.at + self.filled as u64;
            match self.file.read_at(&mut self.buffer[self.filled..], place)? {
                0 => break,
                length => self.filled += length,
            }
        }
        Ok(())
    }

    /// Looks for the end of a line that fills the buffer.
    fn measure(&self) -> io::Result<Next> {
        let mut chunk = vec![0; BLOCK];
        let mut place = self.at + self.filled as u64;
        loop {
            let length = self.file.read_at(&mut chunk, place)?;
            if length == 0 {
                return Ok(Next::End);
            }
            if let Some(end) = chunk[..length].iter().position(|byte| *byte == b'\n') {
                return Ok(Next::Long(place + end as u64 + 1 - self.at));
            }
            place += length as u64;
            if Instant::now() >= self.until {
                return Ok(Next::Late);
            }
        }
    }

    /// The next `length` bytes as a stream.
    #[must_use]
    pub fn long(&self, length: u64) -> impl Read {
        stream(self.file, self.at, length, self.until)
    }

    /// Goes on behind the next `length` bytes.
    pub fn pass(&mut self, length: u64) {
        self.at += length;
        (self.start, self.whole, self.filled) = (0, 0, 0);
    }
}

/// `length` bytes of a file from `at` on, until `until`; then reading fails.
pub fn stream(file: &File, at: u64, length: u64, until: Instant) -> impl Read {
    let part = Part {
        file,
        at,
        left: length,
        until,
    };
    BufReader::with_capacity(64 << 10, part)
}

struct Part<'f> {
    file: &'f File,
    at: u64,
    left: u64,
    until: Instant,
}

impl Read for Part<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if Instant::now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let most = into
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let length = self.file.read_at(&mut into[..most], self.at)?;
        self.at += length as u64;
        self.left -= length as u64;
        Ok(length)
    }
}

fn last_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// The lines that matter, long ones by their length, and the offset after each.
    fn all(file: &File, at: u64, needle: Option<&Regex>) -> (Vec<(String, u64)>, u64) {
        let mut lines = Lines::new(file, at, soon());
        let mut found = Vec::new();
        loop {
            match lines.next(needle).unwrap() {
                Next::Line(line) => {
                    let text = String::from_utf8_lossy(lines.bytes(line)).into_owned();
                    found.push((text, lines.at()));
                }
                Next::Long(length) => {
                    let mut text = String::new();
                    lines.long(length).read_to_string(&mut text).unwrap();
                    assert_eq!(text.len() as u64, length);
                    lines.pass(length);
                    found.push((format!("long {length}"), lines.at()));
                }
                Next::End => return (found, lines.at()),
                Next::Late => panic!("late"),
            }
        }
    }

    #[test]
    fn usage_013_only_a_line_feed_ends_a_line() {
        let file = file("a\u{2028}b\r\nc".as_bytes());
        let (lines, at) = all(&file, 0, None);
        assert_eq!(lines, [("a\u{2028}b\r".to_owned(), 7)]);
        assert_eq!(at, 7, "the line without an end stays");
    }

    #[test]
    fn usage_013_a_line_longer_than_memory_is_a_stream() {
        let long = "x".repeat(3 * BLOCK);
        let file = file(format!("a\n{long}\nb\n{long}").as_bytes());
        let (lines, at) = all(&file, 0, None);
        let length = long.len() as u64 + 1;
        assert_eq!(
            lines,
            [
                ("a".to_owned(), 2),
                (format!("long {length}"), 2 + length),
                ("b".to_owned(), 4 + length)
            ]
        );
        assert_eq!(at, 4 + length);
    }

    #[test]
    fn a_file_without_a_needle_is_passed_to_its_last_end() {
        let file = file("one\ntwo\nthree\nfo".as_bytes());
        let needle = Regex::new("w").unwrap();
        let (lines, at) = all(&file, 0, Some(&needle));
        assert_eq!(lines, [("two".to_owned(), 8)]);
        assert_eq!(at, 14);
    }

    proptest! {
        #[test]
        fn any_offset_at_a_lines_end_gives_the_rest(
            texts in prop::collection::vec("[a-c]{0,4}", 0..40),
            cut in 0_usize..40,
        ) {
            let whole: String = texts.iter().map(|text| format!("{text}\n")).collect();
            let file = file(whole.as_bytes());
            let needle = Regex::new("a").unwrap();
            let (lines, _) = all(&file, 0, Some(&needle));
            let expected: Vec<_> = texts.iter().filter(|text| text.contains('a')).collect();
            prop_assert_eq!(lines.iter().map(|(text, _)| text).collect::<Vec<_>>(), expected);
            if let Some((_, at)) = lines.get(cut) {
                let (rest, _) = all(&file, *at, Some(&needle));
                prop_assert_eq!(&rest[..], &lines[cut + 1..]);
            }
        }
    }
}
