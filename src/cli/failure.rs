//! How a command fails: an exit code, a code for programs, what was wrong, and the command that mends it (cli.md 1).

use serde_json::Value;
use serde_json::json;

/// Exit codes of cli.md 1 that a failure ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Whoever reads our output has gone: nothing is wrong, nothing more is said.
    Quiet = 0,
    /// Something we cannot mend.
    Fault = 1,
    /// Wrong usage, or a question that could not be asked.
    Usage = 2,
    /// Refused by a rule or a right.
    Refused = 3,
    /// The relay is not reachable.
    Unreachable = 4,
    /// No such thing.
    Missing = 5,
    /// `--wait` ran out.
    WaitOver = 6,
    /// `doctor` found something, and has said so already.
    Unwell = 10,
    /// Interrupted by the person.
    Interrupted = 130,
}

impl Exit {
    /// Whether all there is to say was said.
    #[must_use]
    pub fn is_told(self) -> bool {
        matches!(self, Self::Quiet | Self::Unwell)
    }
}

/// Why a command did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the process ends with.
    pub exit: Exit,
    /// For programs.
    pub code: String,
    /// For people: one line, no full stop.
    pub message: String,
    /// The command that mends it, where there is one.
    pub fix: Option<String>,
}

impl Failure {
    /// A failure without a mending command.
    #[must_use]
    pub fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self {
            exit,
            code: code.to_owned(),
            message: message.into(),
            fix: None,
        }
    }

    /// Wrong usage: exit 2.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Something we cannot mend: exit 1.
    #[must_use]
    pub fn fault(message: impl Into<String>) -> Self {
        Self::new(Exit::Fault, "fault", message)
    }

    /// Names the command that mends it.
    #[must_use]
    pub fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }

    /// Gives the mending command the flags the failed one was given, without which it would speak of another relay or project. A command
    /// about the relay or all its projects needs no project, least of all one that does not exist.
    #[must_use]
    pub fn within(mut self, server: Option<&str>, project: Option<&str>) -> Self {
        let ours = |fix: &String| fix.starts_with("relayroom ") && !fix.contains(" --");
        if let Some(fix) = self.fix.as_mut().filter(|fix| ours(fix)) {
            let above = [
                "relayroom up",
                "relayroom project list",
                "relayroom project new",
            ];
            let project = project.filter(|_| !above.iter().any(|words| fix.starts_with(words)));
            for (flag, value) in [("--server", server), ("--project", project)] {
                if let Some(value) = value {
                    *fix = format!("{fix} {flag} {value}");
                }
            }
        }
        self
    }

    /// `{"error":{"code","message","fix"}}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(fix) = &self.fix {
            error["fix"] = fix.as_str().into();
        }
        json!({ "error": error })
    }

    /// `message (fix)`.
    #[must_use]
    pub fn to_line(&self) -> String {
        match &self.fix {
            Some(fix) => format!("{} ({fix})", self.message),
            None => self.message.clone(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::new(Exit::Quiet, "closed", "the reader has gone");
        }
        Self::fault(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mending_command_speaks_of_the_same_project() {
        let failure =
            Failure::new(Exit::Missing, "not_found", "no part").fix("relayroom part list");
        assert_eq!(
            failure.within(None, Some("shop")).to_line(),
            "no part (relayroom part list --project shop)"
        );
        let failure =
            Failure::new(Exit::Missing, "not_found", "no shpo").fix("relayroom project list");
        assert_eq!(
            failure.within(Some("http://box"), Some("shpo")).to_line(),
            "no shpo (relayroom project list --server http://box)"
        );
    }

    #[test]
    fn a_failure_names_its_mending_command() {
        let failure = Failure::new(Exit::Missing, "not_found", "project \"x\" does not exist")
            .fix("relayroom project list");
        assert_eq!(
            failure.to_line(),
            "project \"x\" does not exist (relayroom project list)"
        );
        assert_eq!(
            failure.to_json().to_string(),
            r#"{"error":{"code":"not_found","message":"project \"x\" does not exist","fix":"relayroom project list"}}"#
        );
    }
}
