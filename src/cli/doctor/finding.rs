//! What doctor says: a level, a code, what it is about, what is wrong, and the command that mends it.

use serde_json::Value;
use serde_json::json;

use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::screen::Style;
use crate::cli::table::Cell;
use crate::cli::table::Table;
use crate::cli::text;

/// How bad it is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something will not, or not as it should.
    Warning,
    /// Something worth knowing.
    Note,
}

impl Level {
    /// The word of JSON and of a pipe.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Error => Style::Bad,
            Self::Warning => Style::Warning,
            Self::Note => Style::Dim,
        }
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad.
    pub level: Level,
    /// The code of cli.md 8.
    pub code: &'static str,
    /// A part, a file, an address.
    pub subject: String,
    /// What is wrong: a fragment without a full stop.
    pub text: String,
    /// The command that mends it as it stands; empty where only a person can.
    pub fix: String,
}

impl Finding {
    /// Something that does not work.
    #[must_use]
    pub fn error(code: &'static str, subject: impl ToString, text: impl Into<String>) -> Self {
        Self::new(Level::Error, code, subject, text)
    }

    /// Something to look after.
    #[must_use]
    pub fn warning(code: &'static str, subject: impl ToString, text: impl Into<String>) -> Self {
        Self::new(Level::Warning, code, subject, text)
    }

    /// Something worth knowing.
    #[must_use]
    pub fn note(code: &'static str, subject: impl ToString, text: impl Into<String>) -> Self {
        Self::new(Level::Note, code, subject, text)
    }

    fn new(
        level: Level,
        code: &'static str,
        subject: impl ToString,
        text: impl Into<String>,
    ) -> Self {
        Self {
            level,
            code,
            subject: subject.to_string(),
            text: text.into(),
            fix: String::new(),
        }
    }

    /// The same with the command that mends it.
    #[must_use]
    pub fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = command.into();
        self
    }

    /// The same with `flags` in each command of ours, without which it would speak of another relay. The pager takes its own.
    #[must_use]
    pub fn within(mut self, flags: &str) -> Self {
        if !flags.is_empty() {
            let parts: Vec<&str> = self.fix.split("relayroom ").collect();
            let mut fix = parts[0].to_owned();
            for part in &parts[1..] {
                fix.push_str("relayroom ");
                if !part.starts_with("pager ") {
                    fix.push_str(flags);
                }
                fix.push_str(part);
            }
            self.fix = fix;
        }
        self
    }

    fn view(&self) -> Value {
        json!({
            "level": self.level.as_str(),
            "code": self.code,
            "subject": self.subject,
            "text": self.text,
            "fix": Some(&self.fix).filter(|fix| !fix.is_empty()),
        })
    }
}

/// As one list, worst first; equal levels keep the order they were found in.
#[must_use]
pub fn ranked(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| finding.level);
    findings
}

/// As JSON.
#[must_use]
pub fn views(findings: &[Finding]) -> Value {
    findings.iter().map(Finding::view).collect()
}

/// On a terminal two lines each, piped a record each.
///
/// # Errors
/// A write that fails.
pub fn print(context: &Context, findings: &[Finding]) -> Result<(), Failure> {
    let screen = &context.screen;
    if !screen.terminal {
        let mut table = Table::new(&["level", "code", "subject", "text", "fix"]);
        for finding in findings {
            table.row(vec![
                Cell::text(finding.level.as_str()).styled(finding.level.style()),
                Cell::text(finding.code),
                Cell::text(&finding.subject),
                Cell::text(&finding.text),
                Cell::text(&finding.fix),
            ]);
        }
        return screen.table(&table, "");
    }
    if findings.is_empty() {
        return screen.line(screen.paint(Style::Good, "nothing is wrong"));
    }
    for finding in findings {
        let word = finding.level.as_str().to_uppercase();
        screen.line(format!(
            "{} {} {}: {}",
            screen.paint(finding.level.style(), &word),
            finding.code,
            text::line(&finding.subject),
            text::line(&finding.text)
        ))?;
        if !finding.fix.is_empty() {
            screen.line(format!("  fix: {}", text::line(&finding.fix)))?;
        }
    }
    Ok(())
}

/// A word a shell takes as it stands.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_comes_first_and_the_rest_keeps_its_order() {
        let found = vec![
            Finding::note("c", "x", ""),
            Finding::warning("b", "1", ""),
            Finding::error("a", "x", ""),
            Finding::warning("b", "2", ""),
        ];
        let order: Vec<String> = ranked(found)
            .iter()
            .map(|finding| format!("{}{}", finding.code, finding.subject))
            .collect();
        assert_eq!(order, ["ax", "b1", "b2", "cx"]);
    }

    #[test]
    fn a_fix_speaks_of_the_relay_doctor_was_asked_about() {
        let fix = |fix: &str| Finding::note("n", "", "").fix(fix).within("--db /d ").fix;
        assert_eq!(
            fix("kill 7 && relayroom restore b --yes && relayroom up"),
            "kill 7 && relayroom --db /d restore b --yes && relayroom --db /d up"
        );
        assert_eq!(
            fix("relayroom pager --dry-run"),
            "relayroom pager --dry-run"
        );
        assert_eq!(
            fix("chmod 600 /data/relayroom.db"),
            "chmod 600 /data/relayroom.db"
        );
    }

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(quoted("/src/shop-web"), "/src/shop-web");
        assert_eq!(quoted("/src/my shop"), "'/src/my shop'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
