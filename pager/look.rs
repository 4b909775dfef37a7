//! One look at the tmux server: what it lists, the screens asked for, and the processes behind them (pager.md 4, "Facts").

use std::collections::HashSet;

use super::facts::Absent;
use super::facts::ClientFacts;
use super::facts::Process;
use super::proc::Snapshot;
use super::tmux::Tmux;
use super::tmux::Trouble;
use super::tmux::listing::Listing;

/// All a look brought home.
#[derive(Debug)]
pub struct Glance {
    /// Panes whose screens were asked for.
    pub asked: HashSet<String>,
    /// What tmux said.
    pub listing: Result<Listing, Trouble>,
    /// The processes at that time, read only where a screen was asked for.
    pub processes: Option<Snapshot>,
}

/// Looks at the server and at these panes; they are ones that were just listed. A pane that went away drops the captures behind it, so
/// what is missing though still listed is asked for once more.
pub async fn take(tmux: &Tmux, panes: Vec<String>, names: bool) -> Glance {
    let mut listing = tmux.look(&panes, names).await;
    if let Ok(first) = &mut listing {
        let missing: Vec<String> = panes
            .iter()
            .filter(|pane| first.pane(pane).is_some() && !first.captures.contains_key(*pane))
            .cloned()
            .collect();
        if !missing.is_empty()
            && let Ok(second) = tmux.look(&missing, false).await
        {
            first.captures.extend(second.captures);
        }
    }
    Glance {
        processes: (!panes.is_empty()).then(Snapshot::take).flatten(),
        asked: panes.into_iter().collect(),
        listing,
    }
}

impl Glance {
    /// A look that a guarded send took at its own pane.
    #[must_use]
    pub fn of_send(pane: &str, listing: Listing) -> Self {
        Self {
            asked: HashSet::from([pane.to_owned()]),
            listing: Ok(listing),
            processes: Snapshot::take(),
        }
    }

    /// Why no pane can be told from this look, if none can.
    #[must_use]
    pub fn absent(&self) -> Option<Absent> {
        match &self.listing {
            Ok(_) => None,
            Err(Trouble::NoServer(_)) => Some(Absent::NoServer),
            Err(_) => Some(Absent::Unreadable),
        }
    }

    /// The screen of `pane`.
    #[must_use]
    pub fn capture(&self, pane: &str) -> Option<Vec<u8>> {
        self.listing.as_ref().ok()?.captures.get(pane).cloned()
    }

    /// The server's clients.
    #[must_use]
    pub fn clients(&self) -> Vec<ClientFacts> {
        self.listing
            .as_ref()
            .map(|listing| listing.clients.clone())
            .unwrap_or_default()
    }

    /// The process `root` and all below it.
    #[must_use]
    pub fn tree(&self, root: i32) -> Option<Vec<Process>> {
        self.processes.as_ref()?.tree(root)
    }
}
