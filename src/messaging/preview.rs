//! The first line of a message as `inbox` shows it (tools.md 6, inbox). Pure.

/// Characters of a preview, the `…` of a cut one not counted.
const CHARS: usize = 160;

/// The body with each run of white space as one blank, trimmed, at most 160 characters and `…` if it was cut; and whether it is whole.
#[must_use]
pub(super) fn preview(body: &str) -> (String, bool) {
    let mut shown = String::new();
    let mut chars = 0;
    for word in body.split_whitespace() {
        if chars > 0 {
            if chars == CHARS {
                shown.push('…');
                return (shown, false);
            }
            shown.push(' ');
            chars += 1;
        }
        for c in word.chars() {
            if chars == CHARS {
                shown.push('…');
                return (shown, false);
            }
            shown.push(c);
            chars += 1;
        }
    }
    (shown, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_054_preview_is_one_line_of_160_characters() {
        let (shown, full) = preview(&format!("a\n\n  b{}", "x".repeat(400)));
        assert_eq!(shown.chars().count(), 161);
        assert!(shown.starts_with("a bxx") && shown.ends_with("x…") && !full);
        assert_eq!(preview(&"x".repeat(160)), ("x".repeat(160), true));
        assert_eq!(
            preview(&"語".repeat(200)),
            (format!("{}…", "語".repeat(160)), false)
        );
        assert_eq!(preview("\n a \t\n"), ("a".to_owned(), true));
    }

    #[test]
    fn a_blank_at_the_cut_is_counted() {
        let body = format!("{} y", "x".repeat(159));
        assert_eq!(preview(&body), (format!("{} …", "x".repeat(159)), false));
        assert_eq!(
            preview(&format!("{} y", "x".repeat(160))),
            (format!("{}…", "x".repeat(160)), false)
        );
    }

    proptest::proptest! {
        #[test]
        fn preview_never_cuts_a_character_and_full_means_nothing_was_cut(body in "\\PC{0,200}[ \n\t]{0,5}\\PC{0,50}") {
            let (shown, full) = preview(&body);
            let whole: Vec<&str> = body.split_whitespace().collect();
            let whole = whole.join(" ");
            if full {
                proptest::prop_assert_eq!(shown, whole);
            } else {
                let head: String = whole.chars().take(CHARS).collect();
                proptest::prop_assert_eq!(shown, format!("{head}…"));
            }
        }
    }
}
