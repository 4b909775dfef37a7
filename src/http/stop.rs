//! Stop signals (access.md 8).

use tokio::signal::unix::SignalKind;
use tokio::signal::unix::signal;
use tokio_util::sync::CancellationToken;

/// Cancels `stop` at the first SIGINT or SIGTERM. At the second it returns the exit code the process is to end with at once:
/// 128 and the signal's number.
///
/// # Errors
/// The system's, if it takes no handler.
pub async fn signals(stop: CancellationToken) -> std::io::Result<i32> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut stopping = false;
    loop {
        let kind = tokio::select! {
            _ = interrupt.recv() => SignalKind::interrupt(),
            _ = terminate.recv() => SignalKind::terminate(),
        };
        if stopping {
            return Ok(128 + kind.as_raw_value());
        }
        stopping = true;
        stop.cancel();
    }
}
