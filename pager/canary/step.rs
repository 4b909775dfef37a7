//! What a look says of a word being typed or taken back: pure (pager.md 8).

use crate::pager::line::NONCE_LETTERS;
use crate::pager::line::NONCE_START;
use crate::pager::line::TAG_LETTERS;
use crate::pager::read::Kind;
use crate::pager::read::Squeezed;
use crate::pager::read::Standing;
use crate::pager::read::Verdict;

/// Least time since a person's last key in the pane, in milliseconds.
const PERSON_MS: i64 = 10_000;

/// What one look found.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The reading.
    pub verdict: &'a Verdict,
    /// The real cursor.
    pub cursor: (u16, u16),
    /// Second of the last key of a client that shows the pane; the least number without one.
    pub keys: i64,
}

/// A text the composer goes to, and the one it comes from.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// What stood there before the key.
    pub from: &'a str,
    /// What is to stand there.
    pub to: &'a str,
    /// The cursor before the key.
    pub cursor: (u16, u16),
    /// [`Seen::keys`] when all conditions held.
    pub keys: i64,
}

/// What is to be done after a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sight {
    /// The step is taken.
    Done,
    /// Nothing against it yet: look again.
    NotYet,
    /// Stop: reason and detail.
    Surprise(String),
}

impl Step<'_> {
    /// Judges a look after the step's key or text. A blank cannot be seen: that it is gone, only the cursor tells.
    pub fn sight(&self, seen: &Seen<'_>) -> Sight {
        let verdict = seen.verdict;
        if seen.keys > self.keys {
            return Sight::Surprise("busy/person".to_owned());
        }
        match (verdict.kind, verdict.detail) {
            (Kind::Ready | Kind::Draft, _) | (Kind::Busy, "moving") => {}
            // A look that saw nothing says nothing.
            (Kind::Unknown, "no_capture" | "no_composer" | "tmux") => return Sight::NotYet,
            (_, detail) => {
                let reason = verdict.reason().unwrap_or_default();
                return Sight::Surprise(format!("{reason}/{detail}"));
            }
        }
        let (from, to) = (Squeezed::of(self.from), Squeezed::of(self.to));
        let text = verdict.text.as_str();
        match verdict.composer {
            Standing::None => return Sight::NotYet,
            Standing::Blank => return Sight::Surprise("draft/blank_text".to_owned()),
            _ if text == to.as_str() && (from != to || seen.cursor != self.cursor) => {
                return Sight::Done;
            }
            _ => {}
        }
        let (short, long) = if from.as_str().len() < to.as_str().len() {
            (&from, &to)
        } else {
            (&to, &from)
        };
        if text.starts_with(short.as_str()) && long.as_str().starts_with(text) {
            return Sight::NotYet;
        }
        Sight::Surprise(format!(
            "draft/{}",
            verdict.composer.draft().unwrap_or("vanished")
        ))
    }
}

/// Whether a person typed into the pane within the last ten seconds. tmux tells whole seconds: the end of that second counts.
pub fn is_watched(keys: i64, wall: i64) -> bool {
    wall.saturating_sub(keys.saturating_add(1).saturating_mul(1_000)) < PERSON_MS
}

/// The word of one run: `relayroom-check` and eight letters from `random`.
pub fn nonce(random: [u8; NONCE_LETTERS]) -> String {
    let letters = TAG_LETTERS.as_bytes();
    let tag: String = random
        .iter()
        .map(|number| char::from(letters[usize::from(*number) % letters.len()]))
        .collect();
    format!("{NONCE_START} {tag}")
}

/// How much of `nonce` stands in a composer that an earlier run left: its text, and the cursor's distance from the first letter where all
/// is in one row. `None` if that is no beginning of it, or so little of it that it could be a person's word.
pub fn left_behind<'a>(nonce: &'a str, verdict: &Verdict, distance: usize) -> Option<&'a str> {
    if (verdict.kind, &verdict.composer) != (Kind::Draft, &Standing::Canary) {
        return None;
    }
    let text = verdict.text.as_str();
    let mut beginnings = (NONCE_START.len()..=nonce.len()).filter_map(|end| nonce.get(..end));
    beginnings.find(|beginning| {
        let ends_blank = beginning.ends_with(' ') || *beginning == NONCE_START;
        Squeezed::of(beginning).as_str() == text && (!ends_blank || beginning.len() == distance)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORD: &str = "relayroom-check kqmwvzbb";

    fn verdict(kind: Kind, detail: &'static str, text: &str) -> Verdict {
        let squeezed: String = text.split_whitespace().collect();
        Verdict {
            composer: match text {
                "" => Standing::Empty,
                _ => crate::pager::line::standing(&squeezed),
            },
            text: Squeezed::of(text),
            ..Verdict::of(kind, detail)
        }
    }

    fn sight(from: &str, to: &str, found: &Verdict, moved: bool, keys: i64) -> Sight {
        let step = Step {
            from,
            to,
            cursor: (9, 4),
            keys: 100,
        };
        step.sight(&Seen {
            verdict: found,
            cursor: (9 + u16::from(moved), 4),
            keys,
        })
    }

    #[test]
    fn a_letter_is_gone_when_the_rest_stands_and_a_blank_when_the_cursor_moved() {
        let (all, less) = (WORD, &WORD[..23]);
        let draft = |text| verdict(Kind::Draft, "canary", text);
        assert_eq!(sight(all, less, &draft(less), true, 100), Sight::Done);
        assert_eq!(sight(all, less, &draft(all), false, 100), Sight::NotYet);
        let moving = verdict(Kind::Busy, "moving", less);
        assert_eq!(sight(all, less, &moving, true, 100), Sight::Done);
        // The blank before the letters is gone only when the cursor says so.
        let (blank, bare) = (&WORD[..16], &WORD[..15]);
        assert_eq!(sight(blank, bare, &draft(bare), false, 100), Sight::NotYet);
        assert_eq!(sight(blank, bare, &draft(bare), true, 100), Sight::Done);
        let empty = verdict(Kind::Ready, "", "");
        assert_eq!(sight("r", "", &empty, true, 100), Sight::Done);
    }

    #[test]
    fn pager_086_surprises_stop_it() {
        let (all, less) = (WORD, &WORD[..23]);
        let surprising = [
            (verdict(Kind::Dialog, "choice", less), "dialog/choice"),
            (verdict(Kind::Mode, "copy", less), "mode/copy"),
            (verdict(Kind::Busy, "marker", less), "busy/marker"),
            (verdict(Kind::Busy, "person", less), "busy/person"),
            (verdict(Kind::NoAgent, "shell", less), "no_agent/shell"),
            (verdict(Kind::WrongPane, "gone", less), "no_pane/gone"),
            (
                verdict(Kind::Draft, "text", "relayroom-check kqmwvzbX"),
                "draft/text",
            ),
            // More is gone than was taken back.
            (verdict(Kind::Draft, "canary", &WORD[..22]), "draft/canary"),
            (verdict(Kind::Ready, "", ""), "draft/vanished"),
        ];
        for (found, reason) in surprising {
            let expected = Sight::Surprise(reason.to_owned());
            assert_eq!(sight(all, less, &found, true, 100), expected);
        }
        let person = verdict(Kind::Draft, "canary", less);
        assert_eq!(
            sight(all, less, &person, true, 101),
            Sight::Surprise("busy/person".to_owned())
        );
    }

    #[test]
    fn only_a_word_that_is_known_and_long_enough_is_left_behind() {
        let draft = |text| verdict(Kind::Draft, "canary", text);
        assert_eq!(left_behind(WORD, &draft(WORD), 24), Some(WORD));
        assert_eq!(
            left_behind(WORD, &draft(&WORD[..18]), 18),
            Some(&WORD[..18])
        );
        assert_eq!(
            left_behind(WORD, &draft(&WORD[..15]), 15),
            Some(&WORD[..15])
        );
        assert_eq!(
            left_behind(WORD, &draft(&WORD[..15]), 16),
            Some(&WORD[..16])
        );
        assert_eq!(left_behind(WORD, &draft(&WORD[..15]), 3), None);
        assert_eq!(
            left_behind(WORD, &draft("relayroom-check bbbbbbbb"), 24),
            None
        );
        let short = verdict(Kind::Draft, "text", "relay");
        assert_eq!(left_behind(WORD, &short, 5), None);
        let dialog = verdict(Kind::Dialog, "choice", WORD);
        assert_eq!(left_behind(WORD, &dialog, 24), None);
    }

    #[test]
    fn a_person_was_there_until_ten_seconds_after_the_second_of_the_key() {
        assert!(is_watched(100, 110_999));
        assert!(!is_watched(100, 111_000));
        assert!(!is_watched(i64::MIN, 0));
    }

    proptest! {
        #[test]
        fn words_are_nonces(random: [u8; NONCE_LETTERS]) {
            let word = nonce(random);
            let squeezed: String = word.split_whitespace().collect();
            prop_assert_eq!(crate::pager::line::standing(&squeezed), Standing::Canary);
        }

        /// Whatever stands in a composer, a step is taken only where exactly its text does.
        #[test]
        fn other_texts_are_never_a_step_taken(text in "[a-z -]{0,30}", moved: bool, end in 1_usize..25) {
            let (from, to) = (&WORD[..end], &WORD[..end - 1]);
            let found = verdict(Kind::Draft, "text", &text);
            let same = Squeezed::of(&text) == Squeezed::of(to);
            let blank = Squeezed::of(from) == Squeezed::of(to);
            prop_assert_eq!(sight(from, to, &found, moved, 100) == Sight::Done, same && (moved || !blank));
        }
    }
}
