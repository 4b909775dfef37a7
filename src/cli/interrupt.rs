//! Ctrl-C during work that is not done in one stroke: nothing half-written stays (cli.md 1).

use std::future::Future;

use super::failure::Exit;
use super::failure::Failure;

/// Does `work`; interrupted, it lets `tidy` remove what was begun.
///
/// # Errors
/// What `work` failed with; exit 130 if it was interrupted.
pub async fn guarded<T>(
    work: impl Future<Output = Result<T, Failure>>,
    tidy: impl FnOnce(),
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => {
            tidy();
            Err(Failure::new(Exit::Interrupted, "interrupted", "interrupted: nothing was written"))
        }
    }
}
