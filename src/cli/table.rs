//! Lists: aligned under headings on a terminal, one record a line with tabs between the fields where piped (cli.md 1).

use unicode_width::UnicodeWidthStr;

use super::screen::Screen;
use super::screen::Style;
use super::text;
use crate::store::Time;

/// One field of a record.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// As a terminal shows it.
    wide: String,
    /// As a program reads it: never shortened.
    plain: String,
    style: Style,
}

impl Cell {
    /// A word of ours or of a stranger, on one line.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let shown = text::line(text);
        Self {
            wide: shown.clone(),
            plain: shown,
            style: Style::Plain,
        }
    }

    /// A number.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self::text(&number.to_string())
    }

    /// A count of tokens: short on a terminal.
    #[must_use]
    pub fn tokens(count: u64) -> Self {
        Self {
            wide: text::tokens(count),
            plain: count.to_string(),
            style: Style::Plain,
        }
    }

    /// An id: its last 8 characters on a terminal.
    #[must_use]
    pub fn id(id: &str) -> Self {
        Self {
            wide: id[id.len().saturating_sub(8)..].to_owned(),
            plain: id.to_owned(),
            style: Style::Dim,
        }
    }

    /// A time: its age on a terminal, RFC 3339 for a program.
    #[must_use]
    pub fn age(time: Option<Time>, now: Time) -> Self {
        time.map_or_else(Self::default, |time| Self {
            wide: text::age(now, time),
            plain: time.rfc3339(),
            style: Style::Plain,
        })
    }

    /// The same in another style.
    #[must_use]
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Records under headings.
#[derive(Debug)]
pub struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without records.
    #[must_use]
    pub fn new(headings: &[&'static str]) -> Self {
        Self {
            headings: headings.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a record: one cell per heading.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.headings.len());
        self.rows.push(cells);
    }

    /// Whether it has no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines to print.
    #[must_use]
    pub fn lines(&self, screen: &Screen) -> Vec<String> {
        if screen.terminal {
            self.aligned(screen)
        } else {
            self.rows
                .iter()
                .map(|row| {
                    let fields: Vec<String> = row
                        .iter()
                        .map(|cell| screen.paint(cell.style, &cell.plain))
                        .collect();
                    fields.join("\t")
                })
                .collect()
        }
    }

    fn aligned(&self, screen: &Screen) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let mut widths: Vec<usize> = self
            .headings
            .iter()
            .map(|heading| heading.width())
            .collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.wide.width());
            }
        }
        let headings = self.headings.iter().map(|heading| Cell {
            wide: (*heading).to_owned(),
            plain: String::new(),
            style: Style::Dim,
        });
        std::iter::once(headings.collect::<Vec<_>>())
            .chain(self.rows.iter().cloned())
            .map(|row| one_line(screen, &row, &widths))
            .collect()
    }
}

/// One record, padded; what does not fit on the terminal's line is cut off the last field.
fn one_line(screen: &Screen, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (index, (cell, width)) in row.iter().zip(widths).enumerate() {
        let last = index + 1 == row.len();
        let room = screen.width.saturating_sub(used).max(1);
        let shown = if last {
            cut(&cell.wide, room)
        } else {
            cell.wide.clone()
        };
        let pad = if last {
            0
        } else {
            width - cell.wide.width() + 2
        };
        line.push_str(&screen.paint(cell.style, &shown));
        line.push_str(&" ".repeat(pad));
        used += width + 2;
    }
    line.trim_end().to_owned()
}

/// At most `room` columns of `text`, ending in `…` where something is missing.
#[must_use]
pub fn cut(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if kept.width() + 1 > room {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&["part", "thread", "subject"]);
        table.row(vec![
            Cell::text("web"),
            Cell::id("0190a7c2-5b1e-7c3d-9f00-0123456789ab"),
            Cell::text("Index on\torders, a rather long one"),
        ]);
        table
    }

    #[test]
    fn piped_records_are_whole_and_tab_separated() {
        let screen = Screen::plain();
        assert_eq!(
            table().lines(&screen),
            vec![
                "web\t0190a7c2-5b1e-7c3d-9f00-0123456789ab\tIndex on\\u{9}orders, a rather long one"
            ]
        );
    }

    #[test]
    fn a_terminal_gets_headings_short_ids_and_no_line_over_its_width() {
        let screen = Screen {
            terminal: true,
            width: 30,
            ..Screen::plain()
        };
        assert_eq!(
            table().lines(&screen),
            vec!["part  thread    subject", "web   456789ab  Index on\\u{9}…"]
        );
    }

    #[test]
    fn cutting_counts_columns() {
        assert_eq!(cut("雨雨雨", 5), "雨雨…");
        assert_eq!(cut("abc", 3), "abc");
    }
}
