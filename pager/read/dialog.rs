//! Dialogs: a question in the composer's place, known by its choices or by the keys that answer it (pager.md 4, "Dialog").

use crate::pager::rules::DialogRule;
use crate::pager::rules::Pattern;
use crate::pager::screen::Row;

/// How far a chosen row may be from its neighbour: options carry descriptions.
const NEIGHBOUR_ROWS: usize = 4;
/// How far above its choices a dialog's question is looked for.
const QUESTION_ROWS: usize = 12;

/// A dialog seen.
#[derive(Debug)]
pub struct Dialog {
    /// `choice`, `trust`, `login`, `update` or `other`.
    pub detail: &'static str,
    /// Which rule found it.
    pub rule: &'static str,
    /// In which row.
    pub row: usize,
}

/// Looks for a dialog in `rows` from row `from` on.
pub fn find(rule: &DialogRule, rows: &[Row], from: usize) -> Option<Dialog> {
    let (name, row, plain) = match (choice_row(rule, rows, from), key_row(rule, rows, from)) {
        (Some(row), _) => ("choice", row, "choice"),
        (None, Some(row)) => ("keys", row, "other"),
        (None, None) => return None,
    };
    let about = &rows[from.max(row.saturating_sub(QUESTION_ROWS))..];
    let says = |pattern: &Option<Pattern>| {
        pattern
            .as_ref()
            .is_some_and(|p| about.iter().any(|r| p.is_match(r.text())))
    };
    let detail = if says(&rule.trust) {
        "trust"
    } else if says(&rule.login) {
        "login"
    } else if says(&rule.update) {
        "update"
    } else {
        plain
    };
    Some(Dialog {
        detail,
        rule: name,
        row,
    })
}

/// A footer that says a login is missing, under a composer that looks ordinary.
pub fn missing_login(rule: &DialogRule, rows: &[Row], footer: usize) -> Option<Dialog> {
    let pattern = rule.login_footer.as_ref()?;
    let row = (footer..rows.len()).find(|&y| pattern.is_match(rows[y].text()))?;
    Some(Dialog {
        detail: "login",
        rule: "login_footer",
        row,
    })
}

fn choice_row(rule: &DialogRule, rows: &[Row], from: usize) -> Option<usize> {
    let choice = rule.choice.as_ref()?;
    let option = rule.option.as_ref()?;
    (from..rows.len()).rev().find(|&y| {
        let near =
            y.saturating_sub(NEIGHBOUR_ROWS).max(from)..(y + NEIGHBOUR_ROWS + 1).min(rows.len());
        choice.is_match(rows[y].text())
            && near
                .filter(|&n| n != y)
                .any(|n| option.is_match(rows[n].text()))
    })
}

fn key_row(rule: &DialogRule, rows: &[Row], from: usize) -> Option<usize> {
    (from..rows.len())
        .rev()
        .find(|&y| rule.keys.iter().any(|keys| keys.is_match(rows[y].text())))
}
