//! Which pane: our own matching of `--target`, and the option `@relayroom` (pager.md 1). tmux's lookup takes prefixes and answers for panes
//! that are not there, so it is never asked.

use std::collections::BTreeMap;

use super::facts::PaneFacts;
use super::tmux::listing::Listing;

/// What a target names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// One pane.
    One(Box<PaneFacts>),
    /// None; names that are spelt much like it.
    None {
        /// At most five.
        near: Vec<String>,
    },
    /// More than one: each as `id session:window.pane`.
    Several(Vec<String>),
}

/// Compares `target` with every spelling of every pane: `%id`, `session`, `session:window`, `session:window.pane`, the window by index or
/// name. Whole strings only.
#[must_use]
pub fn find(target: &str, listing: &Listing) -> Match {
    let mut found: BTreeMap<&str, &PaneFacts> = BTreeMap::new();
    for row in &listing.rows {
        if spellings(row).iter().any(|spelling| spelling == target) {
            found.entry(&row.identity.pane).or_insert(row);
        }
    }
    if found.len() > 1 {
        return Match::Several(found.into_values().map(describe).collect());
    }
    match found.into_values().next() {
        Some(row) => Match::One(Box::new(row.clone())),
        None => Match::None {
            near: near(target, listing),
        },
    }
}

fn spellings(row: &PaneFacts) -> Vec<String> {
    let session = &row.session_name;
    let mut all = vec![row.identity.pane.clone(), session.clone()];
    for window in [row.window_index.to_string(), row.window_name.clone()] {
        all.push(format!("{session}:{window}"));
        all.push(format!("{session}:{window}.{}", row.pane_index));
    }
    all
}

fn describe(row: &PaneFacts) -> String {
    format!(
        "{} {}:{}.{}",
        row.identity.pane, row.session_name, row.window_index, row.pane_index
    )
}

/// Session names that begin like the target's session, or that it begins like.
fn near(target: &str, listing: &Listing) -> Vec<String> {
    let wanted = target.split([':', '.']).next().unwrap_or_default();
    let mut names: Vec<String> = listing
        .rows
        .iter()
        .map(|row| row.session_name.clone())
        .filter(|name| {
            !wanted.is_empty()
                && !name.is_empty()
                && (name.starts_with(wanted) || wanted.starts_with(name.as_str()))
        })
        .collect();
    names.sort();
    names.dedup();
    names.truncate(5);
    names
}

/// A part's place in the relay: connect code and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartKey {
    /// Connect code of its project: a secret, never written anywhere in full.
    pub code: String,
    /// Its name.
    pub part: String,
}

/// Reads `<code>/<part>/<pane pid>`, the value `relayroom join` sets.
#[must_use]
pub fn joined(option: &str) -> Option<(PartKey, i32)> {
    let mut fields = option.split('/');
    let (code, part, pid) = (fields.next()?, fields.next()?, fields.next()?);
    let plain = |text: &str| {
        (1..=64).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    if fields.next().is_some() || !plain(code) || !plain(part) {
        return None;
    }
    let key = PartKey {
        code: code.to_owned(),
        part: part.to_owned(),
    };
    Some((key, pid.parse().ok().filter(|pid| *pid > 0)?))
}

/// Joined panes by part, with `code` of this code only. A pane whose pid differs from the option's inherited the value or was respawned.
#[must_use]
pub fn discover<'a>(
    listing: &'a Listing,
    code: Option<&str>,
) -> BTreeMap<PartKey, Vec<&'a PaneFacts>> {
    let mut parts: BTreeMap<PartKey, Vec<&PaneFacts>> = BTreeMap::new();
    for pane in listing.panes() {
        if let Some((key, pid)) = joined(&pane.option)
            && pid == pane.identity.pane_pid
            && code.is_none_or(|code| code == key.code)
        {
            parts.entry(key).or_default().push(pane);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(panes: &[(&str, &str, u32, &str, u32, &str)]) -> Listing {
        let mut text = String::new();
        for (at, (id, session, window, name, pane, option)) in panes.iter().enumerate() {
            let session_id = format!("${at}");
            text.push_str(&format!(
                "n|P|{id}|42|10|17|{session_id}|@2|{window}|{pane}|80|24|0||0|0|0|2|21|1|17|3.3a||{option}|t\n\
                 n|S|{id}|{session_id}|{session}\nn|W|{id}|{session_id}|{name}\n"
            ));
        }
        Listing::parse(text.as_bytes(), "n", "/tmp/s")
    }

    #[test]
    fn pager_001_a_prefix_is_near_but_no_match() {
        let all = listing(&[("%0", "agent-10", 0, "w", 0, "")]);
        assert_eq!(
            find("agent-1", &all),
            Match::None {
                near: vec!["agent-10".into()]
            }
        );
    }

    #[test]
    fn pager_002_two_panes_are_listed_and_a_missing_one_takes_no_other() {
        let all = listing(&[("%3", "web", 0, "w", 0, ""), ("%7", "web", 0, "w", 1, "")]);
        assert_eq!(
            find("web", &all),
            Match::Several(vec!["%3 web:0.0".into(), "%7 web:0.1".into()])
        );
        assert!(matches!(find("web:0.9", &all), Match::None { .. }));
        assert!(matches!(find("web:w.1", &all), Match::One(pane) if pane.identity.pane == "%7"));
    }

    #[test]
    fn pager_003_a_session_named_like_an_id() {
        let all = listing(&[("%0", "%1x", 0, "w", 0, ""), ("%1", "other", 0, "w", 0, "")]);
        assert!(matches!(find("%1x", &all), Match::One(pane) if pane.identity.pane == "%0"));
        assert!(matches!(find("%1", &all), Match::One(pane) if pane.identity.pane == "%1"));
    }

    #[test]
    fn pager_004_case_t16_only_what_tmux_reports_matches() {
        let all = listing(&[("%0", "a_b_c", 0, "w", 0, "")]);
        assert!(matches!(find("a.b:c", &all), Match::None { .. }));
        assert!(matches!(find("a_b_c", &all), Match::One(_)));
    }

    #[test]
    fn pager_011_an_inherited_option_serves_no_pane() {
        let all = listing(&[
            ("%0", "a", 0, "w", 0, "RR/web/1"),
            ("%1", "b", 0, "w", 0, "RR/api/42"),
        ]);
        let parts = discover(&all, None);
        assert_eq!(parts.len(), 1);
        assert_eq!(parts.keys().next().unwrap().part, "api");
        assert!(discover(&all, Some("OTHER")).is_empty());
    }

    #[test]
    fn an_option_of_another_shape_joins_nothing() {
        for bad in [
            "",
            "RR/web",
            "RR/web/x",
            "RR/web/0",
            "RR/w b/1",
            "RR//1",
            "RR/web/1/2",
            "RR/$(x)/1",
        ] {
            assert_eq!(joined(bad), None, "{bad}");
        }
    }
}
