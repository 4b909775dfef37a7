//! How cells are drawn, and the escape sequences that say so (SGR, as tmux writes it).

use std::str::Chars;

use serde::Deserialize;

/// A cell's colour. Rule tables write `248` or `#afafaf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum Colour {
    /// The terminal's own.
    #[default]
    Default,
    /// Of the palette.
    Index(u8),
    /// Red, green, blue.
    Rgb(u8, u8, u8),
}

impl TryFrom<String> for Colour {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let rgb = |hex: &str| {
            let value = u32::from_str_radix(hex, 16)
                .ok()
                .filter(|_| hex.len() == 6 && !hex.starts_with('+'))?;
            let [_, r, g, b] = value.to_be_bytes();
            Some(Self::Rgb(r, g, b))
        };
        match text.strip_prefix('#') {
            Some(hex) => rgb(hex),
            None => text.parse().ok().map(Self::Index),
        }
        .ok_or_else(|| format!("`{text}` is neither a palette number nor `#rrggbb`"))
    }
}

/// How a cell is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// Foreground.
    pub fg: Colour,
    /// Background.
    pub bg: Colour,
    /// Bold.
    pub bold: bool,
    /// Dim.
    pub dim: bool,
    /// Foreground and background swapped.
    pub reverse: bool,
}

impl Style {
    /// Takes the rest of one escape sequence; only those that set a style mean anything in a capture.
    pub fn take_escape(&mut self, chars: &mut Chars<'_>) {
        match chars.next() {
            Some('[') => {
                let rest = chars.as_str();
                let Some(end) = rest.find(|c: char| ('@'..='~').contains(&c)) else {
                    *chars = "".chars();
                    return;
                };
                if rest[end..].starts_with('m') {
                    select(&rest[..end], self);
                }
                *chars = rest[end + 1..].chars();
            }
            Some(']') => {
                let rest = chars.as_str();
                let end = rest
                    .find('\x07')
                    .map(|at| at + 1)
                    .into_iter()
                    .chain(rest.find("\x1b\\").map(|at| at + 2))
                    .min();
                *chars = rest[end.unwrap_or(rest.len())..].chars();
            }
            Some('(' | ')') => {
                chars.next();
            }
            _ => {}
        }
    }
}

/// Applies one SGR sequence. A parameter may carry sub-parameters after colons.
fn select(params: &str, style: &mut Style) {
    let mut params = params.split(';');
    while let Some(param) = params.next() {
        let (code, sub) = param.split_once(':').unwrap_or((param, ""));
        match code.parse::<u16>().unwrap_or(0) {
            0 if code.is_empty() || code == "0" => *style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            7 => style.reverse = true,
            22 => (style.bold, style.dim) = (false, false),
            27 => style.reverse = false,
            n @ 30..=37 => style.fg = index(n - 30),
            38 => set(&mut style.fg, colour(sub, &mut params)),
            39 => style.fg = Colour::Default,
            n @ 40..=47 => style.bg = index(n - 40),
            48 => set(&mut style.bg, colour(sub, &mut params)),
            49 => style.bg = Colour::Default,
            58 => drop(colour(sub, &mut params)),
            n @ 90..=97 => style.fg = index(n - 82),
            n @ 100..=107 => style.bg = index(n - 92),
            _ => {}
        }
    }
}

fn index(n: u16) -> Colour {
    u8::try_from(n).map_or(Colour::Default, Colour::Index)
}

fn set(slot: &mut Colour, colour: Option<Colour>) {
    if let Some(colour) = colour {
        *slot = colour;
    }
}

/// Reads `5;n` or `2;r;g;b`, either from the following parameters or from the colon form `5:n`, `2::r:g:b`.
fn colour<'a>(sub: &str, params: &mut impl Iterator<Item = &'a str>) -> Option<Colour> {
    let byte = |s: &str| s.parse::<u8>().ok();
    if sub.is_empty() {
        return match params.next()? {
            "5" => byte(params.next()?).map(Colour::Index),
            "2" => Some(Colour::Rgb(
                byte(params.next()?)?,
                byte(params.next()?)?,
                byte(params.next()?)?,
            )),
            _ => None,
        };
    }
    let parts: Vec<&str> = sub.split(':').collect();
    match parts.as_slice() {
        ["5", n] => byte(n).map(Colour::Index),
        ["2", .., r, g, b] => Some(Colour::Rgb(byte(r)?, byte(g)?, byte(b)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pager::screen::Screen;

    fn styled(sequence: &str) -> Style {
        let capture = format!("\x1b[{sequence}mx");
        let screen = Screen::parse(capture.as_bytes(), 10, 1).unwrap();
        screen.rows()[0].cells()[0].style
    }

    #[test]
    fn a_table_names_colours_by_number_or_in_hex() {
        let colour = |text: &str| Colour::try_from(text.to_string()).ok();
        assert_eq!(colour("248"), Some(Colour::Index(248)));
        assert_eq!(colour("#afAF09"), Some(Colour::Rgb(0xaf, 0xaf, 9)));
        for bad in ["256", "#12345", "#1234567", "#+12345", "grey", ""] {
            assert_eq!(colour(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_form_of_colour_is_read() {
        let fg = |sequence| styled(sequence).fg;
        assert_eq!(fg("38;5;248"), Colour::Index(248));
        assert_eq!(fg("38:5:248"), Colour::Index(248));
        assert_eq!(fg("38;2;1;2;3"), Colour::Rgb(1, 2, 3));
        assert_eq!(fg("38:2::1:2:3"), Colour::Rgb(1, 2, 3));
        assert_eq!(fg("90"), Colour::Index(8));
        assert_eq!(fg("31;39"), Colour::Default);
        assert_eq!(
            styled("58;5;9;1"),
            Style {
                bold: true,
                ..Style::default()
            }
        );
        assert_eq!(styled("1;2;7;22;27;48;5;3;49"), Style::default());
        assert!(styled("7").reverse);
    }
}
