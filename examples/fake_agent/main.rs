//! A fake terminal agent: full-screen, raw mode, and as awkward as its knobs say (pager.md 9). It logs every byte it gets and every prompt
//! that was submitted, one JSON object a line.
//!
//!     ln -s …/fake_agent claude && ./claude --style claude --paste-window 120 --log bytes.jsonl --ctl knobs.fifo
//!
//! It takes for an agent what its first argument word says, so start it through a link of that name. Lines written to the FIFO turn the
//! same knobs while it runs: `ignore-enter 2`, `dialog open`, `quit 0`.

mod blocks;
mod keys;
mod knobs;
mod log;
mod relay;
mod screen;

use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::time::Duration;
use std::time::Instant;

use rustix::termios::OptionalActions;
use rustix::termios::tcgetattr;
use rustix::termios::tcsetattr;

use self::blocks::Question;
use self::knobs::Dialog;
use self::knobs::Knobs;
use self::log::Log;
use self::relay::Relay;

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(50);

enum Input {
    Bytes(Vec<u8>, Instant),
    Knob(String),
    Closed,
}

fn main() -> ExitCode {
    let knobs = match Knobs::from_args(std::env::args().skip(1)) {
        Ok(knobs) => knobs,
        Err(text) => {
            eprintln!("fake_agent: {text}");
            return ExitCode::from(2);
        }
    };
    let stdin = std::io::stdin();
    let Ok(before) = tcgetattr(&stdin) else {
        eprintln!("fake_agent: standard input is no terminal");
        return ExitCode::from(2);
    };
    let mut raw = before.clone();
    raw.make_raw();
    // Whatever fails below, the terminal is given back as it was.
    let _ = tcsetattr(&stdin, OptionalActions::Now, &raw);
    let code = Agent::new(knobs).run();
    let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
    code
}

/// A paste that is drawn later than it came.
struct Late {
    due: Instant,
    came: Instant,
    text: String,
}

/// The agent and what stands on its screen.
struct Agent {
    knobs: Knobs,
    log: Log,
    started: Instant,
    composer: String,
    transcript: Vec<String>,
    turn_until: Option<Instant>,
    /// Prompts that wait for the turn's end.
    queued: Vec<String>,
    /// Pastes not drawn yet.
    late: Vec<Late>,
    question: Option<Question>,
    vi_normal: bool,
    relay: Option<Relay>,
    dialog_at: Option<Instant>,
    submits: u32,
    quit: Option<u8>,
    /// Bytes that may be the beginning of a paste mark.
    pending: Vec<u8>,
    in_paste: bool,
    pasted: String,
    last_letter: Option<Instant>,
    /// Until then an Enter is a line break.
    window_until: Option<Instant>,
    shown: String,
}

impl Agent {
    fn new(knobs: Knobs) -> Self {
        let started = Instant::now();
        Self {
            log: Log::open(knobs.log.as_deref(), started),
            composer: knobs.draft.clone(),
            transcript: vec!["● ready to help".to_owned(), String::new()],
            turn_until: None,
            queued: Vec::new(),
            late: Vec::new(),
            question: match (knobs.boot_dialog, knobs.dialog) {
                (true, _) => Some(Question::Trust),
                (false, Some(Dialog::Start)) => Some(Question::Permission),
                _ => None,
            },
            vi_normal: false,
            relay: Relay::of(&knobs),
            dialog_at: None,
            submits: 0,
            quit: None,
            pending: Vec::new(),
            in_paste: false,
            pasted: String::new(),
            last_letter: None,
            window_until: None,
            shown: String::new(),
            started,
            knobs,
        }
    }

    fn run(mut self) -> ExitCode {
        let (sender, receiver) = mpsc::channel();
        read_keys(sender.clone());
        if let Some(path) = self.knobs.ctl.clone() {
            read_knobs(path, sender);
        }
        if self.knobs.alternate {
            self.write(screen::ALTERNATE);
        }
        self.write(screen::CLEAR);
        if self.knobs.bracketed {
            self.write(screen::BRACKETED);
        }
        let mut booted = self.knobs.boot.is_zero();
        loop {
            self.tick();
            if !booted && self.is_booted() {
                booted = true;
                self.transcript.push("● booted".to_owned());
            }
            self.draw();
            if let Some(code) = self.quit {
                self.write(screen::END);
                return ExitCode::from(code);
            }
            match receiver.recv_timeout(TICK) {
                Ok(Input::Bytes(bytes, at)) => self.take(&bytes, at),
                Ok(Input::Knob(line)) => self.turn_knob(&line),
                Ok(Input::Closed) | Err(RecvTimeoutError::Disconnected) => self.quit = Some(0),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn is_booted(&self) -> bool {
        self.started.elapsed() >= self.knobs.boot
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.turn_until.is_some_and(|until| now >= until) {
            self.transcript.push("● done".to_owned());
            self.transcript.push(String::new());
            self.end_turn();
            if !self.queued.is_empty() {
                let text = self.queued.remove(0);
                self.answer(&text);
            }
        }
        if self.dialog_at.is_some_and(|at| now >= at) {
            self.dialog_at = None;
            self.question = Some(Question::Permission);
        }
        while self.late.first().is_some_and(|late| now >= late.due) {
            let late = self.late.remove(0);
            self.text_came(&late.text, late.came);
        }
    }

    fn turn_knob(&mut self, line: &str) {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        match (name, value) {
            ("quit", code) => self.quit = Some(code.parse().unwrap_or(0)),
            ("dialog", "open") => self.question = Some(Question::Permission),
            ("dialog", "close") => self.question = None,
            ("turn", "begin") => self.begin_turn(),
            ("turn", "end") => self.turn_until = self.turn_until.map(|_| Instant::now()),
            ("say", text) => self.transcript.push(text.to_owned()),
            ("draft", text) => text.clone_into(&mut self.composer),
            ("bracketed", _) => self.write(if value == "on" {
                screen::BRACKETED
            } else {
                screen::UNBRACKETED
            }),
            _ => {
                if let Err(text) = self.knobs.set(name, value) {
                    self.log.note("bad_knob", &text);
                }
            }
        }
    }

    /// The turn is over, or was broken off.
    fn end_turn(&mut self) {
        self.turn_until = None;
        if let Some(relay) = &self.relay {
            relay.turn_ends();
        }
    }

    fn begin_turn(&mut self) {
        self.turn_until = Some(Instant::now() + self.knobs.turn());
    }

    fn draw(&mut self) {
        let size = rustix::termios::tcgetwinsize(std::io::stdout());
        let (columns, rows) = size.map_or((80, 24), |size| {
            (usize::from(size.ws_col), usize::from(size.ws_row))
        });
        let frame = screen::frame(&screen::View {
            knobs: &self.knobs,
            composer: &self.composer,
            transcript: &self.transcript,
            busy_for: self.turn_until.map(|_| self.started.elapsed()),
            up_for: self.started.elapsed(),
            question: self.question,
            vi_normal: self.vi_normal,
            columns,
            rows,
        });
        // An agent at rest writes nothing.
        if frame != self.shown || self.knobs.redraw {
            self.write(&frame);
            self.shown = frame;
        }
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout();
        let _ = out.write_all(text.as_bytes());
        let _ = out.flush();
    }
}

fn read_keys(sender: Sender<Input>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        let mut stdin = std::io::stdin().lock();
        loop {
            let input = match stdin.read(&mut buffer) {
                Ok(0) | Err(_) => Input::Closed,
                Ok(count) => Input::Bytes(buffer[..count].to_vec(), Instant::now()),
            };
            let closed = matches!(input, Input::Closed);
            if sender.send(input).is_err() || closed {
                return;
            }
        }
    });
}

fn read_knobs(path: std::path::PathBuf, sender: Sender<Input>) {
    std::thread::spawn(move || {
        // Opening a FIFO waits for a writer; each writer ends with an end of file.
        while let Ok(fifo) = File::open(&path) {
            for line in BufReader::new(fifo).lines().map_while(Result::ok) {
                if sender.send(Input::Knob(line)).is_err() {
                    return;
                }
            }
        }
    });
}
