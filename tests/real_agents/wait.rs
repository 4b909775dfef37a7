//! Waiting for a fact, with a limit; and how long it took.

use std::time::Duration;
use std::time::Instant;

/// How long anything that must happen may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often a fact is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Processes that may be ready to run, for each core, where times are judged.
const LOAD: f64 = 3.0;

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

/// Holds `span` to its limit, both in milliseconds; not on a machine with so much else to do that its times say nothing.
///
/// # Panics
/// If it is longer.
pub fn within(span: i64, limit: i64) {
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    match load.filter(|load| *load > LOAD * cores) {
        Some(load) => println!("{span} ms, limit {limit}: not judged at a load of {load}"),
        None => assert!(span <= limit, "{span} ms, limit {limit}"),
    }
}
