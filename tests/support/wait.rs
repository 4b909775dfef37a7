//! Waiting for facts, with a limit: nothing sleeps for as long as it guesses.

use std::time::Duration;
use std::time::Instant;

/// On a shared machine the limits of the specification get this factor; counts get none.
pub const SLACK: u32 = 3;

/// Waits until `fact` holds.
pub fn until(limit: Duration, what: &str, mut fact: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !fact() {
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Watches that `fact` holds all the time.
pub fn throughout(span: Duration, what: &str, mut fact: impl FnMut() -> bool) {
    let begun = Instant::now();
    while begun.elapsed() < span {
        assert!(fact(), "{what}: no longer after {:?}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(50));
    }
}
