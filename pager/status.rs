//! The status line: what `#{@relayroom_status}` shows in a session (pager.md 6). Colours and words are ours, so nothing a relay or a peer
//! says can become a format.

/// Colour where the relay gave none that is one.
const GREY: &str = "#808080";

/// One part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name, `[a-z0-9_-]`.
    pub part: &'a str,
    /// Unread messages.
    pub unread: u64,
    /// `#rrggbb` as the relay said it.
    pub colour: Option<&'a str>,
    /// What holds it up, in a word.
    pub word: Option<&'static str>,
}

/// The string of a session. A part whose name could be anything else than a name is left out.
#[must_use]
pub fn render(entries: &[Entry<'_>]) -> String {
    let mut text = String::new();
    for entry in entries {
        let plain = entry
            .part
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
        if !plain {
            continue;
        }
        let colour = entry.colour.filter(|c| is_colour(c)).unwrap_or(GREY);
        let ink = ink(colour);
        text.push_str(&format!(
            "#[fg={ink},bg={colour}] {} {} #[default]",
            entry.part, entry.unread
        ));
        if let Some(word) = entry.word {
            text.push_str(&format!(" {word} "));
        }
    }
    text
}

fn is_colour(text: &str) -> bool {
    text.len() == 7
        && text.starts_with('#')
        && text[1..]
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Black or white, whichever stands out more: at least 4.5 : 1 on any colour.
fn ink(colour: &str) -> &'static str {
    // Black and white stand out equally where (L + 0.05)² = 0.05 × 1.05.
    if luminance(colour) > 0.179 {
        "#000000"
    } else {
        "#ffffff"
    }
}

/// Relative luminance as WCAG defines it, 0 to 1.
fn luminance(colour: &str) -> f64 {
    let channel = |at: usize| {
        let value = u8::from_str_radix(&colour[at..at + 2], 16).unwrap_or_default();
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry<'a>(part: &'a str, colour: Option<&'a str>) -> Entry<'a> {
        Entry {
            part,
            unread: 3,
            colour,
            word: None,
        }
    }

    #[test]
    fn parts_stand_side_by_side_with_their_word() {
        let held = Entry {
            word: Some("draft"),
            ..entry("api", Some("#202020"))
        };
        assert_eq!(
            render(&[entry("web", Some("#7aa2f7")), held]),
            "#[fg=#000000,bg=#7aa2f7] web 3 #[default]#[fg=#ffffff,bg=#202020] api 3 #[default] draft "
        );
    }

    #[test]
    fn pager_084_a_colour_that_is_none_is_grey_and_a_name_that_is_none_is_left_out() {
        for bad in ["red]#(touch /tmp/x)", "#7AA2F7", "#fff", "", "#12345g"] {
            let text = render(&[entry("web", Some(bad))]);
            assert!(
                text.contains("bg=#808080]") && !text.contains("touch"),
                "{text}"
            );
        }
        assert_eq!(render(&[entry("a#(x)", None)]), "");
    }

    proptest! {
        #[test]
        fn text_stands_out_on_every_colour(colour in "#[0-9a-f]{6}") {
            let (back, front) = (luminance(&colour), luminance(ink(&colour)));
            let contrast = (back.max(front) + 0.05) / (back.min(front) + 0.05);
            prop_assert!(contrast >= 4.5, "{contrast}");
        }
    }
}
