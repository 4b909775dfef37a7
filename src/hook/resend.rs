//! What the hooks of this machine could not send, sent for them: by the pager, every 30 s (usage.md 5).

use std::path::Path;
use std::time::Duration;

use super::find;
use super::find::Flags;
use super::find::Found;
use super::find::Joined;
use super::place;
use super::place::Place;
use super::post::Door;
use super::spool;
use super::spool::Spool;
use crate::config::Env;
use crate::config::loopback::is_loopback;

/// Longest one part's reports are sent for, so that one relay that is slow keeps no other waiting.
const EACH: Duration = Duration::from_secs(5);

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
