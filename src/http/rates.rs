//! Rates per peer (access.md 7): how often one address may be turned away, or ask without a credential, within a minute. A valid
//! credential never comes here.

use std::collections::HashMap;
use std::net::IpAddr;
use std::net::Ipv6Addr;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

/// Peers remembered; beyond, the one that was quiet the longest is forgotten.
const PEERS: usize = 10_000;

/// Length of one slot. A window is the slot at hand and the twelve before it, so at least a minute.
const SLOT_MS: u64 = 5_000;
const SLOTS: usize = 13;

/// What is counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A bearer or a code that failed.
    Failed,
    /// `/health` and `/metrics`.
    Open,
}

impl Class {
    /// How many a minute.
    fn limit(self) -> u32 {
        match self {
            Self::Failed => 60,
            Self::Open => 600,
        }
    }
}

/// An address as it is counted: IPv4 whole, IPv6 by its /64, which is what one subscriber is given.
#[must_use]
pub fn key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Counts per slot of the last minute.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    counts: [u32; SLOTS],
    /// Number of the newest slot since the start.
    newest: u64,
}

impl Window {
    /// Counts one more at `at_ms`, or says how many milliseconds to wait.
    fn hit(&mut self, at_ms: u64, limit: u32) -> Option<u64> {
        let slot = at_ms / SLOT_MS;
        let passed = slot.saturating_sub(self.newest);
        for gone in 1..=passed.min(SLOTS as u64) {
            self.counts[index(self.newest + gone)] = 0;
        }
        self.newest = self.newest.max(slot);
        if self.counts.iter().sum::<u32>() < limit {
            self.counts[index(self.newest)] += 1;
            return None;
        }
        let oldest = (0..SLOTS as u64)
            .map(|back| self.newest.saturating_sub(SLOTS as u64 - 1 - back))
            .find(|slot| self.counts[index(*slot)] > 0)
            .unwrap_or(self.newest);
        Some(((oldest + SLOTS as u64) * SLOT_MS).saturating_sub(at_ms))
    }
}

fn index(slot: u64) -> usize {
    usize::try_from(slot % SLOTS as u64).unwrap_or_default()
}

/// See the module.
#[derive(Debug, Default)]
pub struct Rates {
    windows: Mutex<HashMap<(IpAddr, Class), Window>>,
}

impl Rates {
    /// Counts one more from `peer`, `at` after the start, or says how long to wait.
    pub fn hit(&self, peer: IpAddr, class: Class, at: Duration) -> Option<Duration> {
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let key = (key(peer), class);
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= PEERS && !windows.contains_key(&key) {
            let quietest = windows
                .iter()
                .min_by_key(|(_, window)| window.newest)
                .map(|(key, _)| *key);
            if let Some(quietest) = quietest {
                windows.remove(&quietest);
            }
        }
        let window = windows.entry(key).or_default();
        window.hit(at_ms, class.limit()).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sixty_first_in_a_minute_waits_and_others_do_not() {
        let rates = Rates::default();
        let bad: IpAddr = "192.0.2.1".parse().unwrap();
        let other: IpAddr = "192.0.2.2".parse().unwrap();
        for n in 0..60 {
            let at = Duration::from_millis(n * 900);
            assert_eq!(rates.hit(bad, Class::Failed, at), None, "{n}");
        }
        let at = Duration::from_millis(59_000);
        let wait = rates.hit(bad, Class::Failed, at).unwrap();
        assert!(wait <= Duration::from_secs(6), "{wait:?}");
        assert_eq!(rates.hit(bad, Class::Open, at), None);
        assert_eq!(rates.hit(other, Class::Failed, at), None);
        assert_eq!(rates.hit(bad, Class::Failed, at + wait), None);
    }

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_count() {
        let of = |text: &str| key(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }

    #[test]
    fn memory_is_bounded() {
        let rates = Rates::default();
        for n in 0..(u32::try_from(PEERS).unwrap() + 50) {
            let peer = IpAddr::V4(n.into());
            rates.hit(peer, Class::Failed, Duration::from_millis(u64::from(n)));
        }
        assert_eq!(rates.windows.lock().unwrap().len(), PEERS);
    }

    proptest! {
        /// Whatever the pace, no minute holds more than the limit, and who waits as told gets in.
        #[test]
        fn no_minute_holds_more_than_the_limit(steps in proptest::collection::vec(0_u64..9_000, 1..300)) {
            let mut window = Window::default();
            let mut taken: Vec<u64> = Vec::new();
            let mut at = 0;
            for step in steps {
                at += step;
                match window.hit(at, 7) {
                    None => taken.push(at),
                    Some(wait) => {
                        prop_assert!(wait <= 65_000);
                        let mut later = window;
                        prop_assert_eq!(later.hit(at + wait, 7), None);
                    }
                }
                let within = taken.iter().filter(|t| **t + 60_000 > at).count();
                prop_assert!(within <= 7);
            }
        }
    }
}
