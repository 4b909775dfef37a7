//! Versions of a CLI and the ranges a table was made for: `>=2.0, <3`.

use serde::Deserialize;

/// Up to three numbers; what follows them (`-beta`) is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Version([u64; 3]);

impl Version {
    /// Reads `2.1.34`, `v2.1` or `0.171.0-alpha`. `None` without a leading number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = [0; 3];
        for (at, part) in text
            .trim()
            .trim_start_matches('v')
            .splitn(3, '.')
            .enumerate()
        {
            let digits = part
                .find(|c: char| !c.is_ascii_digit())
                .map_or(part, |end| &part[..end]);
            match digits.parse() {
                Ok(number) => numbers[at] = number,
                Err(_) if at == 0 => return None,
                Err(_) => break,
            }
        }
        Some(Self(numbers))
    }
}

/// A range: every bound holds. Without bounds it holds every version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Versions(Vec<Bound>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    From(Version),
    Below(Version),
}

impl TryFrom<String> for Versions {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.split(',')
            .map(|bound| {
                let bound = bound.trim();
                let read = |rest: &str| Version::parse(rest);
                bound
                    .strip_prefix(">=")
                    .and_then(read)
                    .map(Bound::From)
                    .or_else(|| bound.strip_prefix('<').and_then(read).map(Bound::Below))
                    .ok_or_else(|| format!("`{bound}` is neither `>=VERSION` nor `<VERSION`"))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Versions {
    /// Whether every bound holds for `version`.
    #[must_use]
    pub fn contains(&self, version: &Version) -> bool {
        self.0.iter().all(|bound| match bound {
            Bound::From(from) => version >= from,
            Bound::Below(end) => version < end,
        })
    }

    /// The lowest version it holds.
    #[must_use]
    pub fn lowest(&self) -> Version {
        self.0
            .iter()
            .filter_map(|bound| match bound {
                Bound::From(from) => Some(*from),
                Bound::Below(_) => None,
            })
            .max()
            .unwrap_or_default()
    }
}
