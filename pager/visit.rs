//! A visit: looks at the joined panes by a process that serves none of them (`--dry-run`, `--canary`). Nothing here types, leases or writes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client::Client;
use super::facts::Absent;
use super::facts::Facts;
use super::facts::Identity;
use super::facts::PaneFacts;
use super::facts::Turn;
use super::look::Glance;
use super::read;
use super::read::Sample;
use super::read::Verdict;
use super::setup::Quit;
use super::setup::Setup;
use super::target;
use super::target::Match;
use super::target::PartKey;
use super::tmux::Tmux;
use super::tmux::listing::Listing;
use crate::api::PollPart;
use crate::api::PollPartAnswer;
use crate::api::PollRequest;
use crate::store;

/// How long the relay may take to say what its hooks know.
const RELAY: Duration = Duration::from_secs(2);

/// Parts and their panes, or why there is none.
pub type Panes = BTreeMap<PartKey, Result<PaneFacts, Absent>>;

/// The panes that `--target` or the joins name.
///
/// # Errors
/// [`Quit`] if the target names more than one pane.
pub fn place(setup: &Setup, listing: &Listing) -> Result<Panes, Quit> {
    if let Some((key, target)) = &setup.fixed {
        let pane = match target::find(target, listing) {
            Match::One(pane) if setup.is_own(&pane) => Err(Absent::Own),
            Match::One(pane) => Ok(*pane),
            Match::Several(panes) => {
                return Err(Quit::bad(format!(
                    "{target} names more than one pane: {}",
                    panes.join(", ")
                )));
            }
            Match::None { .. } => Err(Absent::Gone),
        };
        return Ok(Panes::from([(key.clone(), pane)]));
    }
    let joined = target::discover(listing, setup.code.as_deref());
    Ok(joined
        .into_iter()
        .map(|(key, panes)| {
            let pane = match panes[..] {
                [pane] if setup.is_own(pane) => Err(Absent::Own),
                [pane] => Ok(pane.clone()),
                _ => Err(Absent::Twice(
                    panes
                        .iter()
                        .map(|pane| pane.identity.pane.clone())
                        .collect(),
                )),
            };
            (key, pane)
        })
        .collect())
}

/// What the relay knows of these parts, if it says so within two seconds. Claims nothing.
pub async fn ask<'a>(
    setup: &Setup,
    tmux: &Tmux,
    client: &Client,
    keys: impl Iterator<Item = &'a PartKey>,
) -> Option<BTreeMap<PartKey, PollPartAnswer>> {
    let request = PollRequest {
        pager: setup.pager.clone(),
        machine: setup.machine.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        tmux: tmux.version.to_string(),
        socket: tmux.socket().display().to_string(),
        wait_ms: 0,
        seen: String::new(),
        claim: false,
        parts: keys
            .map(|key| PollPart {
                code: key.code.clone(),
                part: key.part.clone(),
                cli: None,
                cli_version: None,
                pane: None,
            })
            .collect(),
    };
    let answer = tokio::time::timeout(RELAY, client.poll(&request)).await;
    let parts = answer.ok()?.ok()?.parts;
    Some(
        parts
            .into_iter()
            .map(|part| {
                let key = PartKey {
                    code: part.code.clone(),
                    part: part.part.clone(),
                };
                (key, part)
            })
            .collect(),
    )
}

/// The pane `expected` as a look found it, and what that look says of it.
pub fn judge(
    setup: &Setup,
    glance: &Glance,
    expected: Result<&Identity, &Absent>,
    before: Option<&Sample>,
    turn: &Turn,
) -> (Option<PaneFacts>, Verdict) {
    let pane = expected.map_err(Absent::clone).and_then(|expected| {
        let listing = glance.listing.as_ref();
        let listing = listing.map_err(|_| glance.absent().unwrap_or(Absent::Unreadable))?;
        let pane = listing.pane(&expected.pane);
        pane.cloned().ok_or(Absent::Gone)
    });
    let seen = pane.as_ref().ok();
    let facts = Facts {
        expected: expected.ok().cloned(),
        clients: glance.clients(),
        capture: seen.and_then(|pane| glance.capture(&pane.identity.pane)),
        processes: seen.and_then(|pane| glance.tree(pane.identity.pane_pid)),
        cli_version: None,
        refused_read_only: false,
        pane,
    };
    let wall = store::system_clock().0.0;
    let verdict = read::verdict(&setup.rules, &facts, before, turn, wall);
    (facts.pane.ok(), verdict)
}
