//! The line of a wake: what may be typed, and how one is known again on a screen (pager.md 5, "The line"; 4, "Own line").

/// How often `needle` stands in `text`, without overlap. Both are without whitespace.
#[must_use]
pub fn occurrences(text: &str, needle: &str) -> usize {
    if needle.is_empty() {
        return 0;
    }
    text.matches(needle).count()
}

/// Which rule of pager.md 5 a line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadLine {
    /// Not 12 to 120 bytes.
    Length,
    /// A byte that is not printable ASCII.
    Bytes,
    /// A digit, or one of the characters a shell, a client or tmux may act on.
    Characters,
    /// Does not begin with `relayroom:`.
    Start,
    /// Does not end in a letter or `)`.
    End,
    /// Does not contain the wake's tag.
    Tag,
}

const START: &str = "relayroom:";
const BANNED: &str = ";'\"\\$#{}~`";

/// Checks a line the relay sent for a wake tagged `tag`.
///
/// # Errors
/// Names the first rule broken; such a line is not typed.
pub fn check(line: &str, tag: &str) -> Result<(), BadLine> {
    if !(12..=120).contains(&line.len()) {
        return Err(BadLine::Length);
    }
    if !line.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        return Err(BadLine::Bytes);
    }
    if line
        .chars()
        .any(|c| c.is_ascii_digit() || BANNED.contains(c))
    {
        return Err(BadLine::Characters);
    }
    if !line.starts_with(START) {
        return Err(BadLine::Start);
    }
    if !line.ends_with(|c: char| c.is_ascii_alphabetic() || c == ')') {
        return Err(BadLine::End);
    }
    if tag.is_empty() || !line.contains(tag) {
        return Err(BadLine::Tag);
    }
    Ok(())
}
