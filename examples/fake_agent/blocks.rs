//! The blocks at the bottom of the screen: composer or dialog, footer.

use crate::knobs::Knobs;
use crate::knobs::Placeholder;
use crate::knobs::Style;
use crate::screen::View;
use crate::screen::wrap;

const HINT: &str = "Ask the agent to do anything";
/// Behind Gemini's composer.
const GREY: &str = "\x1b[48;5;240m";

/// A question in the composer's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// May it run this?
    Permission,
    /// Is this folder trusted?
    Trust,
}

/// Rows of the composer, and column and row of the cursor in them.
pub fn composer(view: &View<'_>) -> (Vec<String>, (usize, usize)) {
    let knobs = view.knobs;
    let home = home(knobs.style);
    let width = view.columns.saturating_sub(home).max(1);
    let parts: Vec<String> = view
        .composer
        .split('\n')
        .flat_map(|line| wrap(line, width))
        .collect();
    let last = parts.len() - 1;
    let at = (parts[last].chars().count() + home, last);
    let empty = view.composer.is_empty();
    let gemini = knobs.style == Style::Gemini;
    let mut rows: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(y, text)| {
            let mut row = if gemini {
                GREY.to_owned()
            } else {
                String::new()
            };
            row.push_str(&if y == 0 {
                glyph(knobs.style)
            } else {
                " ".repeat(home)
            });
            row.push_str(text);
            let mut filled = home + text.chars().count();
            match (empty, y == last && knobs.is_drawn()) {
                (true, drawn) => {
                    row.push_str(&hint(knobs, drawn));
                    filled += HINT.len();
                }
                (false, true) => {
                    row.push_str("\x1b[7m \x1b[27m");
                    filled += 1;
                }
                _ => {}
            }
            if gemini {
                row.push_str(&" ".repeat(view.columns.saturating_sub(filled)));
            }
            row
        })
        .collect();
    let (top, bottom) = match knobs.style {
        Style::Claude => ("─", "─"),
        Style::Gemini => ("▄", "▀"),
        Style::Codex | Style::Plain => return (rows, at),
    };
    rows.insert(0, top.repeat(view.columns));
    rows.push(bottom.repeat(view.columns));
    (rows, (at.0, at.1 + 1))
}

fn home(style: Style) -> usize {
    if style == Style::Gemini { 3 } else { 2 }
}

fn glyph(style: Style) -> String {
    match style {
        Style::Claude => "❯\u{a0}".to_owned(),
        Style::Codex => "\x1b[1m›\x1b[0m ".to_owned(),
        Style::Gemini => " > ".to_owned(),
        Style::Plain => "> ".to_owned(),
    }
}

/// The hint of an empty composer; a drawn cursor stands on its first letter.
fn hint(knobs: &Knobs, drawn: bool) -> String {
    let style = match knobs.placeholder() {
        Placeholder::None if drawn => return "\x1b[7m \x1b[27m".to_owned(),
        Placeholder::None => return String::new(),
        Placeholder::Dim => "\x1b[2m",
        Placeholder::Grey => "\x1b[38;5;248m",
        Placeholder::Plain => "",
    };
    if drawn {
        let (first, rest) = HINT.split_at(1);
        return format!("\x1b[7m{first}\x1b[27m{style}{rest}\x1b[22;39m");
    }
    format!("{style}{HINT}\x1b[22;39m")
}

/// Rows under the composer.
pub fn footer(view: &View<'_>) -> Vec<String> {
    let knobs = view.knobs;
    let mut rows = Vec::new();
    if knobs.style == Style::Codex && knobs.footer > 0 {
        rows.push(String::new());
    }
    for row in 0..knobs.footer {
        let text = match row {
            // Gemini keeps its footer.
            0 if knobs.hints_vanish
                && knobs.style != Style::Gemini
                && !view.composer.is_empty() =>
            {
                continue;
            }
            0 if knobs.vi => vi_mode(knobs.style, view.vi_normal),
            0 => "? for shortcuts".to_owned(),
            row => format!("status row {row}"),
        };
        rows.push(match knobs.style {
            Style::Gemini => format!(" ~/shop  no sandbox  {text}"),
            _ => format!("  {text}"),
        });
    }
    if knobs.footer_clock {
        let seconds = view.up_for.as_secs();
        rows.push(format!("  up for  {} s", seconds));
    }
    rows
}

/// What tells vi's mode. Claude shows its NORMAL by nothing at all.
fn vi_mode(style: Style, normal: bool) -> String {
    match (style, normal) {
        (Style::Claude | Style::Plain, false) => "-- INSERT --".to_owned(),
        (Style::Claude | Style::Plain, true) => "? for shortcuts".to_owned(),
        (Style::Codex, false) => "gpt-5  Vim: Insert".to_owned(),
        (Style::Codex, true) => "gpt-5  Vim: Normal".to_owned(),
        (Style::Gemini, false) => "[INSERT]".to_owned(),
        (Style::Gemini, true) => "[NORMAL]".to_owned(),
    }
}

/// A question, in each style as its CLI asks.
pub fn dialog(knobs: &Knobs, question: Question) -> Vec<String> {
    let (asked, choices) = match question {
        Question::Permission => ("Do you want to proceed?", ["Yes", "Yes, always", "No"]),
        Question::Trust => (
            "Do you trust the files in this folder?",
            ["Yes, I trust this folder", "Yes, always", "No, exit"],
        ),
    };
    let (chosen, other, keys) = match knobs.style {
        Style::Claude => (" ❯ ", "   ", " Enter to confirm · Esc to cancel"),
        Style::Codex => ("› ", "  ", "  Press enter to confirm or esc to cancel"),
        Style::Gemini => ("│ ● ", "│   ", "│ Enter to select · Esc to cancel"),
        Style::Plain => ("> ", "  ", "enter or esc"),
    };
    let asked = match (knobs.style, question) {
        (Style::Codex, Question::Trust) => "Trust this folder?",
        _ => asked,
    };
    let mut rows = vec![format!("{other}{asked}")];
    for (number, choice) in (1..).zip(choices) {
        let glyph = if number == 1 { chosen } else { other };
        rows.push(if knobs.numbered {
            format!("{glyph}{number}. {choice}")
        } else {
            format!("{glyph}{choice}")
        });
    }
    rows.extend([String::new(), keys.to_owned()]);
    rows
}
