//! A captured pane as rows of styled cells: the output of `capture-pane -e -p -J` undone (pager.md 4, "Facts").
//!
//! tmux writes one line per joined row and carries the style over line ends; a line of *c* cells stood in `max(1, ceil(c / width))` rows of the pane.

mod style;

use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;

use unicode_width::UnicodeWidthChar;

pub use style::Colour;
pub use style::Style;

/// One cell of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Its character; NUL in the second cell of a wide one.
    pub ch: char,
    /// How it is drawn.
    pub style: Style,
}

/// What a cell nothing was drawn in looks like; whether one is in a capture depends on what stood there before.
const UNWRITTEN: Cell = Cell {
    ch: ' ',
    style: Style {
        fg: Colour::Default,
        bg: Colour::Default,
        bold: false,
        dim: false,
        reverse: false,
    },
};

impl Cell {
    /// Whether it shows a mark, whatever its style.
    #[must_use]
    pub fn is_mark(&self) -> bool {
        self.ch != '\0' && !self.ch.is_whitespace()
    }
}

/// One row of the pane. Cells that were never written are absent at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    cells: Vec<Cell>,
    text: String,
}

impl Row {
    /// Its cells from column 0.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Its characters, combining marks included; a wide one stands for two columns.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether no cell shows a mark.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        !self.cells.iter().any(Cell::is_mark)
    }

    fn push(&mut self, ch: char, style: Style) {
        let Some(width) = ch.width() else {
            return;
        };
        if width == 0 {
            // A combining mark shares its cell, and makes a blank one no longer blank.
            match self.cells.last_mut() {
                Some(cell) if !cell.is_mark() && cell.ch != '\0' => cell.ch = ch,
                Some(_) => {}
                None => return,
            }
        } else {
            self.cells.push(Cell { ch, style });
            let rest = Cell { ch: '\0', style };
            self.cells.extend(std::iter::repeat_n(rest, width - 1));
        }
        self.text.push(ch);
    }
}

/// A pane's picture, exactly as high as the pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    rows: Vec<Row>,
}

impl Screen {
    /// Reads a capture of a pane of `width` × `height` cells. `None` when it holds more rows than the pane: it belongs to another size.
    #[must_use]
    pub fn parse(capture: &[u8], width: u16, height: u16) -> Option<Self> {
        let width = usize::from(width);
        let height = usize::from(height);
        if width == 0 || height == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(capture);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let mut rows = Vec::with_capacity(height);
        let mut style = Style::default();
        for line in text.split('\n') {
            read_line(line, width, &mut style, &mut rows);
            if rows.len() > height {
                return None;
            }
        }
        rows.resize_with(height, Row::default);
        Some(Self { rows })
    }

    /// Its rows from the top.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Hash of cells and styles of the first `rows` rows. The style of the cell at `cursor` (column, row) is left out: a drawn cursor blinks.
    #[must_use]
    pub fn hash(&self, rows: usize, cursor: Option<(usize, usize)>) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (y, row) in self.rows.iter().take(rows).enumerate() {
            row.text.trim_end().hash(&mut hasher);
            for (x, cell) in row.cells.iter().enumerate() {
                if *cell != UNWRITTEN && cursor != Some((x, y)) {
                    (x, cell.style).hash(&mut hasher);
                }
            }
            y.hash(&mut hasher);
        }
        hasher.finish()
    }
}

fn read_line(line: &str, width: usize, style: &mut Style, rows: &mut Vec<Row>) {
    let mut row = Row::default();
    let mut chars = line.chars();
    while let Some(ch) = chars.next() {
        if ch == '\x1b' {
            style.take_escape(&mut chars);
            continue;
        }
        if row.cells.len() + ch.width().unwrap_or(0) > width {
            rows.push(std::mem::take(&mut row));
        }
        row.push(ch, *style);
    }
    rows.push(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(screen: &Screen) -> Vec<&str> {
        screen.rows().iter().map(Row::text).collect()
    }

    fn cell(screen: &Screen, x: usize, y: usize) -> Cell {
        screen.rows()[y].cells()[x]
    }

    #[test]
    fn a_joined_line_takes_as_many_rows_as_its_cells_need() {
        let capture = format!("{}\n\n{}\nend\n", "a".repeat(25), "b".repeat(10));
        let screen = Screen::parse(capture.as_bytes(), 10, 8).unwrap();
        let (a, b) = ("a".repeat(10), "b".repeat(10));
        assert_eq!(texts(&screen), [&a, &a, "aaaaa", "", &b, "end", "", ""]);
    }

    #[test]
    fn a_real_cursor_row_meets_its_line_under_a_joined_one() {
        let capture = include_bytes!("../fixtures/codex/0.171.0-exited.ansi");
        let screen = Screen::parse(capture, 80, 24).unwrap();
        assert_eq!(screen.rows()[9].text().trim_end(), "oning 771)");
        assert_eq!(screen.rows()[11].text().trim_end(), "$");
    }

    #[test]
    fn more_rows_than_the_pane_has_belong_to_another_size() {
        assert!(Screen::parse(b"a\nb\nc\n", 10, 2).is_none());
        assert!(Screen::parse(b"a", 0, 2).is_none());
        assert!(Screen::parse(b"a", 2, 0).is_none());
    }

    #[test]
    fn case_t22_wide_and_combining_characters_are_counted_in_cells() {
        let screen = Screen::parse("日本x\ne\u{301}!\n".as_bytes(), 10, 2).unwrap();
        assert_eq!(cell(&screen, 4, 0).ch, 'x');
        assert_eq!(cell(&screen, 1, 1).ch, '!');
        assert_eq!(screen.rows()[1].text(), "e\u{301}!");
        let narrow = Screen::parse("日本".as_bytes(), 3, 2).unwrap();
        assert_eq!(texts(&narrow), ["日", "本"]);
    }

    #[test]
    fn a_combining_mark_alone_is_a_mark() {
        let screen = Screen::parse(" \u{301}".as_bytes(), 10, 1).unwrap();
        assert!(!screen.rows()[0].is_blank());
    }

    #[test]
    fn styles_go_on_over_line_ends() {
        let screen = Screen::parse(b"\x1b[2;31ma\nb\x1b[0mc", 10, 2).unwrap();
        let dim = Style {
            dim: true,
            fg: Colour::Index(1),
            ..Style::default()
        };
        assert_eq!(cell(&screen, 0, 0).style, dim);
        assert_eq!(cell(&screen, 0, 1).style, dim);
        assert_eq!(cell(&screen, 1, 1).style, Style::default());
    }

    #[test]
    fn links_and_other_sequences_leave_no_cells() {
        let capture = "\x1b]8;;https://x.y/\x1b\\a\x1b]8;;\x07b\x1b[Kc\x1b(Bd\x0fe";
        let screen = Screen::parse(capture.as_bytes(), 10, 1).unwrap();
        assert_eq!(texts(&screen), ["abcde"]);
    }

    #[test]
    fn a_blinking_cursor_leaves_the_hash_and_everything_else_moves_it() {
        let hash = |capture: &str, cursor| {
            Screen::parse(capture.as_bytes(), 10, 2)
                .unwrap()
                .hash(2, cursor)
        };
        let (on, off) = ("> \x1b[7m \x1b[0m", "> ");
        assert_eq!(hash(on, Some((2, 0))), hash(off, Some((2, 0))));
        assert_ne!(hash(on, None), hash(off, None));
        assert_ne!(hash("a", None), hash("\x1b[31ma", None));
        assert_ne!(hash("a\n", None), hash("\na", None));
        assert_eq!(hash("a", None), hash("a   ", None));
    }

    #[test]
    fn rows_below_the_given_ones_are_not_hashed() {
        let hash = |capture: &str| {
            Screen::parse(capture.as_bytes(), 10, 2)
                .unwrap()
                .hash(1, None)
        };
        assert_eq!(hash("a\n12:00"), hash("a\n12:01"));
    }
}
