//! The last requests that were turned away, so that a person can see why an agent does not get in. Memory only.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;

use serde::Serialize;

/// How many are kept.
const KEPT: usize = 20;

/// A request that was turned away.
#[derive(Debug, Clone, Serialize)]
pub struct Refused {
    /// When, RFC 3339.
    pub at: String,
    /// Route pattern.
    pub route: String,
    /// HTTP status.
    pub status: u16,
    /// Reason code.
    pub reason: &'static str,
    /// Address of the other end.
    pub peer: String,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Refusals {
    last: Mutex<VecDeque<Refused>>,
}

impl Refusals {
    /// Keeps one more.
    pub fn note(&self, refused: Refused) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(refused);
    }

    /// Newest last.
    #[must_use]
    pub fn last(&self) -> Vec<Refused> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().cloned().collect()
    }
}
