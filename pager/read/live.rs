//! The live region: the rows around the composer in which a busy marker counts (pager.md 4, "Live region").

use super::composer::Composer;
use crate::pager::rules::Pattern;
use crate::pager::rules::Table;
use crate::pager::screen::Row;

/// Most rows above the composer that are not transcript.
const LIVE_ROWS: usize = 6;

/// Row of a busy marker.
pub fn marker(table: &Table, rows: &[Row], composer: &Composer) -> Option<usize> {
    status(table, rows, composer.top)
        .or_else(|| (composer.end..rows.len()).find(|&y| any(&table.busy_footer, &rows[y])))
}

fn status(table: &Table, rows: &[Row], top: usize) -> Option<usize> {
    let above = (0..top)
        .rev()
        .filter(|&y| !rows[y].is_blank())
        .take(LIVE_ROWS);
    for y in above {
        if any(&table.busy, &rows[y]) {
            return Some(y);
        }
        if any(&table.transcript, &rows[y]) {
            return None;
        }
    }
    None
}

fn any(patterns: &[Pattern], row: &Row) -> bool {
    patterns.iter().any(|pattern| pattern.is_match(row.text()))
}
