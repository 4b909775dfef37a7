//! The body of a message: from `-m`, from a file, or from stdin; and how the wakes it caused are told.

use std::fs::File;
use std::io::IsTerminal;
use std::io::Read;
use std::path::PathBuf;

use serde_json::Value;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;

/// Most bytes that are read before a source is given up.
const LONGEST: u64 = 1 << 20;

/// Where the body comes from.
#[derive(Debug, Clone, clap::Args)]
#[group(multiple = false)]
pub struct Body {
    /// The message; without -m and -F it is read from stdin
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
    /// A file that holds the message
    #[arg(short = 'F', long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Body {
    /// The text, without the line break an editor or `echo` puts at its end.
    ///
    /// # Errors
    /// Exit 2 if it is blank or cannot be read.
    pub fn read(&self, context: &Context) -> Result<String, Failure> {
        let text = match (&self.message, &self.file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => File::open(path)
                .and_then(all)
                .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?,
            (None, None) => {
                if std::io::stdin().is_terminal() {
                    context
                        .screen
                        .note("type the message, end it with Ctrl-D on a line of its own");
                }
                all(std::io::stdin()).map_err(|error| Failure::usage(format!("stdin: {error}")))?
            }
        };
        if text.trim().is_empty() {
            return Err(Failure::usage(
                "the message is empty: give it by -m TEXT, -F FILE or on stdin",
            ));
        }
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }
}

/// The whole text; a source without an end is given up.
fn all(source: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    source.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(std::io::Error::other(format!(
            "over {LONGEST} bytes, and a message has at most 65536"
        )));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("is no UTF-8 text"))
}

/// Names by comma.
#[must_use]
pub fn names(list: &str) -> Vec<&str> {
    let names = list.split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).collect()
}

/// One record per recipient: what happens next for it.
#[must_use]
pub fn outcomes(answer: &Value) -> Table {
    let mut table = Table::new(&["part", "wake", "why"]);
    for recipient in field::list(answer, "recipients") {
        let wake = field::word(recipient, "wake");
        let style = match wake {
            "issued" | "waiting" => Style::Good,
            "held" => Style::Warning,
            _ => Style::Dim,
        };
        table.row(vec![
            Cell::text(field::word(recipient, "part")).styled(Style::Bold),
            Cell::text(wake).styled(style),
            Cell::text(field::word(recipient, "reason")),
        ]);
    }
    table
}
