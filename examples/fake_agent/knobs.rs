//! What can be turned, at start (`--name value`) and at run time (`name value`). A new knob is a field, a default and a line in [`Knobs::set`].

use std::path::PathBuf;
use std::time::Duration;

/// Which CLI it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A framed composer with a drawn cursor.
    Claude,
    /// A bold glyph and the real cursor.
    Codex,
    /// Nothing any rule table knows.
    Plain,
}

impl Style {
    /// What stands before the prompt.
    pub fn glyph(self) -> char {
        match self {
            Self::Claude => '❯',
            Self::Codex => '›',
            Self::Plain => '>',
        }
    }
}

/// When a dialog opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialog {
    /// It is open from the start.
    Start,
    /// Between text and Enter.
    AfterText,
    /// After a prompt was submitted.
    AfterEnter,
}

/// How an empty composer's hint is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholder {
    /// There is none.
    None,
    /// Dim.
    Dim,
    /// In colour 248.
    Grey,
    /// Like a person's text.
    Plain,
}

/// How a turn shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// A spinner with a counter above the composer.
    Spinner,
    /// Only in the title.
    Title,
    /// Not at all, for so long.
    Silent(Duration),
}

/// All knobs.
#[derive(Debug, Clone)]
pub struct Knobs {
    pub style: Style,
    /// Whether pastes are asked to be framed.
    pub bracketed: bool,
    /// Letters closer than this are a paste.
    pub burst_gap: Duration,
    /// An Enter sooner after a paste is a line break.
    pub paste_window: Duration,
    /// Composer drawn, input dropped.
    pub boot: Duration,
    pub dialog: Option<Dialog>,
    /// Text in the composer at the start.
    pub draft: String,
    pub placeholder: Placeholder,
    /// Rows under the composer.
    pub footer: usize,
    pub busy: Busy,
    /// How long a turn takes.
    pub turn: Duration,
    /// So many Enters do nothing.
    pub ignore_enter: u32,
    /// So many Backspaces do nothing.
    pub ignore_erase: u32,
    /// An Enter empties the composer and nothing else shows.
    pub swallow: bool,
    /// Leaves after so many prompts.
    pub exit_after: Option<u32>,
    pub title: Option<String>,
    pub log: Option<PathBuf>,
    pub ctl: Option<PathBuf>,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            style: Style::Claude,
            bracketed: true,
            burst_gap: Duration::from_millis(8),
            paste_window: Duration::ZERO,
            boot: Duration::ZERO,
            dialog: None,
            draft: String::new(),
            placeholder: Placeholder::None,
            footer: 1,
            busy: Busy::Spinner,
            turn: Duration::from_millis(1_500),
            ignore_enter: 0,
            ignore_erase: 0,
            swallow: false,
            exit_after: None,
            title: None,
            log: None,
            ctl: None,
        }
    }
}

impl Knobs {
    /// Reads `--name value` pairs.
    pub fn from_args(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut knobs = Self::default();
        while let Some(name) = args.next() {
            let name = name
                .strip_prefix("--")
                .ok_or_else(|| format!("{name} is no knob"))?
                .to_owned();
            let value = args
                .next()
                .ok_or_else(|| format!("--{name} needs a value"))?;
            knobs.set(&name, &value)?;
        }
        Ok(knobs)
    }

    /// Turns one knob.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let bad = || format!("{name} cannot be {value}");
        let number = || value.parse::<u64>().map_err(|_| bad());
        let millis = || Ok::<_, String>(Duration::from_millis(number()?));
        match name {
            "style" => {
                self.style = match value {
                    "claude" => Style::Claude,
                    "codex" => Style::Codex,
                    "plain" => Style::Plain,
                    _ => return Err(bad()),
                }
            }
            "bracketed" => self.bracketed = value == "on",
            "burst-gap" => self.burst_gap = millis()?,
            "paste-window" => self.paste_window = millis()?,
            "boot" => self.boot = millis()?,
            "dialog" => {
                self.dialog = match value {
                    "start" => Some(Dialog::Start),
                    "after-text" => Some(Dialog::AfterText),
                    "after-enter" => Some(Dialog::AfterEnter),
                    "never" => None,
                    _ => return Err(bad()),
                }
            }
            "draft" => value.clone_into(&mut self.draft),
            "placeholder" => {
                self.placeholder = match value {
                    "none" => Placeholder::None,
                    "dim" => Placeholder::Dim,
                    "grey" => Placeholder::Grey,
                    "plain" => Placeholder::Plain,
                    _ => return Err(bad()),
                }
            }
            "footer" => self.footer = usize::try_from(number()?).map_err(|_| bad())?,
            "busy" => {
                self.busy = match (value, value.strip_prefix("silent:")) {
                    ("spinner", _) => Busy::Spinner,
                    ("title", _) => Busy::Title,
                    (_, Some(seconds)) => {
                        Busy::Silent(Duration::from_secs(seconds.parse().map_err(|_| bad())?))
                    }
                    _ => return Err(bad()),
                }
            }
            "turn" => self.turn = millis()?,
            "ignore-enter" => self.ignore_enter = u32::try_from(number()?).map_err(|_| bad())?,
            "ignore-erase" => self.ignore_erase = u32::try_from(number()?).map_err(|_| bad())?,
            "swallow" => self.swallow = value == "on",
            "exit-to-shell" => {
                self.exit_after = Some(u32::try_from(number()?).map_err(|_| bad())?);
            }
            "title" => self.title = Some(value.to_owned()),
            "log" => self.log = Some(value.into()),
            "ctl" => self.ctl = Some(value.into()),
            _ => return Err(format!("{name} is no knob")),
        }
        Ok(())
    }

    /// How long the next turn takes.
    pub fn turn(&self) -> Duration {
        match self.busy {
            Busy::Silent(span) => span,
            _ => self.turn,
        }
    }
}
