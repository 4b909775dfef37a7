//! What can be turned, at start (`--name value`, or `--name` for `on`) and at run time (`name value`). A new knob is a field, a default and
//! a line in [`Knobs::set`].

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Which CLI it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A framed composer with a drawn cursor.
    Claude,
    /// A bold glyph and the real cursor.
    Codex,
    /// A grey block with a drawn cursor, under it a footer in columns.
    Gemini,
    /// Nothing any rule table knows.
    Plain,
}

impl Style {
    /// What stands before a sent prompt.
    pub fn glyph(self) -> char {
        match self {
            Self::Claude => '❯',
            Self::Codex => '›',
            Self::Gemini | Self::Plain => '>',
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
    /// A spinner with a counter above the composer, as the CLI draws it.
    Spinner,
    /// Only seconds that count.
    Counter,
    /// Only colours that change.
    Colour,
    /// Only in the title.
    Title,
    /// Not at all, for so long.
    Silent(Duration),
}

/// What an Enter during a turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MidTurn {
    /// The prompt waits for the turn's end.
    Queue,
    /// It breaks the turn off.
    Break,
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
    /// A paste stands in the composer only after this.
    pub draw_late: Duration,
    /// Composer drawn, input dropped.
    pub boot: Duration,
    /// A question of trust stands there first.
    pub boot_dialog: bool,
    pub dialog: Option<Dialog>,
    /// Whether a dialog's choices have numbers.
    pub numbered: bool,
    /// Text in the composer at the start.
    pub draft: String,
    pub placeholder: Option<Placeholder>,
    /// Rows under the composer.
    pub footer: usize,
    /// The last of them shows the time.
    pub footer_clock: bool,
    /// The first of them goes while the composer holds text.
    pub hints_vanish: bool,
    /// Rows that stay blank under everything.
    pub blank_below: usize,
    pub busy: Busy,
    pub mid_turn: MidTurn,
    /// How long a turn takes.
    pub turn: Duration,
    /// So many Enters do nothing.
    pub ignore_enter: u32,
    /// So many Backspaces do nothing.
    pub ignore_erase: u32,
    /// An Enter empties the composer and nothing else shows.
    pub swallow: bool,
    /// A lone Escape empties the composer and breaks the turn off.
    pub escape_clears: bool,
    /// The composer knows vi's modes and begins in INSERT.
    pub vi: bool,
    /// Whether the cursor is drawn, where not as the style has it.
    pub drawn_cursor: Option<bool>,
    /// Whether it draws on the alternate screen.
    pub alternate: bool,
    /// Draws the same picture again and again.
    pub redraw: bool,
    /// Leaves after so many prompts.
    pub exit_after: Option<u32>,
    pub title: Option<String>,
    /// A relay to act as an agent of: a wake's prompt makes it look for its mail.
    pub relay: Option<String>,
    pub code: String,
    pub part: String,
    /// File of the bearer token.
    pub token: Option<PathBuf>,
    /// Whether turns are told as the CLI's hook does.
    pub hook: bool,
    /// Varies turns and late pastes, the same way for the same number.
    pub seed: Option<u64>,
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
            draw_late: Duration::ZERO,
            boot: Duration::ZERO,
            boot_dialog: false,
            dialog: None,
            numbered: true,
            draft: String::new(),
            placeholder: None,
            footer: 1,
            footer_clock: false,
            hints_vanish: false,
            blank_below: 0,
            busy: Busy::Spinner,
            mid_turn: MidTurn::Queue,
            turn: Duration::from_millis(1_500),
            ignore_enter: 0,
            ignore_erase: 0,
            swallow: false,
            escape_clears: false,
            vi: false,
            drawn_cursor: None,
            alternate: true,
            redraw: false,
            exit_after: None,
            title: None,
            relay: None,
            code: String::new(),
            part: String::new(),
            token: None,
            hook: true,
            seed: None,
            log: None,
            ctl: None,
        }
    }
}

impl Knobs {
    /// Reads `--name value` pairs; a name alone is switched on.
    pub fn from_args(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut knobs = Self::default();
        let mut args = args.peekable();
        while let Some(name) = args.next() {
            let name = name
                .strip_prefix("--")
                .ok_or_else(|| format!("{name} is no knob"))?
                .to_owned();
            let value = args.next_if(|next| !next.starts_with("--"));
            knobs.set(&name, value.as_deref().unwrap_or("on"))?;
        }
        Ok(knobs)
    }

    /// Turns one knob.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let bad = || format!("{name} cannot be {value}");
        let millis = || Ok::<_, String>(Duration::from_millis(number(name, value)?));
        let on = value == "on";
        match name {
            "style" => {
                self.style = match value {
                    "claude" => Style::Claude,
                    "codex" => Style::Codex,
                    "gemini" => Style::Gemini,
                    "plain" => Style::Plain,
                    _ => return Err(bad()),
                }
            }
            "bracketed" => self.bracketed = on,
            "burst-gap" => self.burst_gap = millis()?,
            "paste-window" => self.paste_window = millis()?,
            "draw-late" => self.draw_late = millis()?,
            "boot" => self.boot = millis()?,
            "boot-dialog" => self.boot_dialog = on,
            "dialog" => {
                self.dialog = match value {
                    "start" => Some(Dialog::Start),
                    "after-text" => Some(Dialog::AfterText),
                    "after-enter" => Some(Dialog::AfterEnter),
                    "never" => None,
                    _ => return Err(bad()),
                }
            }
            "choices" => self.numbered = value == "numbered",
            "draft" => value.clone_into(&mut self.draft),
            "placeholder" => {
                self.placeholder = Some(match value {
                    "none" => Placeholder::None,
                    "dim" => Placeholder::Dim,
                    "grey" => Placeholder::Grey,
                    "plain" => Placeholder::Plain,
                    _ => return Err(bad()),
                })
            }
            "footer" => self.footer = number(name, value)?,
            "footer-clock" => self.footer_clock = on,
            "hints-vanish" => self.hints_vanish = on,
            "blank-below" => self.blank_below = number(name, value)?,
            "busy" => {
                self.busy = match (value, value.strip_prefix("silent:")) {
                    ("spinner", _) => Busy::Spinner,
                    ("counter", _) => Busy::Counter,
                    ("colour", _) => Busy::Colour,
                    ("title", _) => Busy::Title,
                    (_, Some(seconds)) => Busy::Silent(Duration::from_secs(number(name, seconds)?)),
                    _ => return Err(bad()),
                }
            }
            "mid-turn" => {
                self.mid_turn = match value {
                    "queue" => MidTurn::Queue,
                    "break" => MidTurn::Break,
                    _ => return Err(bad()),
                }
            }
            "turn" => self.turn = millis()?,
            "ignore-enter" => self.ignore_enter = number(name, value)?,
            "ignore-erase" => self.ignore_erase = number(name, value)?,
            "swallow" => self.swallow = on,
            "escape-clears" => self.escape_clears = on,
            "vi" => self.vi = on,
            "cursor" => self.drawn_cursor = Some(value == "drawn"),
            "no-alt" => self.alternate = !on,
            "redraw" => self.redraw = on,
            "exit-to-shell" => self.exit_after = Some(number(name, value)?),
            "title" => self.title = Some(value.to_owned()),
            "relay" => self.relay = Some(value.to_owned()),
            "code" => value.clone_into(&mut self.code),
            "part" => value.clone_into(&mut self.part),
            "token" => self.token = Some(value.into()),
            "no-hook" => self.hook = !on,
            "seed" => self.seed = Some(number(name, value)?),
            "log" => self.log = Some(value.into()),
            "ctl" => self.ctl = Some(value.into()),
            _ => return Err(format!("{name} is no knob")),
        }
        Ok(())
    }

    /// How long the next turn takes.
    pub fn turn(&mut self) -> Duration {
        match self.busy {
            Busy::Silent(span) => span,
            _ => self.varied(self.turn),
        }
    }

    /// How late the next paste is drawn.
    pub fn lateness(&mut self) -> Duration {
        self.varied(self.draw_late)
    }

    /// Half to one and a half of `span`, if a seed is given.
    fn varied(&mut self, span: Duration) -> Duration {
        let Some(seed) = &mut self.seed else {
            return span;
        };
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        span * 50 / 100 + span * u32::try_from((*seed >> 33) % 101).unwrap_or(0) / 100
    }

    /// The hint of an empty composer: what was said, else as the style has it.
    pub fn placeholder(&self) -> Placeholder {
        self.placeholder.unwrap_or(match self.style {
            Style::Claude | Style::Plain => Placeholder::None,
            Style::Codex => Placeholder::Dim,
            Style::Gemini => Placeholder::Grey,
        })
    }

    /// Whether the cursor is a drawn cell.
    pub fn is_drawn(&self) -> bool {
        let drawn = matches!(self.style, Style::Claude | Style::Gemini);
        self.drawn_cursor.unwrap_or(drawn)
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{name} cannot be {value}"))
}
