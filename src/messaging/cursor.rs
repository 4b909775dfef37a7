//! Where `show` goes on: after a message, or inside one that was cut (tools.md 6, show). Pure.

use crate::store::parse_id;

/// A cursor of `show`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor {
    /// Id of the message.
    pub(super) message: String,
    /// Bytes of its body already given, if it was cut.
    pub(super) given: Option<usize>,
}

impl Cursor {
    /// Reads `<id>` or `<id>:<bytes>`; `None` for anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (id, given) = match text.trim().split_once(':') {
            None => (text, None),
            Some((id, given)) => {
                let plain = given.bytes().all(|b| b.is_ascii_digit());
                (id, Some(given.parse().ok().filter(|_| plain)?))
            }
        };
        Some(Self {
            message: parse_id(id)?,
            given,
        })
    }

    /// The text of the wire.
    pub(super) fn write(message: &str, given: Option<usize>) -> String {
        match given {
            None => message.to_owned(),
            Some(given) => format!("{message}:{given}"),
        }
    }
}

/// The longest head of `text` whose JSON has at most `room` bytes between its quotation marks, at a character boundary.
pub(super) fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += match c {
            '"' | '\\' | '\n' | '\t' => 2,
            // Bodies hold no other control characters; were there one, JSON takes six bytes for it.
            c if c < ' ' => 6,
            c => c.len_utf8(),
        };
        if used > room {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::new_id;

    #[test]
    fn cursors_are_read_back_and_nothing_else_is() {
        let id = new_id();
        for given in [None, Some(1), Some(65_535)] {
            let text = Cursor::write(&id, given);
            let read = Cursor::read(&text).unwrap();
            assert_eq!((read.message, read.given), (id.clone(), given));
        }
        for bad in [
            "",
            "garbage",
            ":",
            &format!("{id}:"),
            &format!("{id}:-1"),
            &format!("{id}:+1"),
            &format!("{id}:1x"),
            &format!("{id}:99999999999999999999999"),
        ] {
            assert_eq!(Cursor::read(bad), None, "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn head_fits_and_takes_as_much_as_fits(text in "[\\PC\n\t\"\\\\]{0,60}", room in 0_usize..100) {
            let inside = |text: &str| serde_json::to_string(text).unwrap().len() - 2;
            let head = head(&text, room);
            proptest::prop_assert!(text.starts_with(head));
            proptest::prop_assert!(inside(head) <= room);
            if let Some(next) = text[head.len()..].chars().next() {
                let longer = format!("{head}{next}");
                proptest::prop_assert!(inside(&longer) > room);
            }
        }
    }
}
