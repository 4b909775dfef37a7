//! What is known of a part when its waking is decided.

use rusqlite::Connection;

use super::Note;
use crate::activity::pane;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;

/// A part as it bears on its waking.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub part: PartSeq,
    pub project: ProjectSeq,
    /// Who pays.
    pub owner: UserSeq,
    /// Not deleted, its owner a member and not banned, its project not archived.
    pub live: bool,
    /// A person holds its wakes.
    pub paused: bool,
    /// Its provider's limit holds them, until then.
    pub limited_until: Option<Time>,
}

pub(super) const FACTS: &str = "SELECT p.project, p.owner, p.paused_at IS NOT NULL, p.limited_until,
            p.deleted_at IS NULL AND pr.archived_at IS NULL
            AND (o.role <> 'member' OR m.level IS NOT NULL) IS TRUE AND coalesce(o.banned_at, m.banned_at) IS NULL
       FROM part AS p
       JOIN project AS pr ON pr.seq = p.project
       LEFT JOIN org_member AS o ON o.org = pr.org AND o.user = p.owner
       LEFT JOIN project_member AS m ON m.project = p.project AND m.user = p.owner
      WHERE p.seq = ?1";

impl Facts {
    /// The facts of a part.
    pub fn of(connection: &Connection, part: PartSeq, now: Time) -> Outcome<Self> {
        let mut statement = connection.prepare_cached(FACTS)?;
        Ok(statement.query_row([part], |row| {
            let limited_until: Option<Time> = row.get(3)?;
            Ok(Self {
                part,
                project: row.get(0)?,
                owner: row.get(1)?,
                paused: row.get(2)?,
                limited_until: limited_until.filter(|until| *until > now),
                live: row.get(4)?,
            })
        })?)
    }

    /// Whether a line may be typed for the part at all, whatever the budget.
    pub fn open_to_wakes(&self) -> bool {
        self.live && !self.paused && self.limited_until.is_none()
    }

    /// Tells pagers and pages that something about the part's waking changed.
    pub fn tell(&self, tx: &Tx<'_>, topic: Topic, id: &str) {
        tx.signal(Signal {
            topic,
            project: Some(self.project),
            part: Some(self.part),
            id: id.to_owned(),
        });
    }
}

/// Since when no pager was heard for the part: 90 s after the last poll, or always ([`Time`] 0). `None` while one is there.
pub(super) fn silent_since(
    connection: &Connection,
    part: PartSeq,
    now: Time,
) -> Outcome<Option<Time>> {
    let heard = pane::of(connection, part)?.map(|pane| pane.heard_at);
    Ok(match heard {
        None => Some(Time(0)),
        Some(heard) if now.since(heard) > pane::PAGER_SILENT_MS => {
            Some(Time(heard.0 + pane::PAGER_SILENT_MS))
        }
        Some(_) => None,
    })
}

/// What a sender should know of a wake: whether an urgent message goes through the normal lane, whether no pager is there.
pub(super) fn note(fell: bool, silent: bool) -> Option<Note> {
    if fell {
        return Some(Note::NormalLane);
    }
    silent.then_some(Note::NoPager)
}
