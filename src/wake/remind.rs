//! Reminders of loud mail that is left unread (wake.md 5).

use std::time::Duration;

use rusqlite::Connection;

use super::due::Cause;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Time;
use crate::store::Tx;

/// How long after it was last shown, or its wake ended: the first and the second reminder. There is no third.
const AFTER: [Duration; 2] = [Duration::from_secs(10 * 60), Duration::from_secs(30 * 60)];

/// The wake whose nudge last covered a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cover {
    /// When it ended; `None`: it is open and has its own ladder.
    pub ended_at: Option<Time>,
    /// Whether nobody came for it.
    pub unanswered: bool,
}

/// When the next reminder of a message is due.
pub(super) fn at(reminders: u32, last_shown: Option<Time>, cover: Option<Cover>) -> Option<Time> {
    let after = AFTER.get(reminders as usize)?;
    let covered = match cover {
        None => None,
        Some(cover) if cover.unanswered => return None,
        Some(cover) => Some(cover.ended_at?),
    };
    last_shown.max(covered).map(|since| since + *after)
}

pub(super) const UNREAD: &str = "SELECT r.message, r.reminders, r.remind_at, r.last_seen_at,
            r.nudged_by IS NOT NULL, w.ended_at, w.outcome IS 'unanswered'
       FROM recipient AS r LEFT JOIN wake AS w ON w.seq = r.nudged_by
      WHERE r.part = ?1 AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0
        AND (r.seen_at IS NOT NULL OR r.nudged_by IS NOT NULL)";

/// Sets the part's reminders anew, after mail was shown to it or a wake of it ended.
pub(super) fn reschedule(tx: &Tx<'_>, part: PartSeq) -> Outcome<()> {
    let changed: Vec<(MessageSeq, Option<Time>)> = {
        let mut statement = tx.prepare_cached(UNREAD)?;
        let rows = statement.query_map([part], |row| {
            let cover = Cover {
                ended_at: row.get(5)?,
                unanswered: row.get(6)?,
            };
            let covered: bool = row.get(4)?;
            let due = at(row.get(1)?, row.get(3)?, covered.then_some(cover));
            let before: Option<Time> = row.get(2)?;
            Ok((due != before).then_some((row.get(0)?, due)))
        })?;
        rows.filter_map(Result::transpose)
            .collect::<rusqlite::Result<_>>()?
    };
    for (message, due) in changed {
        set(tx, part, message, due)?;
    }
    Ok(())
}

fn set(tx: &Tx<'_>, part: PartSeq, message: MessageSeq, due: Option<Time>) -> Outcome<()> {
    tx.prepare_cached("UPDATE recipient SET remind_at = ?3 WHERE part = ?1 AND message = ?2")?
        .execute((part, message, due))?;
    Ok(())
}

pub(super) const DUE: &str = "SELECT r.message, r.thread, m.sender,
            t.status = 'answered' AND r.part IS (SELECT sender FROM message WHERE thread = t.seq ORDER BY ordinal DESC LIMIT 1)
       FROM recipient AS r JOIN message AS m ON m.seq = r.message JOIN thread AS t ON t.seq = r.thread
      WHERE r.part = ?1 AND r.live = 1 AND r.read_at IS NULL AND r.fyi = 0 AND r.remind_at <= ?2
      ORDER BY r.message";

/// The oldest message of the part whose reminder is due. What the part has answered last is not reminded of, now or later.
pub(super) fn due(tx: &Tx<'_>, part: PartSeq, now: Time) -> Outcome<Option<Cause>> {
    let rows: Vec<(Cause, bool)> = {
        let mut statement = tx.prepare_cached(DUE)?;
        let rows = statement.query_map((part, now), |row| {
            let cause = Cause {
                message: row.get(0)?,
                thread: row.get(1)?,
                part: row.get(2)?,
            };
            Ok((cause, row.get(3)?))
        })?;
        rows.collect::<rusqlite::Result<_>>()?
    };
    let mut oldest = None;
    for (cause, answered) in rows {
        match cause.message {
            Some(message) if answered => set(tx, part, message, None)?,
            _ => oldest = oldest.or(Some(cause)),
        }
    }
    Ok(oldest)
}

pub(super) const PARTS: &str = "SELECT part FROM recipient
      WHERE remind_at <= ?1 AND live = 1 AND read_at IS NULL";

/// The parts with a reminder due, once per message.
pub(super) fn parts(connection: &Connection, now: Time) -> Outcome<Vec<PartSeq>> {
    let mut statement = connection.prepare_cached(PARTS)?;
    let rows = statement.query_map([now], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn ten_minutes_then_thirty_then_never() {
        let shown = Some(Time(0));
        assert_eq!(at(0, shown, None), Some(Time(10 * MINUTE)));
        assert_eq!(at(1, shown, None), Some(Time(30 * MINUTE)));
        assert_eq!(at(2, shown, None), None);
    }

    #[test]
    fn counted_from_the_later_of_last_shown_and_the_end_of_its_wake() {
        let cover = |ended| {
            Some(Cover {
                ended_at: Some(Time(ended)),
                unanswered: false,
            })
        };
        assert_eq!(at(0, Some(Time(5)), cover(7)), Some(Time(7 + 10 * MINUTE)));
        assert_eq!(at(0, Some(Time(9)), cover(7)), Some(Time(9 + 10 * MINUTE)));
        assert_eq!(at(0, None, cover(7)), Some(Time(7 + 10 * MINUTE)));
    }

    #[test]
    fn none_while_its_wake_is_open_or_after_it_went_unanswered() {
        for cover in [
            Cover {
                ended_at: None,
                unanswered: false,
            },
            Cover {
                ended_at: Some(Time(1)),
                unanswered: true,
            },
        ] {
            assert_eq!(at(0, Some(Time(9)), Some(cover)), None);
        }
        assert_eq!(at(0, None, None), None);
    }
}
