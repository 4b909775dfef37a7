//! The pager, as `up` and `join` start it: one per relay and tmux server.

use std::fs::File;
use std::fs::TryLockError;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use super::State;
use crate::cli::context::Context;
use crate::cli::detach;
use crate::cli::failure::Failure;
use crate::cli::logging;
use crate::cli::progress::Progress;
use crate::pager::setup::exit;

/// How long a pager is watched after its start: one that may not run ends within this.
const WATCH: Duration = Duration::from_millis(1_500);

/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// The pager: started, unless one started here runs, or the new one finds its process lock held by another.
///
/// # Errors
/// Exit 1 with its last words if it did not start.
pub(in crate::cli) async fn start(
    context: &Context,
    base: &str,
    socket: &Path,
) -> Result<State, Failure> {
    let Some(lock) = only_one(context, base, socket)? else {
        return Ok(State::Runs);
    };
    let log = context.env.state_dir().join("pager.log");
    let before = std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let mut command = detach::ours(&log)?;
    command
        .arg("pager")
        .args(["--server", base, "--socket"])
        .arg(socket)
        .stdin(lock);
    let mut child = command.spawn()?;
    let _starting = Progress::start(&context.screen, "starting the pager");
    let begun = Instant::now();
    while begun.elapsed() < WATCH {
        if let Some(status) = child.try_wait()? {
            if status.code() == Some(i32::from(exit::HELD)) {
                return Ok(State::Runs);
            }
            let said = detach::last_lines(&log, before);
            return Err(Failure::fault(format!("the pager did not start: {said}")));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(State::Started)
}

/// The tmux server of the person's own surroundings.
#[must_use]
pub(in crate::cli) fn socket(context: &Context) -> PathBuf {
    crate::pager::setup::socket(None, &context.env)
}

/// A locked file to be handed to the pager as its stdin, which it never reads: the lock lasts as long as the pager does, also while
/// there is no tmux server and so nothing the pager itself could lock. `None`: one has it.
///
/// # Errors
/// The file system's.
pub(in crate::cli) fn only_one(
    context: &Context,
    base: &str,
    socket: &Path,
) -> Result<Option<File>, Failure> {
    let folder = context.env.state_dir().join("locks");
    detach::private_folder(&folder)?;
    // One pager per relay and tmux server.
    let name: String = format!("{base} {}", socket.display())
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let file = logging::append(&folder.join(format!("up-{name}.lock")))?;
    for last in [false, true] {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::Error(error)) => return Err(error.into()),
            // Who only asks holds it for an instant; a pager keeps it.
            Err(TryLockError::WouldBlock) if last => break,
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
        }
    }
    Ok(None)
}
