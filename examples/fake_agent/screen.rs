//! What the agent draws: transcript, status row, composer or dialog, footer, from the bottom up.

use std::time::Duration;

use crate::blocks;
use crate::blocks::Question;
use crate::knobs::Busy;
use crate::knobs::Knobs;
use crate::knobs::Style;

/// The alternate screen.
pub const ALTERNATE: &str = "\x1b[?1049h";
/// A clear screen.
pub const CLEAR: &str = "\x1b[2J";
/// Asks the terminal to frame pastes.
pub const BRACKETED: &str = "\x1b[?2004h";
/// Takes that back.
pub const UNBRACKETED: &str = "\x1b[?2004l";
/// Everything as it was.
pub const END: &str = "\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b]2;\x07";

/// All that shows.
pub struct View<'a> {
    pub knobs: &'a Knobs,
    pub composer: &'a str,
    pub transcript: &'a [String],
    /// A turn runs; time for its spinner.
    pub busy_for: Option<Duration>,
    pub up_for: Duration,
    pub question: Option<Question>,
    pub vi_normal: bool,
    pub columns: usize,
    pub rows: usize,
}

/// The bytes of one frame. Equal pictures give equal frames.
pub fn frame(view: &View<'_>) -> String {
    let mut block = Vec::new();
    let mut cursor = None;
    if let Some(question) = view.question {
        block.extend(blocks::dialog(view.knobs, question));
    } else {
        if let Some(status) = status(view) {
            block.extend([status, String::new()]);
        }
        let (rows, at) = blocks::composer(view);
        cursor = Some((block.len() + at.1, at.0));
        block.extend(rows);
        block.extend(blocks::footer(view));
    }
    block.extend(vec![String::new(); view.knobs.blank_below]);
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
        if !view.knobs.is_drawn() {
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
    let busy = view.busy_for.is_some() && view.knobs.busy == Busy::Title;
    if let (Style::Gemini, None) = (view.knobs.style, &view.knobs.title) {
        return match view.question {
            Some(Question::Permission) => format!("✋  Action Required ({folder})"),
            _ if busy => format!("✦  Working… ({folder})"),
            _ => format!("◇  Ready ({folder})"),
        };
    }
    let idle = match (&view.knobs.title, view.knobs.style) {
        (Some(title), _) => title.clone(),
        (None, Style::Claude) => "✳ Claude Code".to_owned(),
        (None, Style::Codex) => folder,
        (None, _) => "plain".to_owned(),
    };
    if busy {
        return format!("⠋ {idle}");
    }
    idle
}

fn status(view: &View<'_>) -> Option<String> {
    let busy = view.busy_for?;
    let (seconds, tenths) = (busy.as_secs(), busy.as_millis() / 100);
    match view.knobs.busy {
        Busy::Spinner => {}
        Busy::Counter => return Some(format!("  thinking for {seconds} s")),
        Busy::Colour => return Some(format!("\x1b[38;5;{}m  thinking", 17 + tenths % 200)),
        Busy::Title | Busy::Silent(_) => return None,
    }
    let turn = |glyphs: &[char]| glyphs[usize::try_from(tenths).unwrap_or(0) % glyphs.len()];
    Some(match view.knobs.style {
        Style::Claude => {
            let glyph = turn(&['·', '✢', '✳', '✶', '✻', '✽']);
            format!("{glyph} Swirling… ({seconds}s · ↓ 4 tokens)")
        }
        Style::Codex => format!("• Working ({seconds}s • esc to interrupt)"),
        Style::Gemini => {
            let glyph = turn(&['⠋', '⠙', '⠹', '⠸']);
            format!(" {glyph} Thinking (esc to cancel, {seconds}s)")
        }
        Style::Plain => format!("working {seconds}"),
    })
}

/// Cuts text into rows; an empty text is one row.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return vec![String::new()];
    }
    letters
        .chunks(width.max(1))
        .map(|row| row.iter().collect())
        .collect()
}
