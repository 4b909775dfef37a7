//! Excerpts of prompt and answer for a turn's end (usage.md 10): only where the person switched them on, secrets out before the cut, on
//! this machine.

use std::sync::LazyLock;

use regex::Regex;

use crate::redact::redact;

/// Longest title, in characters.
const TITLE: usize = 80;

/// Longest summary, in characters.
const SUMMARY: usize = 500;

/// What stands where a secret was.
const MARK: &str = "[secret]";

/// Runs that may be random: keys of services no detector knows.
static RUN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/=_-]{32,}").ok());

/// The first 80 characters of a prompt, on one line; `None` if nothing may be shown.
#[must_use]
pub fn title(prompt: &str, code: &str) -> Option<String> {
    let text = clean(prompt, code)?;
    Some(text.chars().take(TITLE).collect()).filter(|text: &String| !text.is_empty())
}

/// The last 500 characters of an answer, on one line; `None` if nothing may be shown.
#[must_use]
pub fn summary(answer: &str, code: &str) -> Option<String> {
    let text = clean(answer, code)?;
    let length = text.chars().count();
    let text: String = text.chars().skip(length.saturating_sub(SUMMARY)).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn clean(text: &str, code: &str) -> Option<String> {
    let (text, _) = redact(text, code, MARK)?;
    let text = RUN
        .as_ref()?
        .replace_all(&text, |found: &regex::Captures<'_>| {
            if looks_random(&found[0]) {
                MARK.to_owned()
            } else {
                found[0].to_owned()
            }
        });
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    Some(words.join(" "))
}

/// Words and paths are mostly lower case; what mixes letters and digits, or both cases and digits, is not a word.
fn looks_random(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let upper = run.bytes().filter(u8::is_ascii_uppercase).count();
    let letters = run.bytes().filter(u8::is_ascii_alphabetic).count();
    digits * 8 >= run.len() && letters > 0 || upper * 5 >= run.len() && upper < letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_045_secrets_go_before_the_cut() {
        let token = format!("rrt_{}", "a1".repeat(21));
        let key = "sk-abcdefghijklmnopqrstuvwx";
        assert_eq!(
            title(&format!("use {token} and {key}"), "C").as_deref(),
            Some("use [secret] and [secret]")
        );
        let pem = format!(
            "{}-----BEGIN RSA PRIVATE KEY-----\nMIIEow{}\n-----END RSA PRIVATE KEY-----",
            "x ".repeat(30),
            "IBAAKCAQEA".repeat(40)
        );
        let title = title(&pem, "C").unwrap();
        assert!(title.ends_with("x [secret]"), "{title}");
        let summary = summary(&pem, "C").unwrap();
        assert!(summary.ends_with("x [secret]"), "{summary}");
    }

    #[test]
    fn usage_045_eighty_and_five_hundred_characters_on_one_line() {
        let long = "né\n".repeat(300);
        assert_eq!(title(&long, "").unwrap().chars().count(), 80);
        let summary = summary(&format!("{long}end."), "").unwrap();
        assert_eq!(summary.chars().count(), 500);
        assert!(summary.ends_with("né end.") && !summary.contains('\n'));
        assert_eq!(title(" \n ", ""), None);
    }

    #[test]
    fn random_looking_runs_go_and_words_stay() {
        for random in [
            "0123456789abcdef0123456789abcdef01234567",
            "kJ8sPq2LmZx94TtYvWc7RbNn1HgFdSaQ",
            "QWxhZGRpbjpvcGVuIHNlc2FtZQabcdEFGHijklMN",
        ] {
            assert_eq!(title(random, "").as_deref(), Some(MARK), "{random}");
        }
        for word in [
            "a-rather-long-branch-name-for-a-change-of-it",
            "src/messaging/recipients/and/further/down/the/tree",
            "================================",
        ] {
            assert_eq!(title(word, "").as_deref(), Some(word));
        }
    }
}
