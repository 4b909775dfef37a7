//! Patterns of a table: compiled when it is read, so that a bad one is refused with its place.

use std::ops::Deref;

use regex::Regex;
use serde::Deserialize;

/// A regular expression out of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}

/// A regular expression in which `<folder>` stands for the name of the agent's folder.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct FolderPattern(String);

impl TryFrom<String> for FolderPattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let pattern = Self(text);
        pattern.regex(None).map(|_| pattern)
    }
}

impl FolderPattern {
    /// Whether `title` is the one of an agent in `folder`; an unknown folder matches any name.
    #[must_use]
    pub fn matches(&self, title: &str, folder: Option<&str>) -> bool {
        self.regex(folder).is_ok_and(|regex| regex.is_match(title))
    }

    fn regex(&self, folder: Option<&str>) -> Result<Regex, regex::Error> {
        let name = folder.map_or_else(|| r"[^|\s]+".to_string(), regex::escape);
        Regex::new(&self.0.replace("<folder>", &name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_title_ends_in_the_folder() {
        let idle = FolderPattern::try_from(r"(^|\| )<folder>$".to_string()).unwrap();
        let table = [
            ("shop", Some("shop"), true),
            ("fix the cart | shop", Some("shop"), true),
            ("workshop", Some("shop"), false),
            ("devbox", Some("shop"), false),
            ("", Some("shop"), false),
            ("fix | a.b", Some("a.b"), true),
            ("fix | axb", Some("a.b"), false),
            ("fix | anything", None, true),
        ];
        for (title, folder, expected) in table {
            assert_eq!(idle.matches(title, folder), expected, "{title} {folder:?}");
        }
    }
}
