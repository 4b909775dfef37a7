//! Waiting for a fact, with a limit.

use std::time::Duration;
use std::time::Instant;

/// How long anything that must happen may take.
pub const PATIENCE: Duration = Duration::from_secs(45);

/// How often a fact is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Looks until there is something to see.
///
/// # Panics
/// If `limit` passes before that.
pub fn until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(LOOK);
    }
}
