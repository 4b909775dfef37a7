//! The table of prices: built in, with what a person's `prices.toml` replaces or adds.

use std::path::Path;
use std::path::PathBuf;

use serde::Deserialize;

use super::Price;
use crate::store::Time;

const BUILT_IN: &str = include_str!("built_in.toml");

/// Dearest price of a million tokens, in dollars.
const DEAREST: f64 = 1_000_000.0;

/// A day in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// A table that cannot be used: its place, and what is wrong there.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}: line {line}: {cause}", path.display())]
pub struct BadPrices {
    /// The file.
    pub path: PathBuf,
    /// The line.
    pub line: usize,
    /// What is wrong.
    pub cause: String,
}

/// The prices in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices {
    as_of: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    /// An exact id, or with `prefix` how it begins.
    model: String,
    prefix: bool,
    /// First day it holds, counted from 1970 UTC.
    from: i64,
    price: Price,
}

impl Entry {
    fn fits(&self, model: &str) -> bool {
        match self.prefix {
            true => model.starts_with(&self.model),
            false => model == self.model,
        }
    }
}

impl Default for Prices {
    /// The table that is built in.
    fn default() -> Self {
        read(BUILT_IN).unwrap_or_else(|_| Self::off())
    }
}

impl Prices {
    /// No prices at all: tokens only.
    #[must_use]
    pub fn off() -> Self {
        Self {
            as_of: String::new(),
            entries: Vec::new(),
        }
    }

    /// The built-in table with what the file at `path` replaces or adds, if there is one.
    ///
    /// # Errors
    /// [`BadPrices`] for a file that cannot be used.
    pub fn load(path: &Path) -> Result<Self, BadPrices> {
        let bad = |line, cause| BadPrices {
            path: path.to_owned(),
            line,
            cause,
        };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(bad(1, error.to_string())),
        };
        let own = read(&text).map_err(|(line, cause)| bad(line, cause))?;
        Ok(Self::default().with(own))
    }

    /// These, but for the models that `own` has entries of.
    fn with(mut self, own: Self) -> Self {
        let replaced = |entry: &Entry| {
            let same = |other: &Entry| (&other.model, other.prefix) == (&entry.model, entry.prefix);
            own.entries.iter().any(same)
        };
        self.entries.retain(|entry| !replaced(entry));
        self.entries.extend(own.entries);
        self.as_of = self.as_of.max(own.as_of);
        self
    }

    /// The day the table is of, as it says itself; `None` if there are no prices.
    #[must_use]
    pub fn as_of(&self) -> Option<&str> {
        (!self.entries.is_empty()).then_some(self.as_of.as_str())
    }

    /// The price of a model at a time: an exact id before a prefix, a longer prefix before a shorter, and of several the latest that
    /// had begun.
    #[must_use]
    pub fn find(&self, model: &str, at: Time) -> Option<&Price> {
        let day = at.0.div_euclid(DAY_MS);
        self.entries
            .iter()
            .filter(|entry| entry.from <= day && entry.fits(model))
            .max_by_key(|entry| (!entry.prefix, entry.model.len(), entry.from))
            .map(|entry| &entry.price)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    as_of: Option<toml::Spanned<String>>,
    #[serde(default)]
    price: Vec<toml::Spanned<FilePrice>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePrice {
    model: String,
    from: Option<String>,
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

/// Reads a table; line and cause of what is wrong with it.
fn read(text: &str) -> Result<Prices, (usize, String)> {
    let line = |at: usize| {
        text.get(..at)
            .map_or(1, |before| before.matches('\n').count() + 1)
    };
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (line(at), error.message().to_owned())
    })?;
    let as_of = match file.as_of {
        Some(as_of) => {
            day(as_of.get_ref()).ok_or_else(|| {
                let cause = "as_of is no date such as \"2026-11-01\"".to_owned();
                (line(as_of.span().start), cause)
            })?;
            as_of.into_inner()
        }
        None => String::new(),
    };
    let mut entries = Vec::with_capacity(file.price.len());
    for price in file.price {
        let at = line(price.span().start);
        entries.push(entry(price.into_inner()).map_err(|cause| (at, cause))?);
    }
    Ok(Prices { as_of, entries })
}

fn entry(file: FilePrice) -> Result<Entry, String> {
    let prefix = file.model.ends_with('*');
    let model = file.model.trim_end_matches('*').to_owned();
    if model.is_empty() || model.contains('*') {
        let shown = file.model;
        return Err(format!(
            "model = {shown:?} is no id, nor its beginning and one *"
        ));
    }
    let from = match &file.from {
        Some(from) => day(from).ok_or("from is no date such as \"2026-06-01\"")?,
        None => i64::MIN,
    };
    let micros = |name: &str, usd: Option<f64>| match usd {
        None => Ok(None),
        Some(usd) if (0.0..=DEAREST).contains(&usd) => Ok(Some((usd * 1e6).round() as i64)),
        Some(_) => Err(format!("{name} is no price from 0 to {DEAREST}")),
    };
    Ok(Entry {
        model,
        prefix,
        from,
        price: Price {
            input: micros("input", file.input)?,
            output: micros("output", file.output)?,
            cache_read: micros("cache_read", file.cache_read)?,
            cache_write: micros("cache_write", file.cache_write)?,
            cache_write_1h: micros("cache_write_1h", file.cache_write_1h)?,
        },
    })
}

/// The days from 1970 to a date.
fn day(text: &str) -> Option<i64> {
    let plain = text.len() == 10 && text.is_ascii();
    Time::parse(&format!("{text}T00:00:00Z"))
        .filter(|_| plain)
        .map(|time| time.0.div_euclid(DAY_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input_of(prices: &Prices, model: &str, at: &str) -> Option<i64> {
        prices.find(model, Time::parse(at).unwrap())?.input
    }

    #[test]
    fn the_table_that_is_built_in_can_be_read() {
        let prices = read(BUILT_IN).unwrap();
        assert!(prices.as_of().is_some());
        let now = "2026-11-01T00:00:00Z";
        for model in [
            "claude-opus-4-8",
            "claude-opus-5-5",
            "gpt-5",
            "gemini-2.5-pro",
        ] {
            assert!(input_of(&prices, model, now).is_some(), "{model}");
        }
        assert_eq!(input_of(&prices, "claude-opus-5-5", now), Some(4_000_000));
        assert_eq!(input_of(&prices, "claude-opus-5", now), Some(5_000_000));
        assert_eq!(input_of(&prices, "somebody-elses", now), None);
        assert_eq!(Prices::off().as_of(), None);
    }

    #[test]
    fn usage_043_exact_beats_prefix_longer_beats_shorter_and_the_latest_begun_holds() {
        let prices = read(
            "[[price]]\nmodel = \"a*\"\ninput = 1\n[[price]]\nmodel = \"ab*\"\ninput = 2\n\
             [[price]]\nmodel = \"abc\"\ninput = 3\n[[price]]\nmodel = \"abc\"\nfrom = \"2026-11-01\"\ninput = 4\n",
        )
        .unwrap();
        for (model, at, input) in [
            ("a", "2026-11-01T00:00:00Z", Some(1)),
            ("abd", "2026-11-01T00:00:00Z", Some(2)),
            ("abc", "2026-10-31T23:59:59Z", Some(3)),
            ("abc", "2026-11-01T00:00:00Z", Some(4)),
            ("abcd", "2026-11-01T00:00:00Z", Some(2)),
            ("b", "2026-11-01T00:00:00Z", None),
        ] {
            let input = input.map(|usd| usd * 1_000_000);
            assert_eq!(input_of(&prices, model, at), input, "{model} {at}");
        }
    }

    #[test]
    fn a_persons_table_replaces_single_models() {
        let built_in = read(
            "as_of = \"2026-01-01\"\n[[price]]\nmodel = \"a*\"\ninput = 1\n[[price]]\nmodel = \"b\"\ninput = 1\n",
        );
        let own = read(
            "as_of = \"2026-02-01\"\n[[price]]\nmodel = \"a*\"\nfrom = \"2026-02-01\"\ninput = 9\n",
        );
        let both = built_in.unwrap().with(own.unwrap());
        assert_eq!(both.as_of(), Some("2026-02-01"));
        assert_eq!(
            input_of(&both, "ax", "2026-03-01T00:00:00Z"),
            Some(9_000_000)
        );
        assert_eq!(input_of(&both, "ax", "2026-01-01T00:00:00Z"), None);
        assert_eq!(
            input_of(&both, "b", "2026-01-01T00:00:00Z"),
            Some(1_000_000)
        );
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, line, word) in [
            ("as_of = \"soon\"", 1, "as_of"),
            ("\n[[price]]\ninput = 1", 2, "model"),
            ("[[price]]\nmodel = \"a\"\ninput = \"x\"", 3, "string"),
            ("[[price]]\nmodel = \"a\"\ninput = -1", 1, "input"),
            ("[[price]]\nmodel = \"*\"", 1, "model"),
            ("[[price]]\nmodel = \"a\"\nfrom = \"2026-13-01\"", 1, "from"),
            ("[[price]]\nmodel = \"a\"\noutptu = 1", 3, "outptu"),
            ("nonsense", 1, ""),
        ] {
            let (at, cause) = read(text).unwrap_err();
            assert_eq!(at, line, "{text}: {cause}");
            assert!(cause.contains(word), "{text}: {cause}");
        }
    }
}
