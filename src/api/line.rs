//! The line of a wake: ours, fixed, ASCII, without digits. Nothing a peer wrote is ever in it (DESIGN 2.5; pager.md 5). The relay makes
//! it, the pager types it, and the agent's hook knows a prompt by it (usage.md 7, "Cause").

const BEFORE_TAG: &str = "relayroom: you have mail, call the inbox tool (tag ";

/// Letters of a tag: no vowels, so that no word appears; no digits, which answer dialogs (wake.md 3).
pub const TAG_LETTERS: &[u8; 19] = b"bcdfghjkmnpqrstvwxz";

/// How many of them a tag has.
pub const TAG_LENGTH: usize = 6;

/// What is typed for the wake of that tag.
#[must_use]
pub fn of(tag: &str) -> String {
    format!("{BEFORE_TAG}{tag})")
}

/// The tag of a prompt that begins with the line of a wake, whatever follows it. A tag elsewhere in a prompt is its text.
#[must_use]
pub fn tag_of(prompt: &str) -> Option<&str> {
    let (tag, rest) = prompt
        .strip_prefix(BEFORE_TAG)?
        .split_at_checked(TAG_LENGTH)?;
    let is_tag = tag.bytes().all(|letter| TAG_LETTERS.contains(&letter));
    (is_tag && rest.starts_with(')')).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::line;

    #[test]
    fn the_pager_accepts_the_line_for_every_tag() {
        for tag in ["kqmwvz", "bbbbbb", "zzzzzz"] {
            assert_eq!(line::check(&of(tag), tag), Ok(()));
        }
    }

    #[test]
    fn usage_027_only_a_prompt_that_begins_with_the_line_has_its_tag() {
        let line = of("kqzbtw");
        assert_eq!(tag_of(&line), Some("kqzbtw"));
        assert_eq!(tag_of(&format!("{line} and also X")), Some("kqzbtw"));
        for other in [
            "",
            "kqzbtw",
            &format!("please: {line}"),
            &of("kqzbt"),
            &of("kqzbtwk"),
            &of("aeiouy"),
            &of("kqzbtä"),
            &line[..line.len() - 1],
        ] {
            assert_eq!(tag_of(other), None, "{other}");
        }
    }
}
