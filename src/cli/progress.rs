//! That something takes its time: a bar or a counter on a terminal's stderr, from half a second on (cli.md 1).

use std::io::IsTerminal;
use std::io::Write;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::screen::Screen;

/// What takes less is not told.
const SHORT: Duration = Duration::from_millis(500);

/// How often a bar is drawn.
const DRAWN: Duration = Duration::from_millis(200);

/// Cells of a bar.
const BAR: u64 = 24;

/// A counter or a bar that runs until it is dropped, and then takes its line away.
#[must_use]
pub struct Progress(Option<JoinHandle<()>>);

impl Progress {
    /// Counts the seconds behind `what`; says nothing where stderr is no terminal, nor in JSON.
    pub fn start(screen: &Screen, what: &'static str) -> Self {
        let begun = Instant::now();
        Self::drawn(screen, Duration::from_secs(1), move || {
            format!("{what}, {} s", begun.elapsed().as_secs())
        })
    }

    /// Shows how much of `whole` is `done`.
    pub fn of(
        screen: &Screen,
        what: &'static str,
        whole: u64,
        done: impl Fn() -> u64 + Send + 'static,
    ) -> Self {
        Self::drawn(screen, DRAWN, move || {
            format!("{what} {}", bar(done(), whole))
        })
    }

    fn drawn(
        screen: &Screen,
        every: Duration,
        words: impl Fn() -> String + Send + 'static,
    ) -> Self {
        if screen.json || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        Self(Some(tokio::spawn(async move {
            tokio::time::sleep(SHORT).await;
            loop {
                show(&words());
                tokio::time::sleep(every).await;
            }
        })))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(counter) = self.0.take() {
            counter.abort();
            show("");
        }
    }
}

/// `[######            ]  25 %`; what is larger than foreseen is shown as whole.
fn bar(done: u64, whole: u64) -> String {
    let done = done.min(whole);
    let of = |cells: u64| (done * cells).checked_div(whole).unwrap_or(0);
    let full = "#".repeat(usize::try_from(of(BAR)).unwrap_or(0));
    format!("[{full:24}] {:3} %", of(100))
}

/// Puts words in the place of the line before.
fn show(words: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nobody to tell where this fails.
    let _ = write!(stderr, "\r{words}\u{1b}[K");
    let _ = stderr.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_all_is_done_and_never_longer() {
        assert_eq!(bar(0, 0), "[                        ]   0 %");
        assert_eq!(bar(25, 100), "[######                  ]  25 %");
        assert_eq!(bar(300, 100), "[########################] 100 %");
    }
}
