//! How the demo is watched: both panes and the ledger side by side on a terminal, plain lines anywhere else.

use std::io::Write;
use std::time::Duration;

use super::crew::Crew;
use super::crew::PARTS;
use super::crew::Size;
use super::watch::Watch;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::screen::Style;
use crate::cli::table::cut;
use crate::cli::text;
use unicode_width::UnicodeWidthStr;

/// From this many columns on the ledger stands beside the panes, below it under them.
const WIDE: usize = 132;

/// Rows of the ledger where it stands under the panes.
const UNDER: usize = 9;

/// Who watches.
pub(super) enum View {
    /// A terminal, taken over until dropped.
    Live(Live),
    /// A pipe, or nobody: JSON says it at the end.
    Lines(bool),
}

impl View {
    /// A view for this screen.
    ///
    /// # Errors
    /// A write that fails.
    pub(super) fn open(screen: &Screen) -> Result<Self, Failure> {
        if !screen.terminal || screen.json {
            return Ok(Self::Lines(!screen.json));
        }
        Ok(Self::Live(Live::open(screen.clone())?))
    }

    /// The size the agents' panes get.
    pub(super) fn pane_size(&self) -> Size {
        match self {
            Self::Live(live) => live.pane_size(),
            Self::Lines(_) => Size {
                width: 80,
                height: 24,
            },
        }
    }

    /// Shows what is new.
    ///
    /// # Errors
    /// A write that fails.
    pub(super) fn show(
        &mut self,
        crew: &Crew,
        watch: &Watch,
        at: Duration,
        lines: &[String],
    ) -> Result<(), Failure> {
        let stamped = lines
            .iter()
            .map(|line| format!("{:5.1} s  {line}", at.as_secs_f32()));
        match self {
            Self::Live(live) => {
                live.told.extend(stamped);
                live.draw(crew, watch)
            }
            Self::Lines(false) => Ok(()),
            Self::Lines(true) => {
                let screen = Screen::plain();
                stamped.into_iter().try_for_each(|line| screen.line(line))
            }
        }
    }
}

/// The terminal's other screen. Dropped: the person's own is back, also after a panic.
pub(super) struct Live {
    screen: Screen,
    told: Vec<String>,
}

impl Live {
    fn open(screen: Screen) -> Result<Self, Failure> {
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J")?;
        stdout.flush()?;
        Ok(Self {
            screen,
            told: Vec::new(),
        })
    }

    fn is_wide(&self) -> bool {
        self.screen.width >= WIDE
    }

    /// Columns of one pane, and rows of both.
    fn pane_size(&self) -> Size {
        let columns = if self.is_wide() { 3 } else { 2 };
        let below = if self.is_wide() { 0 } else { UNDER };
        Size {
            width: (self.screen.width / columns).saturating_sub(2).max(30),
            height: self.screen.height.saturating_sub(below + 2).max(10),
        }
    }

    fn draw(&self, crew: &Crew, watch: &Watch) -> Result<(), Failure> {
        let size = self.pane_size();
        let mut columns: Vec<Vec<String>> = PARTS
            .iter()
            .rev()
            .map(|part| {
                let mut rows = vec![self.screen.paint(Style::Bold, part)];
                let pane = crew.pane(part);
                rows.extend(pane.iter().take(size.height).map(|row| text::line(row)));
                rows
            })
            .collect();
        let ledger = self.ledger(watch, size);
        let mut frame = String::new();
        if self.is_wide() {
            columns.push(ledger);
            side_by_side(&mut frame, &columns, size);
        } else {
            side_by_side(&mut frame, &columns, size);
            for row in ledger {
                frame.push_str(&row);
                frame.push_str("\u{1b}[K\r\n");
            }
        }
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "\u{1b}[H{}\u{1b}[J", frame.trim_end_matches("\r\n"))?;
        stdout.flush()?;
        Ok(())
    }

    /// The ledger's rows, then the newest of what was told.
    fn ledger(&self, watch: &Watch, size: Size) -> Vec<String> {
        let (width, height) = if self.is_wide() {
            (size.width, size.height)
        } else {
            (self.screen.width, UNDER)
        };
        let mut rows = vec![self.screen.paint(Style::Bold, "wakes")];
        for [part, lane, fact] in watch.ledger() {
            let style = if fact == "consumed" {
                Style::Good
            } else {
                Style::Warning
            };
            rows.push(format!(
                "{part:4} {lane:7} {}",
                self.screen.paint(style, &fact)
            ));
        }
        let room = height.saturating_sub(rows.len() + 1);
        let newest = &self.told[self.told.len().saturating_sub(room)..];
        rows.push(String::new());
        rows.extend(newest.iter().map(|line| cut(line, width)));
        rows
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let mut stdout = std::io::stdout().lock();
        // A terminal that has gone needs no care.
        let _ = write!(stdout, "\u{1b}[?25h\u{1b}[?1049l");
        let _ = stdout.flush();
    }
}

/// Puts columns beside each other, each as wide as a pane.
fn side_by_side(frame: &mut String, columns: &[Vec<String>], size: Size) {
    for y in 0..=size.height {
        for (x, column) in columns.iter().enumerate() {
            let cell = column.get(y).map_or("", String::as_str);
            // A painted heading is wider in bytes than on the screen; only plain rows are ever too long.
            let (shown, used) = if cell.contains('\u{1b}') {
                (cell.to_owned(), plain_width(cell))
            } else {
                let shown = cut(cell, size.width);
                let used = shown.width();
                (shown, used)
            };
            frame.push_str(&shown);
            if x + 1 < columns.len() {
                frame.push_str(&" ".repeat(size.width.saturating_sub(used)));
                frame.push_str("│ ");
            }
        }
        frame.push_str("\u{1b}[K\r\n");
    }
}

/// Columns of a painted word.
fn plain_width(painted: &str) -> usize {
    let mut width = 0;
    let mut rest = painted;
    while let Some(at) = rest.find('\u{1b}') {
        width += rest[..at].width();
        rest = rest[at..].split_once('m').map_or("", |(_, after)| after);
    }
    width + rest.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_at_the_same_place_in_every_row() {
        let size = Size {
            width: 6,
            height: 1,
        };
        let columns = vec![
            vec!["\u{1b}[1mweb\u{1b}[0m".to_owned(), "雨雨雨雨".to_owned()],
            vec!["api".to_owned()],
        ];
        let mut frame = String::new();
        side_by_side(&mut frame, &columns, size);
        assert_eq!(
            frame,
            "\u{1b}[1mweb\u{1b}[0m   │ api\u{1b}[K\r\n雨雨… │ \u{1b}[K\r\n"
        );
    }
}
