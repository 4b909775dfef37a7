//! Words for people: foreign text made harmless, ages (cli.md 1).

use std::fmt::Write;

use crate::store::Time;

/// Characters that turn the reading direction of what follows: shown like control characters, for they make a line lie.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Foreign text of several lines: every control character but line break and tab shown as `\u{1b}`, bidirectional controls too.
#[must_use]
pub fn block(text: &str) -> String {
    shown(text, |c| c == '\n' || c == '\t')
}

/// Foreign text on one line: line breaks and tabs are shown too, so that a field stays one field.
#[must_use]
pub fn line(text: &str) -> String {
    shown(text, |_| false)
}

fn shown(text: &str, kept: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let separator = matches!(c, '\u{2028}' | '\u{2029}');
        if (c.is_control() && !kept(c)) || turns_direction(c) || separator {
            // Writing to a String never fails.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// `40 s`, `12 min`, `3 h`, `2 d`.
#[must_use]
pub fn age(now: Time, since: Time) -> String {
    let seconds = now.since(since) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// A count of tokens: whole below 10,000, else `12.4 k` or `3.1 M`, cut and not rounded.
#[must_use]
pub fn tokens(count: u64) -> String {
    let tenths = |of: u64| format!("{}.{}", count / of, count % of / (of / 10));
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{} k", tenths(1_000)),
        _ => format!("{} M", tenths(1_000_000)),
    }
}

/// A length of time: `0.4 s` below ten seconds, else as [`age`].
#[must_use]
pub fn span(milliseconds: i64) -> String {
    match milliseconds {
        0..10_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => age(Time(milliseconds), Time(0)),
    }
}

/// A size: `900 B`, `12 KiB`, `3.4 MiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut tenths = bytes.saturating_mul(10);
    let mut unit = "B";
    for next in UNITS {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    if tenths < 100 && unit != "B" {
        format!("{}.{} {unit}", tenths / 10, tenths % 10)
    } else {
        format!("{} {unit}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_022_controls_are_shown_and_never_sent() {
        assert_eq!(block("a\u{1b}]0;x\u{7}\n\tb"), "a\\u{1b}]0;x\\u{7}\n\tb");
        assert_eq!(line("a\nb\u{9b}"), "a\\u{a}b\\u{9b}");
        assert_eq!(block("\u{202e}txt"), "\\u{202e}txt");
        assert_eq!(block("é雨🙂"), "é雨🙂");
    }

    #[test]
    fn ages_are_in_the_largest_whole_unit() {
        for (ms, text) in [
            (0, "0 s"),
            (59_999, "59 s"),
            (60_000, "1 min"),
            (7_200_000, "2 h"),
            (172_800_000, "2 d"),
        ] {
            assert_eq!(age(Time(ms), Time(0)), text);
        }
    }

    #[test]
    fn sizes_are_in_the_largest_whole_unit() {
        for (size, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.0 KiB"),
            (12_700, "12 KiB"),
            (3_565_158, "3.3 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn many_tokens_are_told_shortly() {
        for (count, text) in [
            (0, "0"),
            (9_999, "9999"),
            (12_470, "12.4 k"),
            (999_999, "999.9 k"),
            (3_150_000, "3.1 M"),
        ] {
            assert_eq!(tokens(count), text);
        }
    }

    #[test]
    fn short_spans_have_tenths() {
        for (ms, text) in [
            (0, "0.0 s"),
            (1_290, "1.2 s"),
            (12_900, "12 s"),
            (60_000, "1 min"),
        ] {
            assert_eq!(span(ms), text);
        }
    }
}
