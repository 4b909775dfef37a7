//! What hooks could not send, sent later (usage.md 5): by the next run of the same part, or by the pager for all parts of this machine.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use super::find;
use super::find::Flags;
use super::find::Found;
use super::find::Joined;
use super::place;
use super::place::Place;
use super::post::ANSWER;
use super::post::Answer;
use super::post::Door;
use super::spool;
use super::spool::Kept;
use super::spool::Spool;
use crate::config::Env;
use crate::config::loopback::is_loopback;
use crate::store;

/// Longest one part's reports are sent for, so that one relay that is slow keeps no other waiting.
const EACH: Duration = Duration::from_secs(5);

/// Held as long as one sends; nobody waits for it.
const SENDING: &str = "sending.lock";

impl Spool {
    /// Sends the oldest first, for at most `limit`, until one is to be kept; returns what is to be logged. Somebody else sending: nothing
    /// is done.
    pub async fn send(&self, door: &Door, limit: Duration) -> Vec<String> {
        let mut said = Vec::new();
        if self.is_empty() {
            return said;
        }
        let Some(_sending) = self.place.lock(SENDING, Duration::ZERO) else {
            return said;
        };
        let begun = Instant::now();
        let mut over = HashSet::new();
        let kept = {
            let _lock = self.place.lock(spool::LOCK, spool::WAIT);
            self.read()
        };
        for Kept { line, text } in kept {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            let (now, _) = store::system_clock();
            if spool::is_old(&line, now) {
                over.insert(text);
                if let Some(_lock) = self.place.lock(spool::LOCK, spool::WAIT) {
                    self.count_dropped(1);
                }
                continue;
            }
            match door.post(&line.report, now, left.min(ANSWER)).await {
                Answer::Taken(note) => said.extend(note),
                Answer::Ended(status) => {
                    said.push(format!("a spooled report ended by HTTP {status}"))
                }
                Answer::Kept(_) => break,
            }
            over.insert(text);
        }
        if !over.is_empty()
            && let Some(_lock) = self.place.lock(spool::LOCK, spool::WAIT)
        {
            let mut kept = self.read();
            kept.retain(|kept| !over.contains(&kept.text));
            self.write(&kept);
        }
        said
    }
}

/// Sends what waits, part after part; returns what is to be logged, with the part's name before it.
pub async fn waiting(env: &Env) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for folder in spool::waiting(&place::all(env)) {
        let Some(joined) = owner(&folder, env) else {
            continue;
        };
        let Ok(door) = Door::new(&joined) else {
            continue;
        };
        let notes = Spool::of(&Place::at(&folder)).send(&door, EACH).await;
        said.extend(notes.into_iter().map(|note| (joined.part.clone(), note)));
    }
    said
}

/// Where a folder's reports go, by the file that says so now: a token may have been corrected, a relay taken off the list.
fn owner(folder: &Path, env: &Env) -> Option<Joined> {
    let owner = Place::at(folder).owner()?;
    match owner.config {
        Some(config) => match find::at(&config, &Flags::default(), env) {
            Found::Part(joined) => Some(*joined),
            Found::Refused { .. } | Found::Nowhere => None,
        },
        // Flags named the part: there was no token, and so no relay but one on this machine.
        None => is_loopback(&owner.server).then_some(Joined {
            server: owner.server,
            code: String::new(),
            part: owner.part,
            token: None,
            joined_at: None,
            config: None,
            excerpts: false,
        }),
    }
}
