//! Checks that send and reply have in common.

use super::recipients::Recipient;
use crate::store::Refusal;
use crate::store::text;

/// Bytes of a body.
const BODY_BYTES: usize = 65_536;

/// Checks a body; only `\r\n` becomes `\n`.
///
/// # Errors
/// `control_character`, `invalid_argument`, `too_large`.
pub(super) fn body(raw: &str) -> Result<String, Refusal> {
    let body = text::lines("body", raw)?;
    text::not_blank("body", &body)?;
    text::at_most_bytes("body", &body, BODY_BYTES)?;
    Ok(body)
}

/// Refuses a message that is to wake at once and to wake nobody.
///
/// # Errors
/// `invalid_argument`.
pub(super) fn urgent_or_fyi(urgent: bool, fyi: bool) -> Result<(), Refusal> {
    if urgent && fyi {
        return Err(Refusal::new(
            "invalid_argument",
            "Nothing was sent: urgent and fyi exclude each other. Give one of them.",
        ));
    }
    Ok(())
}

/// The names of recipients as a set has them, for comparing.
pub(super) fn sorted(recipients: &[Recipient]) -> Vec<&str> {
    let mut names: Vec<&str> = recipients
        .iter()
        .map(|recipient| recipient.name.as_str())
        .collect();
    names.sort_unstable();
    names
}
