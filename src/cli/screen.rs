//! Where a command's words go: the result to stdout, everything else to stderr; tables, colour and questions on a terminal only
//! (cli.md 1).

use std::io::BufRead;
use std::io::IsTerminal;
use std::io::Write;

use clap::ValueEnum;
use serde_json::Value;
use serde_json::json;

use super::failure::Exit;
use super::failure::Failure;
use super::table::Table;
use crate::config::Env;

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    #[default]
    Auto,
    /// Also where piped.
    Always,
    /// Nowhere.
    Never,
}

impl Colour {
    /// Whether to colour where stdout can, or cannot, show it.
    fn holds(self, shown: bool) -> bool {
        match self {
            Self::Auto => shown,
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// How a word looks where there is colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Style {
    #[default]
    Plain,
    Dim,
    Bold,
    Good,
    Warning,
    Bad,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dim => Some("2"),
            Self::Bold => Some("1"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

/// What stands before the person, or before a program.
#[derive(Debug, Clone)]
pub struct Screen {
    /// One JSON object in place of words.
    pub json: bool,
    /// Whether to colour.
    pub colour: bool,
    /// Whether stdout is a terminal.
    pub terminal: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Rows of the terminal.
    pub height: usize,
}

impl Screen {
    /// Looks at stdout and the environment.
    #[must_use]
    pub fn of(env: &Env, json: bool, colour: Colour) -> Self {
        let terminal = std::io::stdout().is_terminal();
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
        let dull = env.path("NO_COLOR").is_some() || env.get("TERM") == Some("dumb");
        Self {
            json,
            colour: colour.holds(terminal && !dull),
            terminal,
            width: size.map_or(80, |size| usize::from(size.ws_col)).max(20),
            height: size.map_or(24, |size| usize::from(size.ws_row)).max(5),
        }
    }

    /// A pipe without colour.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            json: false,
            colour: false,
            terminal: false,
            width: 80,
            height: 24,
        }
    }

    /// `text` in a style, if there is colour.
    #[must_use]
    pub fn paint(&self, style: Style, text: &str) -> String {
        match style.code().filter(|_| self.colour && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }

    /// One line of the result.
    ///
    /// # Errors
    /// A write that fails; a reader that has gone is no fault.
    pub fn line(&self, text: impl AsRef<str>) -> Result<(), Failure> {
        writeln!(std::io::stdout().lock(), "{}", text.as_ref())?;
        Ok(())
    }

    /// Names and values, one a line: aligned on a terminal, apart by tabs elsewhere.
    ///
    /// # Errors
    /// As [`Screen::line`].
    pub fn fields(&self, fields: &[(&str, String)]) -> Result<(), Failure> {
        let longest = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        fields.iter().try_for_each(|(name, value)| {
            if self.terminal {
                self.line(format!("{name:longest$}  {value}"))
            } else {
                self.line(format!("{name}\t{value}"))
            }
        })
    }

    /// A list, or `empty` in its place on a terminal.
    ///
    /// # Errors
    /// As [`Screen::line`].
    pub fn table(&self, table: &Table, empty: &str) -> Result<(), Failure> {
        if table.is_empty() && self.terminal {
            return self.line(self.paint(Style::Dim, empty));
        }
        table
            .lines(self)
            .iter()
            .try_for_each(|line| self.line(line))
    }

    /// The result as one JSON object: `{"v":1, …}`.
    ///
    /// # Errors
    /// As [`Screen::line`].
    pub fn object(&self, fields: Value) -> Result<(), Failure> {
        let mut object = json!({"v": 1});
        if let (Value::Object(object), Value::Object(fields)) = (&mut object, fields) {
            object.extend(fields);
        }
        self.line(object.to_string())
    }

    /// A word beside the result, on stderr; nothing in JSON.
    pub fn note(&self, text: impl AsRef<str>) {
        if !self.json {
            eprintln!("{}", text.as_ref());
        }
    }

    /// Says on stderr why the command failed.
    pub fn failure(&self, failure: &Failure) {
        if self.json {
            eprintln!("{}", failure.to_json());
        } else {
            eprintln!("error: {}", failure.to_line());
        }
    }

    /// Whether a person is there to ask: at both ends a terminal.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.terminal && std::io::stdin().is_terminal()
    }

    /// Asks a question that needs a yes. Only where stdin and stdout are terminals; elsewhere `--yes` must have been given.
    ///
    /// # Errors
    /// Exit 2 where it cannot be asked, with nothing done; exit 130 for any answer but yes.
    pub fn confirm(&self, question: &str, yes: bool) -> Result<(), Failure> {
        if yes {
            return Ok(());
        }
        if !self.can_ask() {
            return Err(Failure::usage(format!(
                "{question} This needs a yes, and there is no terminal to ask on: add --yes"
            )));
        }
        eprint!("{question} [y/N] ");
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
        Err(Failure::new(
            Exit::Interrupted,
            "declined",
            "nothing was done",
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn cli_023_colour_follows_the_flag_then_the_terminal_and_the_environment() {
        assert!(Colour::Always.holds(false));
        assert!(!Colour::Never.holds(true));
        assert!(Colour::Auto.holds(true) && !Colour::Auto.holds(false));
        let env = Env::of([("NO_COLOR", "1")], Path::new("/"));
        assert!(!Screen::of(&env, false, Colour::Auto).colour);
        assert!(Screen::of(&env, false, Colour::Always).colour);
    }

    #[test]
    fn without_colour_a_word_stays_as_it_is() {
        let mut screen = Screen::plain();
        assert_eq!(screen.paint(Style::Bad, "blocked"), "blocked");
        screen.colour = true;
        assert_eq!(
            screen.paint(Style::Bad, "blocked"),
            "\u{1b}[31mblocked\u{1b}[0m"
        );
        assert_eq!(screen.paint(Style::Plain, "idle"), "idle");
    }
}
