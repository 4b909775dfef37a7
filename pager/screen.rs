//! A captured pane as rows of styled cells: the output of `capture-pane -e -p -J` undone (pager.md 4, "Facts").
//!
//! tmux writes one line per joined row and carries the style over line ends; a line of *c* cells stood in `max(1, ceil(c / width))` rows of the pane.

use std::hash::DefaultHasher;
use std::hash::Hash;
use std::hash::Hasher;
use std::str::Chars;

use unicode_width::UnicodeWidthChar;

/// A cell's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Colour {
    /// The terminal's own.
    #[default]
    Default,
    /// Of the palette.
    Index(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

/// How a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// Foreground.
    pub fg: Colour,
    /// Background.
    pub bg: Colour,
    /// Bold.
    pub bold: bool,
    /// Dim.
    pub dim: bool,
    /// Foreground and background swapped.
    pub reverse: bool,
}

/// One cell of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cell {
    /// Its character; NUL in the second cell of a wide one.
    pub ch: char,
    /// How it is drawn.
    pub style: Style,
}

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

    /// Cells up to the last that can be told from an unwritten one.
    fn drawn(&self) -> &[Cell] {
        let blank = Cell {
            ch: ' ',
            style: Style::default(),
        };
        let end = self
            .cells
            .iter()
            .rposition(|c| *c != blank)
            .map_or(0, |at| at + 1);
        &self.cells[..end]
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

    /// The cell at column `x` of row `y`, if one was written there.
    #[must_use]
    pub fn cell(&self, x: usize, y: usize) -> Option<Cell> {
        self.rows.get(y)?.cells.get(x).copied()
    }

    /// Hash of cells and styles of the first `rows` rows. The style of the cell at `cursor` (column, row) is left out: a drawn cursor blinks.
    #[must_use]
    pub fn hash(&self, rows: usize, cursor: Option<(usize, usize)>) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (y, row) in self.rows.iter().take(rows).enumerate() {
            row.text.trim_end().hash(&mut hasher);
            for (x, cell) in row.drawn().iter().enumerate() {
                if cursor != Some((x, y)) {
                    cell.style.hash(&mut hasher);
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
            escape(&mut chars, style);
            continue;
        }
        if row.cells.len() + ch.width().unwrap_or(0) > width {
            rows.push(std::mem::take(&mut row));
        }
        row.push(ch, *style);
    }
    rows.push(row);
}

/// Takes one escape sequence; only those that set a style mean anything in a capture.
fn escape(chars: &mut Chars<'_>, style: &mut Style) {
    match chars.next() {
        Some('[') => {
            let rest = chars.as_str();
            let Some(end) = rest.find(|c: char| ('@'..='~').contains(&c)) else {
                *chars = "".chars();
                return;
            };
            if rest[end..].starts_with('m') {
                select(&rest[..end], style);
            }
            *chars = rest[end + 1..].chars();
        }
        Some(']') => {
            let rest = chars.as_str();
            let end = rest
                .find('\x07')
                .map(|at| at + 1)
                .into_iter()
                .chain(rest.find("\x1b\\").map(|at| at + 2))
                .min();
            *chars = rest[end.unwrap_or(rest.len())..].chars();
        }
        Some('(' | ')') => {
            chars.next();
        }
        _ => {}
    }
}

/// Applies one SGR sequence. A parameter may carry sub-parameters after colons.
fn select(params: &str, style: &mut Style) {
    let mut params = params.split(';');
    while let Some(param) = params.next() {
        let (code, sub) = param.split_once(':').unwrap_or((param, ""));
        match code.parse::<u16>().unwrap_or(0) {
            0 if code.is_empty() || code == "0" => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            7 => style.reverse = true,
            22 => (style.bold, style.dim) = (false, false),
            27 => style.reverse = false,
            n @ 30..=37 => style.fg = index(n - 30),
            38 => set(&mut style.fg, colour(sub, &mut params)),
            39 => style.fg = Colour::Default,
            n @ 40..=47 => style.bg = index(n - 40),
            48 => set(&mut style.bg, colour(sub, &mut params)),
            49 => style.bg = Colour::Default,
            58 => drop(colour(sub, &mut params)),
            n @ 90..=97 => style.fg = index(n - 82),
            n @ 100..=107 => style.bg = index(n - 92),
            _ => {}
        }
    }
}

fn index(n: u16) -> Colour {
    u8::try_from(n).map_or(Colour::Default, Colour::Index)
}

fn set(slot: &mut Colour, colour: Option<Colour>) {
    if let Some(colour) = colour {
        *slot = colour;
    }
}

/// Reads `5;n` or `2;r;g;b`, either from the following parameters or from the colon form `5:n`, `2::r:g:b`.
fn colour<'a>(sub: &str, params: &mut impl Iterator<Item = &'a str>) -> Option<Colour> {
    let byte = |s: &str| s.parse::<u8>().ok();
    if sub.is_empty() {
        return match params.next()? {
            "5" => byte(params.next()?).map(Colour::Index),
            "2" => Some(Colour::Rgb(
                byte(params.next()?)?,
                byte(params.next()?)?,
                byte(params.next()?)?,
            )),
            _ => None,
        };
    }
    let parts: Vec<&str> = sub.split(':').collect();
    match parts.as_slice() {
        ["5", n] => byte(n).map(Colour::Index),
        ["2", .., r, g, b] => Some(Colour::Rgb(byte(r)?, byte(g)?, byte(b)?)),
        _ => None,
    }
}
