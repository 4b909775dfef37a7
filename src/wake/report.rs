//! What a pager reports of a delivery (wake.md 8).

use rusqlite::OptionalExtension;

use super::consider::tell;
use crate::api::ReportRequest;
use crate::api::ReportResult;
use crate::api::Stage;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::WakeSeq;
use crate::store::parse_id;

/// Applies one report of the pager that holds the part's wake; `holder` is [`super::poll::holder`] of its pager and part.
///
/// # Errors
/// `invalid_argument` if `wakeId` or `event` is no UUID.
pub fn apply(
    tx: &Tx<'_>,
    report: &ReportRequest,
    part: PartSeq,
    holder: &str,
    now: Time,
) -> Outcome<ReportResult> {
    let (Some(id), Some(event)) = (parse_id(&report.wake_id), parse_id(&report.event)) else {
        return Err(Refusal::new("invalid_argument", "wakeId and event are UUIDs").into());
    };
    let known: bool = tx
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM report WHERE event = ?1)")?
        .query_row([&event], |row| row.get(0))?;
    if known {
        return Ok(ReportResult::Already);
    }
    let found: Option<(WakeSeq, Option<String>, bool)> = tx
        .prepare_cached(
            "SELECT seq, holder, typed FROM wake WHERE id = ?1 AND part = ?2 AND ended_at IS NULL AND rung = ?3",
        )?
        .query_row((id, part, report.nudge), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((wake, held_by, typed)) = found else {
        return Ok(match report.stage {
            Stage::Confirm => ReportResult::Cleared,
            _ => ReportResult::Stale,
        });
    };
    if held_by.as_deref() != Some(holder) {
        return Ok(ReportResult::NotHolder);
    }
    match &report.stage {
        Stage::Confirm => return Ok(ReportResult::Ok),
        Stage::Blocked {
            reason,
            detail,
            evidence,
        } => {
            tx.execute(
                "UPDATE wake SET hold_since = CASE WHEN hold_reason IS ?2 THEN hold_since ELSE ?5 END,
                                 hold_reason = ?2, hold_detail = ?3, evidence = ?4 WHERE seq = ?1",
                (wake, reason, detail, evidence, now),
            )?;
        }
        Stage::Typed { .. } if typed => return Ok(ReportResult::Already),
        Stage::Typed { .. } => {
            tx.execute(
                "INSERT INTO nudge (wake, part, owner, lane, rung, at, last_seq, cause_part, cause_thread)
                 SELECT seq, part, owner, lane, rung, ?2, last_seq, cause_part, cause_thread FROM wake WHERE seq = ?1",
                (wake, now),
            )?;
            tx.execute(
                "UPDATE wake SET typed = 1, nudges = nudges + 1, nudged_at = ?2, nudged_seq = last_seq WHERE seq = ?1",
                (wake, now),
            )?;
            tx.execute(
                "UPDATE recipient SET nudged_at = ?2 WHERE part = ?1 AND live = 1 AND read_at IS NULL AND fyi = 0",
                (part, now),
            )?;
        }
        Stage::Submitted { .. } => {
            tx.execute(
                "UPDATE wake SET state = 'presented', presented_at = coalesce(presented_at, ?2), lease_until = NULL
                  WHERE seq = ?1",
                (wake, now),
            )?;
            tx.execute(
                "UPDATE recipient SET presented_at = coalesce(presented_at, ?2)
                  WHERE part = ?1 AND live = 1 AND read_at IS NULL AND nudged_at IS NOT NULL",
                (part, now),
            )?;
        }
        Stage::Unconfirmed { .. } => {
            tx.execute(
                "UPDATE wake SET state = 'unconfirmed', lease_until = NULL WHERE seq = ?1",
                [wake],
            )?;
        }
        Stage::Released => {
            tx.execute(
                "UPDATE wake SET state = 'waiting', lease_until = NULL WHERE seq = ?1",
                [wake],
            )?;
        }
    }
    tx.execute(
        "INSERT INTO report (event, wake, result, at) VALUES (?1, ?2, 'ok', ?3)",
        (event, wake, now),
    )?;
    tell(tx, part)?;
    Ok(ReportResult::Ok)
}
