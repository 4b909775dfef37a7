//! What the agent draws: transcript, status row, composer or dialog, footer, from the bottom up.

use std::time::Duration;

use crate::knobs::Busy;
use crate::knobs::Knobs;
use crate::knobs::Placeholder;
use crate::knobs::Style;

/// Alternate screen, cleared.
pub const BEGIN: &str = "\x1b[?1049h\x1b[2J";
/// Asks the terminal to frame pastes.
pub const BRACKETED: &str = "\x1b[?2004h";
/// Takes that back.
pub const UNBRACKETED: &str = "\x1b[?2004l";
/// Everything as it was.
pub const END: &str = "\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b]2;\x07";

const HINT: &str = "Ask the agent to do anything";

/// All that shows.
pub struct View<'a> {
    pub knobs: &'a Knobs,
    pub composer: &'a str,
    pub transcript: &'a [String],
    /// A turn runs; time for its spinner.
    pub busy_for: Option<Duration>,
    pub dialog_open: bool,
    pub columns: usize,
    pub rows: usize,
}

/// The bytes of one frame. Equal pictures give equal frames.
pub fn frame(view: &View<'_>) -> String {
    let mut block = Vec::new();
    let mut cursor = None;
    if view.dialog_open {
        block.extend(dialog(view.knobs.style));
    } else {
        if let Some(status) = status(view) {
            block.extend([status, String::new()]);
        }
        let (rows, at) = composer(view);
        cursor = Some((block.len() + at.1, at.0));
        block.extend(rows);
        block.extend(footer(view));
    }
    let above = view.rows.saturating_sub(block.len());
    let wrapped: Vec<String> = view
        .transcript
        .iter()
        .flat_map(|text| wrap(text, view.columns))
        .collect();
    let first = wrapped.len().saturating_sub(above);
    let mut lines = vec![String::new(); above.saturating_sub(wrapped.len())];
    lines.extend(wrapped[first..].iter().cloned());
    let top = lines.len();
    lines.extend(block);
    let mut out = format!("\x1b]2;{}\x07\x1b[?25l", title(view));
    for (y, line) in lines.iter().enumerate() {
        out.push_str(&format!("\x1b[{};1H\x1b[0m{line}\x1b[0m\x1b[K", y + 1));
    }
    if let Some((y, x)) = cursor {
        out.push_str(&format!("\x1b[{};{}H", top + y + 1, x + 1));
        if view.knobs.style != Style::Claude {
            out.push_str("\x1b[?25h");
        }
    }
    out
}

fn title(view: &View<'_>) -> String {
    let folder = std::env::current_dir()
        .ok()
        .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let idle = match (&view.knobs.title, view.knobs.style) {
        (Some(title), _) => title.clone(),
        (None, Style::Claude) => "✳ Claude Code".to_owned(),
        (None, Style::Codex) => folder,
        (None, Style::Plain) => "plain".to_owned(),
    };
    if view.busy_for.is_some() && view.knobs.busy == Busy::Title {
        return format!("⠋ {idle}");
    }
    idle
}

fn status(view: &View<'_>) -> Option<String> {
    let busy = view.busy_for.filter(|_| view.knobs.busy == Busy::Spinner)?;
    let seconds = busy.as_secs();
    Some(match view.knobs.style {
        Style::Claude => {
            let glyphs = ['·', '✢', '✳', '✶', '✻', '✽'];
            let glyph = glyphs[usize::try_from(busy.as_millis() / 100).unwrap_or(0) % glyphs.len()];
            format!("{glyph} Swirling… ({seconds}s · ↓ 4 tokens)")
        }
        Style::Codex => format!("• Working ({seconds}s • esc to interrupt)"),
        Style::Plain => format!("working {seconds}"),
    })
}

/// Rows of the composer, and column and row of the cursor in them.
fn composer(view: &View<'_>) -> (Vec<String>, (usize, usize)) {
    let width = view.columns.saturating_sub(2).max(1);
    let mut parts: Vec<String> = view
        .composer
        .split('\n')
        .flat_map(|line| wrap(line, width))
        .collect();
    if parts.is_empty() {
        parts.push(String::new());
    }
    let at = (
        parts.last().map_or(0, |last| last.chars().count()) + 2,
        parts.len() - 1,
    );
    let empty = view.composer.is_empty();
    let drawn = view.knobs.style == Style::Claude;
    let last = parts.len() - 1;
    let mut rows: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(y, text)| {
            let mut row = if y == 0 {
                glyph(view.knobs.style)
            } else {
                "  ".to_owned()
            };
            row.push_str(text);
            match (empty, y == last, drawn) {
                (true, ..) => row.push_str(&hint(view.knobs.placeholder, drawn)),
                (false, true, true) => row.push_str("\x1b[7m \x1b[0m"),
                _ => {}
            }
            row
        })
        .collect();
    if !drawn {
        return (rows, at);
    }
    let rule = "─".repeat(view.columns);
    rows.insert(0, rule.clone());
    rows.push(rule);
    (rows, (at.0, at.1 + 1))
}

fn glyph(style: Style) -> String {
    match style {
        Style::Claude => "❯\u{a0}".to_owned(),
        Style::Codex => "\x1b[1m›\x1b[0m ".to_owned(),
        Style::Plain => "> ".to_owned(),
    }
}

/// The hint of an empty composer; a drawn cursor stands on its first letter.
fn hint(placeholder: Placeholder, drawn: bool) -> String {
    let style = match placeholder {
        Placeholder::None if drawn => return "\x1b[7m \x1b[0m".to_owned(),
        Placeholder::None => return String::new(),
        Placeholder::Dim => "\x1b[2m",
        Placeholder::Grey => "\x1b[38;5;248m",
        Placeholder::Plain => "",
    };
    if drawn {
        let (first, rest) = HINT.split_at(1);
        return format!("\x1b[7m{first}\x1b[0m{style}{rest}\x1b[0m");
    }
    format!("{style}{HINT}\x1b[0m")
}

fn footer(view: &View<'_>) -> Vec<String> {
    let mut rows = Vec::new();
    if view.knobs.style == Style::Codex && view.knobs.footer > 0 {
        rows.push(String::new());
    }
    for row in 0..view.knobs.footer {
        rows.push(match row {
            0 => "  ? for shortcuts".to_owned(),
            row => format!("  status row {row}"),
        });
    }
    rows
}

/// A question in the composer's place, in each style as its CLI asks.
fn dialog(style: Style) -> Vec<String> {
    let (first, keys) = match style {
        Style::Claude => (" ❯ 1. Yes", " Enter to confirm · Esc to cancel"),
        Style::Codex => ("› 1. Yes", "  Press enter to confirm or esc to cancel"),
        Style::Plain => ("> 1. Yes", "enter or esc"),
    };
    [
        " Do you want to proceed?",
        first,
        "   2. Yes, always",
        "   3. No",
        "",
        keys,
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Cuts text into rows; an empty text is one row.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return vec![String::new()];
    }
    letters
        .chunks(width.max(1))
        .map(|row| row.iter().collect())
        .collect()
}
