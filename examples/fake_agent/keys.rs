//! What bytes do: pastes with their frames, bursts, keys, the Enter that submits.

use std::time::Duration;
use std::time::Instant;

use crate::Agent;
use crate::Late;
use crate::blocks::Question;
use crate::knobs::Dialog;
use crate::knobs::MidTurn;

/// From the text to a dialog that opens after it: in the gap before Enter.
const DIALOG_DELAY: Duration = Duration::from_millis(60);
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

impl Agent {
    /// Takes bytes that came at once.
    pub fn take(&mut self, bytes: &[u8], at: Instant) {
        for byte in bytes {
            self.log.byte(*byte, at);
        }
        if !self.is_booted() {
            return;
        }
        self.pending.extend_from_slice(bytes);
        while !self.pending.is_empty() {
            let mark = if self.in_paste {
                PASTE_END
            } else {
                PASTE_BEGIN
            };
            if self.knobs.bracketed && self.pending.starts_with(mark) {
                self.pending.drain(..mark.len());
                self.in_paste = !self.in_paste;
                if !self.in_paste {
                    self.end_paste(at);
                }
                continue;
            }
            if self.knobs.bracketed
                && self.pending.len() < mark.len()
                && mark.starts_with(&self.pending)
            {
                // The rest of the mark is on its way, unless this is a lone Escape.
                if self.pending == *b"\x1b" && bytes.len() == 1 {
                    self.pending.clear();
                    self.escape();
                }
                return;
            }
            let byte = self.pending.remove(0);
            if self.in_paste {
                self.pasted.push(char::from(byte));
            } else {
                self.key(byte, at);
            }
        }
    }

    fn end_paste(&mut self, at: Instant) {
        let text = std::mem::take(&mut self.pasted);
        if self.question.is_some() {
            // A framed paste does nothing in a dialog.
            return;
        }
        let late = self.knobs.lateness();
        if late.is_zero() {
            self.text_came(&text, at);
        } else {
            self.late.push(Late {
                due: at + late,
                came: at,
                text,
            });
        }
    }

    /// Text that came at that instant reaches the composer.
    pub fn text_came(&mut self, text: &str, at: Instant) {
        if !self.composer.trim().is_empty() {
            self.log.note("joined", text);
        }
        self.composer.push_str(text);
        self.burst(at);
    }

    fn burst(&mut self, at: Instant) {
        self.window_until = Some(at + self.knobs.paste_window);
        if self.knobs.dialog == Some(Dialog::AfterText) {
            self.knobs.dialog = None;
            self.dialog_at = Some(Instant::now() + DIALOG_DELAY);
        }
    }

    fn escape(&mut self) {
        self.log.note("escape", "");
        if self.knobs.vi {
            self.vi_normal = true;
        }
        if self.knobs.escape_clears {
            self.composer.clear();
            if self.turn_until.is_some() {
                self.end_turn();
            }
        }
    }

    fn key(&mut self, byte: u8, at: Instant) {
        if self.question.is_some() {
            self.log.note("dialog", &byte.to_string());
            if matches!(byte, b'\r' | b'1'..=b'3' | b'y' | b'n') {
                self.question = None;
            }
            return;
        }
        if self.vi_normal && byte != b'\r' {
            self.vi_normal = !matches!(byte, b'i' | b'a');
            return;
        }
        match byte {
            b'\r' => self.enter(at),
            b'\n' => self.composer.push('\n'),
            0x7f | 0x08 if self.knobs.ignore_erase > 0 => self.knobs.ignore_erase -= 1,
            0x7f | 0x08 => {
                self.composer.pop();
            }
            b' '..=b'~' => {
                self.composer.push(char::from(byte));
                let burst = self
                    .last_letter
                    .is_some_and(|last| at.duration_since(last) < self.knobs.burst_gap);
                self.last_letter = Some(at);
                if burst {
                    self.burst(at);
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, at: Instant) {
        if self.window_until.is_some_and(|until| at < until) {
            self.composer.push('\n');
            return;
        }
        if self.knobs.ignore_enter > 0 {
            self.knobs.ignore_enter -= 1;
            return;
        }
        if self.composer.trim().is_empty() {
            self.log.note("empty_enter", "");
            return;
        }
        let text = std::mem::take(&mut self.composer);
        self.submits += 1;
        self.log.note("submit", &text);
        if self.knobs.swallow {
            return;
        }
        match (self.turn_until.is_some(), self.knobs.mid_turn) {
            (true, MidTurn::Queue) => self.queued.push(text),
            (true, MidTurn::Break) => {
                self.log.note("broke", "");
                self.end_turn();
                self.answer(&text);
            }
            (false, _) => self.answer(&text),
        }
    }

    /// Begins the turn of a prompt.
    pub fn answer(&mut self, text: &str) {
        self.transcript
            .push(format!("{} {text}", self.knobs.style.glyph()));
        self.transcript.push(String::new());
        if let Some(relay) = &self.relay {
            relay.turn_begins(text);
        }
        self.begin_turn();
        if self.knobs.dialog == Some(Dialog::AfterEnter) {
            self.knobs.dialog = None;
            self.question = Some(Question::Permission);
        }
        if self.knobs.exit_after == Some(self.submits) {
            self.quit = Some(0);
        }
    }
}
