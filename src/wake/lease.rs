//! Whose a wake is (wake.md 8): pure.

use std::time::Duration;

use crate::store::Time;

/// How long a lease lasts; every poll that names the part renews it.
pub const LENGTH: Duration = Duration::from_secs(45);

/// Who holds a wake: `<pager>:<part>`.
#[must_use]
pub fn holder(pager: &str, part: &str) -> String {
    format!("{pager}:{part}")
}

/// What a lease means to one who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lease {
    /// No lease, or one that has ended.
    Free,
    /// The asker's own.
    Own,
    /// Another's.
    Other,
}

/// What a lease of `holder` until `until` means to `asker`.
pub(super) fn of(holder: Option<&str>, until: Option<Time>, asker: &str, now: Time) -> Lease {
    match (holder, until) {
        (Some(holder), Some(until)) if now < until => {
            if holder == asker {
                Lease::Own
            } else {
                Lease::Other
            }
        }
        _ => Lease::Free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_somebodys_until_it_ends() {
        let until = Some(Time(45_000));
        for (holder, until, now, expected) in [
            (Some("p:web"), until, 44_999, Lease::Own),
            (Some("q:web"), until, 44_999, Lease::Other),
            (Some("q:web"), until, 45_000, Lease::Free),
            (Some("q:web"), None, 0, Lease::Free),
            (None, None, 0, Lease::Free),
        ] {
            assert_eq!(of(holder, until, "p:web", Time(now)), expected);
        }
    }
}
