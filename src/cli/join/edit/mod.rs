//! Files of other programs, changed at one place and nowhere else.

pub mod json;
pub mod toml;

/// What some editors begin a file with; it stays where it was.
const BOM: &str = "\u{feff}";

/// Why a file cannot be edited without loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// From 1 on.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}
