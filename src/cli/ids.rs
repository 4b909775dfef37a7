//! Ids as people type them: whole, or the last characters of one (cli.md 1). Which one is meant is the relay's to say.

use super::failure::Failure;
use crate::store::parse_id;

/// Fewest characters that name something.
pub const SHORTEST: usize = 6;

/// Checks an id argument: a whole UUID, or a run of 6 and more of its last characters, also as a table prints it.
///
/// # Errors
/// Exit 2 for anything shorter, or that is no part of an id.
pub fn typed(text: &str) -> Result<String, Failure> {
    if let Some(whole) = parse_id(text) {
        return Ok(whole);
    }
    let run = text.trim().trim_start_matches('…').to_ascii_lowercase();
    let fits = run.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && run.len() <= 36;
    if run.len() < SHORTEST || !fits {
        return Err(Failure::usage(format!(
            "{} is no id: give it whole, or {SHORTEST} and more of its last characters",
            crate::store::quote(text)
        )));
    }
    Ok(run)
}

/// Reads an id argument for clap.
///
/// # Errors
/// As [`typed`], as text.
pub fn argument(text: &str) -> Result<String, String> {
    typed(text).map_err(|failure| failure.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_027_six_characters_are_enough_and_five_are_not() {
        assert_eq!(typed("…3F9a2c").unwrap(), "3f9a2c");
        assert!(typed("f9a2c").is_err());
        assert!(typed("subject").is_err());
        let whole = "0190A7C2-5b1e-7c3d-9f00-0123456789ab";
        assert_eq!(typed(whole).unwrap(), whole.to_lowercase());
    }
}
