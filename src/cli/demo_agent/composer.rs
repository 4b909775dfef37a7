//! The composer of a scripted agent: framed pastes and keys in, prompts out.

/// Marks of a framed paste (xterm's bracketed paste).
const BEGIN: &[u8] = b"\x1b[200~";
const END: &[u8] = b"\x1b[201~";

/// Text that was typed or pasted and not sent.
#[derive(Debug, Default)]
pub(super) struct Composer {
    /// It, as it stands.
    pub text: String,
    pasting: bool,
    escape: Vec<u8>,
}

impl Composer {
    /// Takes one byte; returns a prompt if it was the Enter that sends one.
    pub(super) fn take(&mut self, byte: u8) -> Option<String> {
        if !self.escape.is_empty() || byte == 0x1b {
            self.escape.push(byte);
            self.end_of_escape();
            return None;
        }
        match byte {
            b'\r' | b'\n' if !self.pasting => {
                let prompt = std::mem::take(&mut self.text);
                return (!prompt.trim().is_empty()).then_some(prompt);
            }
            0x7f | 0x08 => {
                self.text.pop();
            }
            // Anything but printable ASCII is nothing a script expects.
            b' '..=b'~' => self.text.push(char::from(byte)),
            _ => {}
        }
        None
    }

    fn end_of_escape(&mut self) {
        if self.escape == BEGIN || self.escape == END {
            self.pasting = self.escape == BEGIN;
            self.escape.clear();
        } else if !BEGIN.starts_with(&self.escape) && !END.starts_with(&self.escape) {
            self.escape.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_in(composer: &mut Composer, bytes: &[u8]) -> Vec<String> {
        bytes
            .iter()
            .filter_map(|byte| composer.take(*byte))
            .collect()
    }

    #[test]
    fn a_framed_paste_is_one_draft_and_enter_sends_it() {
        let mut composer = Composer::default();
        assert!(type_in(&mut composer, b"\x1b[200~relayroom: mail (tag b)\x1b[201~").is_empty());
        assert_eq!(composer.text, "relayroom: mail (tag b)");
        assert_eq!(type_in(&mut composer, b"\r"), ["relayroom: mail (tag b)"]);
        assert_eq!(composer.text, "");
        assert!(type_in(&mut composer, b"\r").is_empty());
    }

    #[test]
    fn a_line_break_inside_a_paste_sends_nothing() {
        let mut composer = Composer::default();
        assert!(type_in(&mut composer, b"\x1b[200~a\rb\x1b[201~").is_empty());
        assert_eq!(composer.text, "ab");
    }

    #[test]
    fn other_keys_leave_no_trace() {
        let mut composer = Composer::default();
        type_in(&mut composer, b"ab\x7f\x1b[Ac\x03");
        assert_eq!(composer.text, "ac");
    }
}
