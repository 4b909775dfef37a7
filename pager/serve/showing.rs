//! The status line of each session that shows a served pane (pager.md 6): written when it changed, at most once a second.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Happened;
use super::Pager;
use crate::pager::status;
use crate::pager::status::Entry;
use crate::store::Time;

const LEAST: Duration = Duration::from_secs(1);
/// At the end a tmux that does not answer is not waited for.
const END: Duration = Duration::from_millis(300);

/// What the sessions show.
#[derive(Default)]
pub(super) struct Shown {
    strings: BTreeMap<String, String>,
    at: Time,
    /// A child that writes runs.
    pub(super) writing: bool,
}

impl Pager {
    pub(super) fn show_due(&self) -> Option<Time> {
        let due = !self.shown.writing && self.stopping.is_none();
        (due && self.wanted() != self.shown.strings).then_some(self.shown.at + LEAST)
    }

    pub(super) fn show(&mut self, now: Time) {
        if self.show_due().is_none_or(|due| due > now) {
            return;
        }
        let wanted = self.wanted();
        let mut changes: Vec<(String, Option<String>)> = wanted
            .iter()
            .filter(|(session, text)| self.shown.strings.get(*session) != Some(text))
            .map(|(session, text)| (session.clone(), Some(text.clone())))
            .collect();
        changes.extend(
            self.shown
                .strings
                .keys()
                .filter(|session| !wanted.contains_key(*session))
                .map(|session| (session.clone(), None)),
        );
        self.shown.strings = wanted;
        self.shown.at = now;
        self.shown.writing = true;
        let tmux = self.tmux.clone();
        self.beside(async move {
            // A session that went away meanwhile shows nothing: no harm.
            let _ = tmux.set_status(&changes).await;
            Happened::Shown
        });
    }

    /// Takes the strings away again, at the end.
    pub(super) async fn unshow(&mut self) {
        let sessions: Vec<(String, Option<String>)> = std::mem::take(&mut self.shown.strings)
            .into_keys()
            .map(|session| (session, None))
            .collect();
        if !sessions.is_empty() {
            let _ = tokio::time::timeout(END, self.tmux.set_status(&sessions)).await;
        }
    }

    fn wanted(&self) -> BTreeMap<String, String> {
        let relay = self.contact.trouble();
        let mut entries: BTreeMap<&str, Vec<Entry<'_>>> = BTreeMap::new();
        for part in self.parts.values() {
            // Before the relay was met there is nothing to tell but its absence.
            if self.instance.is_none() && relay.is_none() {
                continue;
            }
            for session in &part.sessions {
                entries.entry(session).or_default().push(part.entry(relay));
            }
        }
        entries
            .into_iter()
            .map(|(session, entries)| (session.to_owned(), status::render(&entries)))
            .collect()
    }
}
