//! One CLI's table, as `rules.toml` spells it.

use serde::Deserialize;

use super::FolderPattern;
use super::Pattern;
use super::Version;
use super::Versions;
use crate::pager::screen::Colour;

/// One CLI's table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The CLI's name.
    pub name: String,
    /// Higher replaces lower.
    pub revision: u32,
    /// Versions it was made for.
    #[serde(default)]
    pub versions: Versions,
    /// `argv:GLOB` (name of the program or the script it runs) and `path:GLOB` (their paths).
    #[serde(default)]
    pub process: Vec<String>,
    /// Argument words of processes that are no agent although they match.
    #[serde(default)]
    pub process_not: Vec<String>,
    /// Time between text and the look before Enter, in milliseconds.
    #[serde(default = "gap")]
    pub gap_ms: u64,
    /// Whether the canary may type into it.
    #[serde(default)]
    pub canary: bool,
    /// How the line is put in.
    #[serde(default)]
    pub text: Text,
    /// What its composer looks like; without one nothing can be said of its screen.
    pub composer: Option<ComposerRule>,
    /// Status rows of a running turn, above the composer.
    #[serde(default)]
    pub busy: Vec<Pattern>,
    /// The same, in the footer.
    #[serde(default)]
    pub busy_footer: Vec<Pattern>,
    /// Rows of the transcript that end the live region.
    #[serde(default)]
    pub transcript: Vec<Pattern>,
    /// Rows that may stand under the composer.
    #[serde(default)]
    pub footer: Vec<Pattern>,
    /// Titles that prove a turn.
    pub title_busy: Option<Pattern>,
    /// Titles that prove a dialog.
    pub title_dialog: Option<Pattern>,
    /// Where a turn may show no marker: the only titles that let it pass for idle.
    pub title_idle: Option<FolderPattern>,
    /// Its dialogs.
    #[serde(default)]
    pub dialog: DialogRule,
    /// Its modes.
    #[serde(default)]
    pub mode: ModeRule,
}

/// How the line is put into the composer (pager.md 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// As a framed paste.
    #[default]
    Paste,
    /// As keys; only by a person's own table.
    Keys,
}

/// What a composer looks like.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComposerRule {
    /// The row above it, where it is framed.
    pub top: Option<Pattern>,
    /// Its first row.
    pub glyph: Pattern,
    /// Whether the glyph is bold and not dim, which tells it from a sent prompt.
    #[serde(default)]
    pub bold: bool,
    /// The row that ends it, where it is framed. Without one it ends at the last blank row above the footer.
    pub bottom: Option<Pattern>,
    /// Whether it may stand between two blank rows in its background colour instead of a frame.
    #[serde(default)]
    pub padded: bool,
    /// Whether it draws its cursor as a reverse cell or shows the real one.
    pub cursor: CursorRule,
    /// Column of the cursor, and of the text, in its first row.
    pub home: u16,
    /// Whether a block without a footer is no composer but a sent prompt.
    #[serde(default)]
    pub needs_footer: bool,
    /// Text that opens a menu under the composer.
    pub menu: Option<Pattern>,
    /// What shows while it is empty.
    #[serde(default)]
    pub placeholder: Placeholder,
}

/// Who draws the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CursorRule {
    /// The terminal: a hidden cursor means no composer.
    Real,
    /// The CLI, as a reverse cell.
    Drawn,
}

/// Styles of text that is no draft.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placeholder {
    /// Dim cells.
    #[serde(default)]
    pub dim: bool,
    /// Cells in one of these colours.
    #[serde(default)]
    pub fg: Vec<Colour>,
    /// Whether an empty composer always shows one, so that blanks without it are a draft.
    #[serde(default)]
    pub always: bool,
}

/// What a dialog looks like.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DialogRule {
    /// The chosen row: glyph and number.
    pub choice: Option<Pattern>,
    /// Its neighbours.
    pub option: Option<Pattern>,
    /// Rows that name the answering keys.
    #[serde(default)]
    pub keys: Vec<Pattern>,
    /// Rows of a question of trust.
    pub trust: Option<Pattern>,
    /// Rows of a login.
    pub login: Option<Pattern>,
    /// Rows of an update.
    pub update: Option<Pattern>,
    /// Footer rows under an ordinary composer that mean a login is missing.
    pub login_footer: Option<Pattern>,
}

/// Modes in which text would act as commands.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModeRule {
    /// The composer's first row in shell mode.
    pub shell_mode: Option<Pattern>,
    /// A footer row in vi NORMAL.
    pub vi_normal: Option<Pattern>,
}

impl Table {
    /// `claude rules 1`, with a note where `version` is newer than the table.
    #[must_use]
    pub fn describe(&self, version: Option<&Version>) -> String {
        let newer = version.is_some_and(|v| !self.versions.contains(v));
        let note = if newer {
            ", made for older versions"
        } else {
            ""
        };
        format!("{} rules {}{note}", self.name, self.revision)
    }
}

fn gap() -> u64 {
    300
}
