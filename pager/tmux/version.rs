//! tmux versions and what differs between them (pager.md 1).

use std::fmt;

/// A version of tmux: `3.3a` is 3.3, `next-3.7` is 3.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// The newest one whose differences are known.
    pub const NEWEST_KNOWN: Self = Self { major: 3, minor: 7 };
    /// The oldest one with pane options.
    pub const OLDEST: Self = Self { major: 3, minor: 0 };

    /// Reads what `tmux -V` prints; a build without numbers (`openbsd-7.4`, `master`) counts as the newest known.
    #[must_use]
    pub fn parse(printed: &str) -> Option<Self> {
        let word = printed.strip_prefix("tmux ")?.trim();
        if word == "master" || word.starts_with("openbsd-") {
            return Some(Self::NEWEST_KNOWN);
        }
        let word = word.strip_prefix("next-").unwrap_or(word);
        let (major, rest) = word.split_once('.')?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        Some(Self {
            major: major.parse().ok()?,
            minor: rest[..digits].parse().ok()?,
        })
    }

    /// Whether panes have options of their own.
    #[must_use]
    pub fn has_pane_options(self) -> bool {
        self >= Self::OLDEST
    }

    /// Whether `run-shell -d` waits without a process.
    #[must_use]
    pub fn waits_by_itself(self) -> bool {
        self >= Self { major: 3, minor: 2 }
    }

    /// Whether the flag `-N` (start no server) is known.
    #[must_use]
    pub fn knows_no_start(self) -> bool {
        self >= Self { major: 3, minor: 2 }
    }

    /// Whether new sessions and windows take variables (`-e`).
    #[must_use]
    pub fn takes_variables(self) -> bool {
        self >= Self { major: 3, minor: 2 }
    }

    /// Whether nobody here has seen it.
    #[must_use]
    pub fn is_unknown(self) -> bool {
        self > Self::NEWEST_KNOWN
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_tmux_prints() {
        for (printed, expected) in [
            ("tmux 2.9a", Some((2, 9))),
            ("tmux 3.0", Some((3, 0))),
            ("tmux 3.3a", Some((3, 3))),
            ("tmux next-3.7", Some((3, 7))),
            ("tmux openbsd-7.4", Some((3, 7))),
            ("tmux 9.9", Some((9, 9))),
            ("screen 4.0", None),
            ("tmux", None),
            ("tmux x.y", None),
        ] {
            let expected = expected.map(|(major, minor)| Version { major, minor });
            assert_eq!(Version::parse(printed), expected, "{printed}");
        }
    }

    #[test]
    fn differences_follow_the_table() {
        let at = |text: &str| Version::parse(&format!("tmux {text}")).unwrap();
        assert!(!at("2.9").has_pane_options());
        assert!(at("3.0a").has_pane_options());
        assert!(!at("3.1c").waits_by_itself() && !at("3.1c").knows_no_start());
        assert!(at("3.2").waits_by_itself() && at("3.2").knows_no_start());
        assert!(!at("3.7").is_unknown() && at("3.8").is_unknown());
    }
}
