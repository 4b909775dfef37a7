//! That something takes its time: a counter on a terminal's stderr, from half a second on (cli.md 1).

use std::io::IsTerminal;
use std::io::Write;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::screen::Screen;

/// What takes less is not told.
const SHORT: Duration = Duration::from_millis(500);

/// A counter that runs until it is dropped, and then takes its line away.
#[must_use]
pub struct Progress(Option<JoinHandle<()>>);

impl Progress {
    /// Counts the seconds behind `what`; says nothing where stderr is no terminal, nor in JSON.
    pub fn start(screen: &Screen, what: &'static str) -> Self {
        if screen.json || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        Self(Some(tokio::spawn(async move {
            let begun = Instant::now();
            tokio::time::sleep(SHORT).await;
            loop {
                show(&format!("{what}, {} s", begun.elapsed().as_secs()));
                tokio::time::sleep(Duration::from_secs(1)).await;
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

/// Puts words in the place of the line before.
fn show(words: &str) {
    let mut stderr = std::io::stderr().lock();
    // Nobody to tell where this fails.
    let _ = write!(stderr, "\r{words}\u{1b}[K");
    let _ = stderr.flush();
}
