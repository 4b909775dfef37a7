//! What text may be stored: one rule at the door for every capability (tools.md 4, Text; cases S08, T23). Refusals name the argument.

use super::Refusal;

/// Checks a text of several lines (bodies, queries, texts inside `detail`): `\r\n` becomes `\n`; of the control characters only
/// `\n` and tab are taken. Nothing else is changed.
///
/// # Errors
/// `control_character`, naming argument, code point and position.
pub fn lines(argument: &str, text: &str) -> Result<String, Refusal> {
    let text = text.replace("\r\n", "\n");
    match text
        .chars()
        .position(|c| c.is_control() && c != '\n' && c != '\t')
    {
        None => Ok(text),
        Some(at) => Err(control(argument, &text, at)),
    }
}

/// Checks a text of one line (subjects, tags, titles, names, ids) and trims it. No control character is taken, nor U+2028 and U+2029.
///
/// # Errors
/// `control_character`, naming argument, code point and position.
pub fn line(argument: &str, text: &str) -> Result<String, Refusal> {
    let bad = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    match text.chars().position(bad) {
        None => Ok(text.trim().to_owned()),
        Some(at) => Err(control(argument, text, at)),
    }
}

/// Refuses a blank text where one is required.
///
/// # Errors
/// `invalid_argument`.
pub fn not_blank(argument: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::new(
            "invalid_argument",
            format!("Nothing was done: {argument} is blank. Give a text."),
        ));
    }
    Ok(())
}

/// Refuses a text over `limit` characters (Unicode scalar values).
///
/// # Errors
/// `too_large`, with limit and size.
pub fn at_most_chars(argument: &str, text: &str, limit: usize) -> Result<(), Refusal> {
    at_most(argument, "characters", text.chars().count(), limit)
}

/// Refuses a text over `limit` bytes of UTF-8.
///
/// # Errors
/// `too_large`, with limit and size.
pub fn at_most_bytes(argument: &str, text: &str, limit: usize) -> Result<(), Refusal> {
    at_most(argument, "bytes", text.len(), limit)
}

/// Refuses a count over `limit`.
///
/// # Errors
/// `too_large`, with limit and size.
pub fn at_most(argument: &str, unit: &str, size: usize, limit: usize) -> Result<(), Refusal> {
    if size <= limit {
        return Ok(());
    }
    Err(Refusal::new(
        "too_large",
        format!(
            "Nothing was done: {argument} has {size} {unit}, the limit is {limit}. Shorten or split it."
        ),
    ))
}

/// Lower case beyond ASCII, for search and `threads.q`. Each character is folded by itself, also the Greek final sigma, so that a part of
/// a text folds to a part of the folded text.
#[must_use]
pub fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == 'ς' { 'σ' } else { c })
        .collect()
}

fn control(argument: &str, text: &str, at: usize) -> Refusal {
    let code = text.chars().nth(at).map_or(0, u32::from);
    Refusal::new(
        "control_character",
        format!("Nothing was done: {argument} holds U+{code:04X} at position {at}. Remove it."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_028_bodies_take_line_breaks_and_tabs_only() {
        assert_eq!(lines("body", "a\r\nb\tc").unwrap(), "a\nb\tc");
        for bad in ["\0", "\u{1b}", "\u{7f}", "\u{85}", "a\rb"] {
            let refusal = lines("body", bad).unwrap_err();
            assert_eq!(refusal.code, "control_character");
        }
        assert!(
            lines("body", "ab\u{1b}")
                .unwrap_err()
                .message
                .contains("body holds U+001B at position 2")
        );
    }

    #[test]
    fn a_part_of_a_text_folds_to_a_part_of_it() {
        assert_eq!(fold("ÉCOLE ΟΔΟΣ"), "école οδοσ");
        assert!(fold("ΟΔΟΣ").contains(&fold("οδος")));
    }

    #[test]
    fn tools_029_lines_take_no_control_character_at_all() {
        for bad in ["a\nb", "a\tb", "a\u{9b}", "a\u{2028}"] {
            assert_eq!(line("subject", bad).unwrap_err().code, "control_character");
        }
        assert_eq!(line("subject", "  hi ").unwrap(), "hi");
    }
}
