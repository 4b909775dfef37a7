//! What counts as a secret in a text (knowledge.md 3): our own tokens, the connect code, and what the detectors know. Pure, and in a
//! place of its own because both ends use it: the relay on entries of knowledge, the hook on excerpts (usage.md 10).

use std::sync::LazyLock;

use regex::Regex;

/// Detectors: what a match keeps is its group `k`.
const DETECTORS: &[&str] = &[
    r"\brr[tparo]_[\w-]{16,}",
    r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|\z)",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
    r"\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{35}",
    r"\bsk-[\w-]{20,}|\b[rs]k_(live|test)_\w{16,}|\bglpat-[\w-]{20,}|\bxox[abeoprs]-[\w-]{10,}|\bnpm_[A-Za-z0-9_]{36}\b",
    r"\bgh[pousr]_[A-Za-z0-9_]{36,255}|\bgithub_pat_[A-Za-z0-9_]{22,255}",
    r"(?i)(?P<k>\bbearer\s+)[\w.~+/=-]{20,}",
];

/// A password inside a URL; only when `@` follows, which the pattern engine cannot look ahead to and so keeps as a second group.
const URL_PASSWORD: &str = r"(?P<k>\b[a-z][a-z0-9+.-]*://[^\s/:@]+:)[^\s/@]+(?P<after>@)";

/// `name = value` where the name says secret; only with a letter and a digit in the value.
const ASSIGNMENT: &str = r#"(?i)(?P<k>\b(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)["']?\s*[:=]\s*["']?)(?P<value>[\w+/.=-]{16,})"#;

struct Patterns {
    whole: Vec<Regex>,
    url_password: Regex,
    assignment: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    Some(Patterns {
        whole: DETECTORS
            .iter()
            .map(|pattern| Regex::new(pattern).ok())
            .collect::<Option<_>>()?,
        url_password: Regex::new(URL_PASSWORD).ok()?,
        assignment: Regex::new(ASSIGNMENT).ok()?,
    })
});

/// The text with `mark` in place of each secret, and how many were found; `None` if the rules cannot be read, and then nothing of the
/// text may be written (it fails closed).
#[must_use]
pub fn redact(text: &str, connect_code: &str, mark: &str) -> Option<(String, usize)> {
    let patterns = PATTERNS.as_ref()?;
    let mut text = text.to_owned();
    let mut removed = 0;
    // Repeated until nothing changes, so that a removal cannot put a secret together. Each pass shortens the text or finds only marks.
    loop {
        let before = text.clone();
        if !connect_code.is_empty() {
            removed += text.matches(connect_code).count();
            text = text.replace(connect_code, mark);
        }
        for pattern in &patterns.whole {
            text = cut(pattern, &text, &mut removed, |found| {
                Some(format!("{}{mark}", group(found, "k")))
            });
        }
        text = cut(&patterns.url_password, &text, &mut removed, |found| {
            Some(format!(
                "{}{mark}{}",
                group(found, "k"),
                group(found, "after")
            ))
        });
        text = cut(&patterns.assignment, &text, &mut removed, |found| {
            let value = group(found, "value");
            let mixed = value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic());
            mixed.then(|| format!("{}{mark}", group(found, "k")))
        });
        if text == before {
            return Some((text, removed));
        }
    }
}

fn group<'t>(found: &regex::Captures<'t>, name: &str) -> &'t str {
    found.name(name).map_or("", |group| group.as_str())
}

/// Replaces each match by what `keep` says; `None` leaves it as it is.
fn cut(
    pattern: &Regex,
    text: &str,
    removed: &mut usize,
    keep: impl Fn(&regex::Captures<'_>) -> Option<String>,
) -> String {
    pattern
        .replace_all(text, |found: &regex::Captures<'_>| match keep(found) {
            Some(kept) => {
                *removed += 1;
                kept
            }
            None => found[0].to_owned(),
        })
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> (String, usize) {
        redact(text, "c0dec0dec0dec0dec0dec0deco", "").unwrap()
    }

    #[test]
    fn knowledge_008_keys_and_pem_blocks_go() {
        let (text, removed) =
            clean("a AKIAABCDEFGHIJKLMNOP b\n-----BEGIN RSA PRIVATE KEY-----\nMIIE");
        assert_eq!((text.as_str(), removed), ("a  b\n", 2));
    }

    #[test]
    fn knowledge_009_passwords_in_urls_go_and_prose_stays() {
        assert_eq!(
            clean("postgres://app:hunter2@db/x").0,
            "postgres://app:@db/x"
        );
        for same in ["http://localhost:48801/x", "token: see the wiki page"] {
            assert_eq!(clean(same), (same.to_owned(), 0));
        }
    }

    #[test]
    fn our_own_tokens_and_the_connect_code_go() {
        let text = format!("rrt_{} c0dec0dec0dec0dec0dec0deco", "a".repeat(43));
        assert_eq!(clean(&text), (" ".to_owned(), 2));
    }

    #[test]
    fn a_mark_stands_where_a_secret_was() {
        let marked = |text| redact(text, "", "[secret]").unwrap().0;
        assert_eq!(
            marked("a AKIAABCDEFGHIJKLMNOP postgres://app:hunter2@db/x"),
            "a [secret] postgres://app:[secret]@db/x"
        );
        assert_eq!(marked("api_key=abcdefghijklmnop12"), "api_key=[secret]");
    }

    #[test]
    fn a_removal_cannot_put_a_secret_together() {
        let (text, removed) = clean("x AKIAc0dec0dec0dec0dec0dec0decoABCDEFGHIJKLMNOP y");
        assert_eq!((text.as_str(), removed), ("x  y", 2));
    }
}
