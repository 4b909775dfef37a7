//! What a scripted agent draws: its transcript, a busy row while a turn runs, the composer between two rules with the real cursor in it,
//! and a footer. `demo/rules.toml` tells the pager the same.

use std::fmt::Write as _;
use std::io::Write;

use rustix::termios::OptionalActions;
use unicode_width::UnicodeWidthChar;
use unicode_width::UnicodeWidthStr;

use crate::cli::failure::Failure;
use crate::cli::text;

/// The screen of one agent.
pub(super) struct Surface {
    name: &'static str,
    transcript: Vec<String>,
}

impl Surface {
    /// Takes the terminal: no echo, no line editing, framed pastes.
    ///
    /// # Errors
    /// Not a terminal.
    pub(super) fn open(name: &'static str) -> Result<Self, Failure> {
        let stdin = std::io::stdin();
        let mut modes = rustix::termios::tcgetattr(&stdin).map_err(|error| {
            Failure::usage(format!("a scripted agent needs a terminal: {error}"))
        })?;
        modes.make_raw();
        rustix::termios::tcsetattr(&stdin, OptionalActions::Now, &modes)
            .map_err(std::io::Error::from)?;
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "\u{1b}[?2004h\u{1b}[2J")?;
        stdout.flush()?;
        Ok(Self {
            name,
            transcript: Vec::new(),
        })
    }

    /// Adds a line to the transcript.
    pub(super) fn say(&mut self, line: impl AsRef<str>) {
        self.transcript.push(text::line(line.as_ref()));
    }

    /// Draws everything anew.
    ///
    /// # Errors
    /// A write that fails: the pane is gone.
    pub(super) fn draw(&self, draft: &str, busy: bool) -> Result<(), Failure> {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
        let width = size.map_or(80, |size| usize::from(size.ws_col)).max(20);
        let height = size.map_or(24, |size| usize::from(size.ws_row)).max(8);
        let (frame, cursor) = self.frame(draft, busy, width, height);
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "\u{1b}[H{frame}\u{1b}[{};{}H", cursor.0, cursor.1)?;
        stdout.flush()?;
        Ok(())
    }

    /// All rows, and where the cursor stands: row and column from 1.
    fn frame(
        &self,
        draft: &str,
        busy: bool,
        width: usize,
        height: usize,
    ) -> (String, (usize, usize)) {
        let rule = "─".repeat(width);
        let mut typed = wrapped(draft, width - 3);
        if typed.is_empty() {
            typed.push(String::new());
        }
        let below = typed.len() + 5;
        let mut rows: Vec<String> = self
            .transcript
            .iter()
            .flat_map(|line| by_words(line, width - 1))
            .collect();
        let room = height.saturating_sub(below);
        rows.drain(..rows.len().saturating_sub(room));
        rows.push(String::new());
        rows.push(if busy {
            "* working…".to_owned()
        } else {
            String::new()
        });
        rows.push(rule.clone());
        let first = rows.len() + 1;
        for (index, line) in typed.iter().enumerate() {
            let lead = if index == 0 { "❯ " } else { "  " };
            rows.push(format!("{lead}{line}"));
        }
        let cursor_row = first + typed.len() - 1;
        let cursor_column = 3 + typed.last().map_or(0, |line| line.chars().count());
        rows.push(rule);
        rows.push(format!("  {} of the demo", self.name));
        rows.resize(height, String::new());
        let mut frame = String::new();
        for (index, row) in rows.iter().take(height).enumerate() {
            let line_break = if index == 0 { "" } else { "\r\n" };
            // Writing to a String never fails.
            let _ = write!(frame, "{line_break}{row}\u{1b}[K");
        }
        (frame, (cursor_row, cursor_column))
    }
}

/// Breaks a line of ours between words, rows after the first set in; a word too long for a row is cut.
fn by_words(line: &str, width: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut row = String::new();
    for word in line.split(' ') {
        if !row.trim().is_empty() && row.width() + 1 + word.width() > width {
            rows.push(std::mem::replace(&mut row, "  ".to_owned()));
        } else if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
    }
    rows.push(row);
    rows.iter().flat_map(|row| wrapped(row, width)).collect()
}

/// Cuts a line into rows of at most `width` columns.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut used = 0;
    for c in line.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > width {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        row.push(c);
        used += columns;
    }
    if !row.is_empty() {
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stands_behind_the_draft_also_where_it_wraps() {
        let surface = Surface {
            name: "web",
            transcript: vec!["> hello".into()],
        };
        let (frame, cursor) = surface.frame("", false, 30, 12);
        let rows: Vec<&str> = frame.split("\r\n").collect();
        assert_eq!(rows.len(), 12);
        assert_eq!(rows[cursor.0 - 1], "❯ \u{1b}[K");
        assert_eq!(cursor.1, 3);
        let (frame, cursor) = surface.frame(&"x".repeat(30), true, 30, 12);
        let rows: Vec<&str> = frame.split("\r\n").collect();
        assert_eq!(rows[cursor.0 - 1], "  xxx\u{1b}[K");
        assert_eq!(cursor.1, 6);
        assert!(frame.contains("* working…"));
    }

    #[test]
    fn a_long_line_breaks_between_words() {
        assert_eq!(
            by_words("< web: which endpoint lists orders", 18),
            ["< web: which", "  endpoint lists", "  orders"]
        );
        assert_eq!(by_words("aaaaaaaaaaaa", 5), ["aaaaa", "aaaaa", "aa"]);
    }

    #[test]
    fn a_long_transcript_scrolls() {
        let surface = Surface {
            name: "web",
            transcript: (0..50).map(|n| format!("- line {n}")).collect(),
        };
        let (frame, _) = surface.frame("", false, 40, 12);
        assert_eq!(frame.split("\r\n").count(), 12);
        assert!(frame.contains("- line 49") && !frame.contains("- line 10"));
    }
}
