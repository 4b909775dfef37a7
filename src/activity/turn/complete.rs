//! The one `complete` event of a turn (usage.md 7): written once the turn has ended and has a row, and kept true to its end. Its usage is
//! not in it: that is the sum of the turn's rows, read when asked.

use rusqlite::OptionalExtension;
use serde_json::json;

use crate::activity::Cause;
use crate::activity::Ending;
use crate::store::EventSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::TurnSeq;
use crate::store::Tx;
use crate::store::new_id;

/// What the event of a turn is called.
const COMPLETE: &str = "complete";

pub(in crate::activity) const DUE: &str = "SELECT t.part, p.project, t.provider, t.session, t.turn, t.cause, w.id, t.started_at, t.ended_at, t.ending, t.event
       FROM turn AS t JOIN part AS p ON p.seq = t.part LEFT JOIN wake AS w ON w.seq = t.wake
      WHERE t.seq = ?1 AND t.ended_at IS NOT NULL AND EXISTS (SELECT 1 FROM usage_row WHERE turn = t.seq)";

/// Writes the event if it is due, or what has become of the turn since.
pub(in crate::activity) fn settle(tx: &Tx<'_>, turn: TurnSeq, now: Time) -> Outcome<()> {
    let due = tx.prepare_cached(DUE)?.query_row([turn], |row| {
        let detail = json!({
            "turn": row.get::<_, String>(4)?,
            "provider": row.get::<_, String>(2)?,
            "session": row.get::<_, String>(3)?,
            "cause": row.get::<_, Cause>(5)?.as_str(),
            "wakeId": row.get::<_, Option<String>>(6)?,
            "end": row.get::<_, Ending>(9)?.as_str(),
        });
        Ok(Due {
            part: row.get(0)?,
            project: row.get(1)?,
            detail: detail.to_string(),
            started_at: row.get(7)?,
            ended_at: row.get(8)?,
            event: row.get(10)?,
        })
    });
    match due.optional()? {
        None => Ok(()),
        Some(due) => due.write(tx, turn, now),
    }
}

struct Due {
    part: PartSeq,
    project: ProjectSeq,
    detail: String,
    started_at: Option<Time>,
    ended_at: Time,
    event: Option<EventSeq>,
}

impl Due {
    fn write(&self, tx: &Tx<'_>, turn: TurnSeq, now: Time) -> Outcome<()> {
        if let Some(event) = self.event {
            tx.prepare_cached(
                "UPDATE event SET detail = ?2, started_at = ?3, ended_at = ?4 WHERE seq = ?1",
            )?
            .execute((event, &self.detail, self.started_at, self.ended_at))?;
            return Ok(());
        }
        let id = new_id();
        tx.prepare_cached(
            "INSERT INTO event (id, project, part, type, detail, started_at, ended_at, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            &id,
            self.project,
            self.part,
            COMPLETE,
            &self.detail,
            self.started_at,
            self.ended_at,
            now,
        ))?;
        tx.prepare_cached("UPDATE turn SET event = ?2 WHERE seq = ?1")?
            .execute((turn, EventSeq(tx.last_insert_rowid())))?;
        tx.signal(Signal {
            topic: Topic::Event,
            project: Some(self.project),
            part: Some(self.part),
            id,
        });
        Ok(())
    }
}
