//! Tags: six letters that are typed with a wake's line and reported back by the agent's hook (wake.md 3).

use crate::api::line::TAG_LENGTH;
use crate::api::line::TAG_LETTERS;

/// The tag of a number. The numbers below 19^6 have a tag each.
#[must_use]
pub fn of(mut number: u32) -> String {
    let mut tag = String::with_capacity(TAG_LENGTH);
    for _ in 0..TAG_LENGTH {
        tag.push(char::from(TAG_LETTERS[(number % 19) as usize]));
        number /= 19;
    }
    tag
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tags_are_six_of_the_letters(number: u32) {
            let tag = of(number);
            prop_assert_eq!(tag.len(), 6);
            prop_assert!(tag.bytes().all(|letter| TAG_LETTERS.contains(&letter)));
        }

        #[test]
        fn numbers_below_19_to_the_6_do_not_share_a_tag(a in 0..47_045_881_u32, b in 0..47_045_881_u32) {
            prop_assert_eq!(a == b, of(a) == of(b));
        }
    }
}
