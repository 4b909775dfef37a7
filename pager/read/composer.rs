//! The composer: where it stands, whether it is empty, and what it holds (pager.md 4, "Composer", "Empty").

use super::verdict::Squeezed;
use super::verdict::Standing;
use crate::pager::facts::PaneFacts;
use crate::pager::line;
use crate::pager::rules::ComposerRule;
use crate::pager::rules::CursorRule;
use crate::pager::rules::Pattern;
use crate::pager::rules::Placeholder;
use crate::pager::screen::Cell;
use crate::pager::screen::Colour;
use crate::pager::screen::Row;
use crate::pager::screen::Screen;

/// Most rows that may stand under a composer.
const FOOTER_ROWS: usize = 12;

/// A composer on a screen. Rows are counted from 0, as tmux counts them.
#[derive(Debug)]
pub struct Composer {
    /// Its first row, frame included.
    pub top: usize,
    /// The row of its glyph.
    pub first: usize,
    /// The first row below it, frame included: where the footer begins.
    pub end: usize,
    /// Cells that hold a draft.
    pub marks: usize,
    /// What stands in it.
    pub standing: Standing,
    /// The draft.
    pub text: Squeezed,
}

/// The lowest block that looks like a composer, before anything proves that it is one.
struct Block {
    top: usize,
    first: usize,
    last: usize,
    end: usize,
}

/// Finds the composer: the lowest block of its shape, with the cursor in it and only footer rows under it.
pub fn find(
    rule: &ComposerRule,
    footer: &[Pattern],
    screen: &Screen,
    pane: &PaneFacts,
) -> Option<Composer> {
    let rows = screen.rows();
    let block = block(rule, rows)?;
    let cursor_y = usize::from(pane.cursor_y);
    if rule.cursor == CursorRule::Real && !pane.cursor_shown {
        return None;
    }
    if !(block.first..=block.last).contains(&cursor_y) {
        return None;
    }
    let home = usize::from(rule.home);
    let cells = Cells::count(rule, rows, &block);
    let has_menu = rule
        .menu
        .as_ref()
        .is_some_and(|menu| menu.is_match(&cells.text));
    if !has_menu && !footer_fits(rule, footer, &rows[block.end..]) {
        return None;
    }
    let at_home = (usize::from(pane.cursor_x), cursor_y) == (home, block.first);
    let text = Squeezed::of(&cells.text);
    let standing = if cells.marks > 0 {
        line::standing(text.as_str())
    } else if at_home && (cells.placeholder > 0 || !rule.placeholder.always) {
        Standing::Empty
    } else {
        Standing::Blank
    };
    Some(Composer {
        top: block.top,
        first: block.first,
        end: block.end,
        marks: cells.marks,
        standing,
        text,
    })
}

fn block(rule: &ComposerRule, rows: &[Row]) -> Option<Block> {
    (0..rows.len()).rev().find_map(|first| {
        let row = &rows[first];
        if !rule.glyph.is_match(row.text()) || (rule.bold && !is_bold(row)) {
            return None;
        }
        framed(rule, rows, first).or_else(|| padded(rule, rows, first))
    })
}

fn framed(rule: &ComposerRule, rows: &[Row], first: usize) -> Option<Block> {
    let top = match &rule.top {
        Some(top) => first
            .checked_sub(1)
            .filter(|&above| top.is_match(rows[above].text()))?,
        None => first,
    };
    let (last, end) = match &rule.bottom {
        Some(bottom) => {
            let below = (first + 1..rows.len()).find(|&y| bottom.is_match(rows[y].text()))?;
            (below - 1, below + 1)
        }
        None => {
            let last = last_above_footer(rows, first);
            (last, last + 1)
        }
    };
    Some(Block {
        top,
        first,
        last,
        end,
    })
}

/// Where colours are too few for a frame of half blocks, a blank row in the background colour stands above and below the text. Blank
/// rows of the text have that colour too: it ends with the last coloured row.
fn padded(rule: &ComposerRule, rows: &[Row], first: usize) -> Option<Block> {
    let is_padding = |y: usize| rows[y].is_blank() && is_filled(&rows[y]);
    let top = first
        .checked_sub(1)
        .filter(|&above| rule.padded && is_padding(above))?;
    let end = (first..rows.len())
        .find(|&y| !is_filled(&rows[y]))
        .unwrap_or(rows.len());
    (end >= first + 2 && is_padding(end - 1)).then_some(Block {
        top,
        first,
        last: end - 2,
        end,
    })
}

fn is_filled(row: &Row) -> bool {
    let mut cells = row.cells().iter();
    cells.len() > 0 && cells.all(|cell| cell.style.bg != Colour::Default || cell.style.reverse)
}

fn is_bold(row: &Row) -> bool {
    let glyph = row.cells().iter().find(|cell| cell.is_mark());
    glyph.is_some_and(|cell| cell.style.bold && !cell.style.dim)
}

/// Where nothing frames the composer, the last block of rows is its footer and the blank row above that its edge; everything between is text.
fn last_above_footer(rows: &[Row], first: usize) -> usize {
    let Some(bottom) = (first..rows.len()).rev().find(|&y| !rows[y].is_blank()) else {
        return first;
    };
    let edge = (first + 1..bottom).rev().find(|&y| rows[y].is_blank());
    edge.map_or(bottom, |edge| edge - 1)
}

fn footer_fits(rule: &ComposerRule, footer: &[Pattern], below: &[Row]) -> bool {
    let mut drawn = 0;
    for row in below.iter().filter(|row| !row.is_blank()) {
        drawn += 1;
        if !footer.iter().any(|pattern| pattern.is_match(row.text())) {
            return false;
        }
    }
    drawn <= FOOTER_ROWS && (drawn > 0 || !rule.needs_footer)
}

/// The cells of a block that hold text.
#[derive(Default)]
struct Cells {
    marks: usize,
    placeholder: usize,
    text: String,
}

impl Cells {
    fn count(rule: &ComposerRule, rows: &[Row], block: &Block) -> Self {
        let home = usize::from(rule.home);
        let mut found = Self::default();
        for (y, row) in (block.first..).zip(&rows[block.first..=block.last]) {
            let is_first = y == block.first;
            let from = if is_first { home } else { 0 };
            let cells = row.cells();
            for (x, cell) in cells.iter().enumerate().skip(from) {
                if !cell.is_mark() {
                    continue;
                }
                let under_cursor = is_first && x == home && is_drawn_cursor(rule, cells, x);
                if under_cursor || is_placeholder(&rule.placeholder, cell) {
                    found.placeholder += 1;
                } else {
                    found.marks += 1;
                    found.text.push(cell.ch);
                }
            }
        }
        found
    }
}

fn is_placeholder(rule: &Placeholder, cell: &Cell) -> bool {
    let grey = rule.fg.contains(&cell.style.fg);
    !cell.style.reverse && ((rule.dim && cell.style.dim) || grey)
}

/// A drawn cursor on a letter passes for the placeholder's first one only where the placeholder goes on: a draft of one letter looks the same alone.
fn is_drawn_cursor(rule: &ComposerRule, cells: &[Cell], x: usize) -> bool {
    let goes_on = cells
        .get(x + 1)
        .is_some_and(|next| next.is_mark() && is_placeholder(&rule.placeholder, next));
    rule.cursor == CursorRule::Drawn && cells[x].style.reverse && goes_on
}
