//! The rule tables: what each CLI's screen, title and process look like, as data (pager.md 4, "Rules").
//!
//! The shipped tables are compiled in. A person's file replaces all tables of one CLI by naming it with a higher `revision`.

mod pattern;
mod table;
mod version;

use std::sync::LazyLock;

use serde::Deserialize;

pub use pattern::FolderPattern;
pub use pattern::Pattern;
pub use table::ComposerRule;
pub use table::CursorRule;
pub use table::DialogRule;
pub use table::ModeRule;
pub use table::Placeholder;
pub use table::Table;
pub use table::Text;
pub use version::Version;
pub use version::Versions;

static SHIPPED: LazyLock<Rules> = LazyLock::new(|| {
    toml::from_str(include_str!("../rules.toml")).expect("the shipped table is parsed by a test")
});

/// Why a rule file was refused.
#[derive(Debug, thiserror::Error)]
#[error("rule table: {0}")]
pub struct BadRules(#[from] toml::de::Error);

/// All tables.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Programs that run a script: their first plain argument counts as the program.
    #[serde(default)]
    pub interpreters: Vec<String>,
    /// Programs that make a foreground group a shell's.
    #[serde(default)]
    pub shells: Vec<String>,
    /// The tables; one CLI may have several, for ranges of versions.
    #[serde(default)]
    pub cli: Vec<Table>,
}

impl Rules {
    /// The compiled-in tables.
    #[must_use]
    pub fn shipped() -> Self {
        SHIPPED.clone()
    }

    /// Reads tables in TOML.
    ///
    /// # Errors
    /// Names the place of a key or pattern that cannot be read.
    pub fn parse(text: &str) -> Result<Self, BadRules> {
        Ok(toml::from_str(text)?)
    }

    /// These tables with a person's in their place: of each CLI the set with the higher revision stays, whole.
    #[must_use]
    pub fn overridden(mut self, own: Self) -> Self {
        let names: Vec<String> = own.cli.iter().map(|t| t.name.clone()).collect();
        for name in names {
            if own.revision(&name) > self.revision(&name) {
                self.cli.retain(|t| t.name != name);
                self.cli
                    .extend(own.cli.iter().filter(|t| t.name == name).cloned());
            }
        }
        self
    }

    /// The table for one CLI at `version`: the one made for it, else the newest one that begins before it, else the newest when the version is unknown.
    #[must_use]
    pub fn table(&self, name: &str, version: Option<&Version>) -> Option<&Table> {
        let tables = || self.cli.iter().filter(|t| t.name == name);
        let newest = |t: &&Table| (t.versions.lowest(), t.revision);
        let Some(version) = version else {
            return tables().max_by_key(newest);
        };
        tables().find(|t| t.versions.contains(version)).or_else(|| {
            tables()
                .filter(|t| t.versions.lowest() <= *version)
                .max_by_key(newest)
        })
    }

    fn revision(&self, name: &str) -> Option<u32> {
        self.cli
            .iter()
            .filter(|t| t.name == name)
            .map(|t| t.revision)
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Rules {
        Rules::shipped().overridden(Rules::parse(text).unwrap())
    }

    #[test]
    fn the_shipped_tables_are_read() {
        let rules = Rules::shipped();
        let names: Vec<&str> = rules.cli.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["claude", "codex", "gemini", "generic"]);
        assert!(rules.cli.iter().all(|t| t.text == Text::Paste));
    }

    #[test]
    fn a_higher_revision_replaces_the_whole_table_of_that_cli_only() {
        let rules = own("[[cli]]\nname = \"codex\"\nrevision = 2\ntext = \"keys\"");
        let codex = rules.table("codex", None).unwrap();
        assert_eq!(
            (codex.revision, codex.text, codex.busy.len()),
            (2, Text::Keys, 0)
        );
        assert_eq!(rules.cli.iter().filter(|t| t.name == "codex").count(), 1);
        assert!(rules.table("claude", None).unwrap().composer.is_some());
    }

    #[test]
    fn an_equal_or_lower_revision_changes_nothing() {
        for revision in [0, 1] {
            let rules = own(&format!("[[cli]]\nname = \"codex\"\nrevision = {revision}"));
            assert!(rules.table("codex", None).unwrap().composer.is_some());
        }
    }

    #[test]
    fn a_table_for_a_new_cli_is_added() {
        assert!(
            own("[[cli]]\nname = \"mine\"\nrevision = 1")
                .table("mine", None)
                .is_some()
        );
    }

    #[test]
    fn bad_tables_are_refused_with_their_place() {
        for text in [
            "[[cli]]\nname = \"x\"\nrevision = 1\ntitle_busy = \"(\"",
            "[[cli]]\nname = \"x\"\nrevision = 1\ntitle_idle = \"<folder>(\"",
            "[[cli]]\nname = \"x\"\nrevision = 1\ntitel = \"a\"",
            "[[cli]]\nname = \"x\"\nrevision = 1\nversions = \"2.0\"",
            "[[cli]]\nrevision = 1",
        ] {
            let error = Rules::parse(text).unwrap_err().to_string();
            assert!(error.contains("line"), "{error}");
        }
    }

    #[test]
    fn the_table_made_for_a_version_is_chosen_and_the_newest_one_beyond() {
        let rules = own(
            "[[cli]]\nname = \"x\"\nrevision = 1\nversions = \">=1.0, <2\"\n\
             [[cli]]\nname = \"x\"\nrevision = 2\nversions = \">=2, <3\"",
        );
        let revision = |version: &str| {
            let table = rules.table("x", Version::parse(version).as_ref());
            table.map(|table| table.revision)
        };
        assert_eq!(revision("1.9.9"), Some(1));
        assert_eq!(revision("2.0.0"), Some(2));
        assert_eq!(revision("3.1"), Some(2));
        assert_eq!(revision("0.9"), None);
        assert_eq!(revision("unknown"), Some(2));
    }
}
