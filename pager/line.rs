//! The line of a wake: what may be typed, and how one is known again on a screen (pager.md 5, "The line"; 4, "Own line").

use std::ops::RangeInclusive;

use super::read::Standing;

/// Length of a line, in bytes.
const LENGTH: RangeInclusive<usize> = 12..=120;
const START: &str = "relayroom:";
const BANNED: &str = ";'\"\\$#{}~`";
/// Letters of a tag (wake.md 2): no vowels, so that none spells a word.
pub const TAG_LETTERS: &str = "bcdfghjkmnpqrstvwxz";
const TAG_LENGTH: usize = 6;
/// How a canary's nonce begins, before its tag letters (pager.md 8).
pub const NONCE_START: &str = "relayroom-check";
/// Tag letters of a nonce.
pub const NONCE_LETTERS: usize = 8;

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

impl BadLine {
    /// The broken rule's name, for evidence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Bytes => "bytes",
            Self::Characters => "characters",
            Self::Start => "start",
            Self::End => "end",
            Self::Tag => "tag",
        }
    }
}

/// Checks a line the relay sent for a wake tagged `tag`.
///
/// # Errors
/// Names the first rule broken; such a line is not typed.
pub fn check(line: &str, tag: &str) -> Result<(), BadLine> {
    if !LENGTH.contains(&line.len()) {
        return Err(BadLine::Length);
    }
    if !line.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
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

/// What a composer's text is. `squeezed` has no whitespace and is not empty.
#[must_use]
pub fn standing(squeezed: &str) -> Standing {
    if let Some(tag) = own_tag(squeezed) {
        return Standing::OwnLine(tag.to_string());
    }
    if is_nonce(squeezed) {
        return Standing::Canary;
    }
    if holds_own_line(squeezed) {
        return Standing::OwnLinePlus;
    }
    Standing::Text
}

/// How often `needle` stands in `text`, without overlap. Both are without whitespace.
#[must_use]
pub fn occurrences(text: &str, needle: &str) -> usize {
    if needle.is_empty() {
        return 0;
    }
    text.matches(needle).count()
}

/// The tag of a text that passes [`check`] and ends in it, as `(tag kqmwvz)` does once its whitespace is gone.
fn own_tag(squeezed: &str) -> Option<&str> {
    let open = squeezed.strip_suffix(')').unwrap_or(squeezed);
    let at = open.len().checked_sub(TAG_LENGTH)?;
    let (before, tag) = (open.get(..at)?, open.get(at..)?);
    let named = before.ends_with("tag");
    (named && is_tag(tag) && check(squeezed, tag).is_ok()).then_some(tag)
}

fn is_tag(text: &str) -> bool {
    text.len() == TAG_LENGTH && text.chars().all(|c| TAG_LETTERS.contains(c))
}

/// A nonce, or what is left of one whose letters are being erased.
fn is_nonce(squeezed: &str) -> bool {
    squeezed.strip_prefix(NONCE_START).is_some_and(|rest| {
        rest.len() <= NONCE_LETTERS && rest.chars().all(|c| TAG_LETTERS.contains(c))
    })
}

/// Whether a whole own line stands somewhere in the text.
fn holds_own_line(squeezed: &str) -> bool {
    squeezed.match_indices(START).any(|(start, _)| {
        let rest = &squeezed[start..];
        rest.char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .any(|end| own_tag(&rest[..end]).is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "relayroom: you have mail, call the inbox tool (tag kqmwvz)";

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect()
    }

    #[test]
    fn pager_062_case_t25_lines_that_break_a_rule_are_named() {
        let long = format!("relayroom: {} kqmwvz", "a".repeat(120 - 17));
        let table = [
            (LINE, Ok(())),
            ("relayroom:kqmwvz", Ok(())),
            ("kqmwvz", Err(BadLine::Length)),
            (long.as_str(), Err(BadLine::Length)),
            ("relayroom: \u{1b}[2J kqmwvz", Err(BadLine::Bytes)),
            ("relayroom: m\u{e4}il kqmwvz", Err(BadLine::Bytes)),
            ("relayroom: two\nlines kqmwvz", Err(BadLine::Bytes)),
            ("relayroom: 3 new kqmwvz", Err(BadLine::Characters)),
            ("relayroom: mail; kqmwvz", Err(BadLine::Characters)),
            ("relayroom: $(x) kqmwvz", Err(BadLine::Characters)),
            ("mail for you: kqmwvz", Err(BadLine::Start)),
            ("relayroom: kqmwvz, read it.", Err(BadLine::End)),
            ("relayroom: you have mail", Err(BadLine::Tag)),
        ];
        for (line, expected) in table {
            assert_eq!(check(line, "kqmwvz"), expected, "{line:?}");
        }
    }

    #[test]
    fn case_t08_a_line_of_120_bytes_passes_and_one_of_121_does_not() {
        let line = |n: usize| format!("relayroom: {} kqmwvz", "a".repeat(n - 18));
        assert_eq!((line(120).len(), line(121).len()), (120, 121));
        assert_eq!(check(&line(120), "kqmwvz"), Ok(()));
        assert_eq!(check(&line(121), "kqmwvz"), Err(BadLine::Length));
    }

    #[test]
    fn standings_are_told_apart() {
        let plus = format!("{LINE} and also X");
        let before = format!("please: {LINE}");
        let table = [
            (LINE, Standing::OwnLine("kqmwvz".into())),
            (
                "relayroom: mail from web (tag bbmvmj)",
                Standing::OwnLine("bbmvmj".into()),
            ),
            (plus.as_str(), Standing::OwnLinePlus),
            (before.as_str(), Standing::OwnLinePlus),
            ("relayroom-check kqmwvzbb", Standing::Canary),
            ("relayroom-check kqm", Standing::Canary),
            ("relayroom-check hello", Standing::Text),
            (
                "yroom: you have mail, call the inbox tool (tag kqmwvz)",
                Standing::Text,
            ),
            (
                "relayroom: you have mail, call the inbox tool (tag kqmw",
                Standing::Text,
            ),
            ("relayroom: you have 3 mails (tag kqmwvz)", Standing::Text),
            ("merge PR 10 only after", Standing::Text),
            ("日本語", Standing::Text),
        ];
        for (text, expected) in table {
            assert_eq!(standing(&squeezed(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn pager_069_occurrences_do_not_overlap() {
        assert_eq!(occurrences("abcabcab", "abc"), 2);
        assert_eq!(occurrences("abc", ""), 0);
    }
}
