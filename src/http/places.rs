//! How many connections there may be (access.md 7), and waiting for the last to leave.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;

use super::peer;
use super::rates;

/// Connections in all.
const ALL: u32 = 1024;

/// Connections of one peer off loopback.
const PER_PEER: u32 = 64;

/// The places of all connections.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Mutex<HashMap<IpAddr, u32>>,
}

impl Places {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(ALL as usize)),
            taken: Mutex::default(),
        })
    }

    /// A place for one more connection, if there is one.
    pub(super) fn take(self: &Arc<Self>, remote: IpAddr) -> Option<Place> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        let counted = (!peer::is_loopback(remote)).then(|| rates::key(remote));
        if let Some(key) = counted {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let count = taken.entry(key).or_default();
            if *count >= PER_PEER {
                return None;
            }
            *count += 1;
        }
        Some(Place {
            places: Arc::clone(self),
            counted,
            _permit: permit,
        })
    }

    /// Waits until every place is free.
    pub(super) async fn all_left(&self) {
        let _ = self.free.acquire_many(ALL).await;
    }
}

/// One connection's place, free again when dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    counted: Option<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(key) = self.counted else {
            return;
        };
        let mut taken = self
            .places
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_peer_off_loopback_gets_sixty_four() {
        let places = Places::new();
        let far: IpAddr = "192.0.2.1".parse().unwrap();
        let near: IpAddr = "127.0.0.1".parse().unwrap();
        let mut held: Vec<Place> = (0..64).map(|_| places.take(far).unwrap()).collect();
        assert!(places.take(far).is_none());
        held.pop();
        held.push(places.take(far).unwrap());
        held.extend((0..960).map(|_| places.take(near).unwrap()));
        assert!(places.take(near).is_none());
        drop(held);
        assert!(places.taken.lock().unwrap().is_empty());
        assert!(places.take(near).is_some());
    }
}
