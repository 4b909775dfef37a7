//! Names of parts and projects: `[a-z0-9][a-z0-9_-]{0,31}`.

/// The person's lane: never a part's name.
pub const HUMAN: &str = "human";

/// Whether `text` fits the grammar. `human` does too; who must refuse it asks for it.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    (1..=32).contains(&bytes.len())
        && plain(&bytes[0])
        && bytes.iter().all(|b| plain(b) || *b == b'_' || *b == b'-')
}

/// The nearest slug to a free text such as a folder's name: `None` if nothing of it can be kept.
#[must_use]
pub fn from_name(name: &str) -> Option<String> {
    let mut slug = String::new();
    for c in name.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let kept: String = slug
        .trim_matches(|c| c == '-' || c == '_')
        .chars()
        .take(32)
        .collect();
    let kept = kept.trim_end_matches(['-', '_']).to_owned();
    is_slug(&kept).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar_of_part_names() {
        let longest = "a".repeat(32);
        for good in ["a", "a-b_c9", "9", "human", longest.as_str()] {
            assert!(is_slug(good), "{good}");
        }
        let long = "a".repeat(33);
        for bad in ["", "-x", "_x", "../x", "A", "a b", "ä", long.as_str()] {
            assert!(!is_slug(bad), "{bad}");
        }
    }

    #[test]
    fn names_become_slugs() {
        assert_eq!(from_name("My Shop (v2)").as_deref(), Some("my-shop-v2"));
        assert_eq!(from_name("日本"), None);
    }
}
