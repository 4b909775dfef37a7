//! An agent met something that speaks against an entry: it is believed no longer until a person answers (knowledge.md 6).

use rusqlite::OptionalExtension;
use serde::Serialize;

use super::entry;
use super::limit;
use crate::identity::Caller;
use crate::store::KnowledgeSeq;
use crate::store::Outcome;
use crate::store::Time;
use crate::store::Tx;
use crate::store::parse_id;

/// What became of a contradiction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// Whether the entry was demoted.
    pub applied: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

fn not_applied(reason: &'static str) -> Contradiction {
    Contradiction {
        applied: false,
        reason: Some(reason),
    }
}

/// Takes an entry out of recall. The event that says so is stored either way.
///
/// # Errors
/// `unauthorized` below level write; a fault of the store.
pub fn contradict(
    tx: &Tx<'_>,
    caller: &Caller,
    entry_id: &str,
    now: Time,
) -> Outcome<Contradiction> {
    caller.may_write()?;
    let Some(id) = parse_id(entry_id) else {
        return Ok(not_applied("no UUID"));
    };
    let found: Option<(KnowledgeSeq, String)> = tx
        .query_row(
            "SELECT seq, state FROM knowledge WHERE id = ?1 AND project = ?2",
            (id, caller.project),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    let Some((seq, state)) = found else {
        return Ok(not_applied("no entry of this project"));
    };
    if state == "contradicted" || state == "retired" {
        return Ok(not_applied("the entry is not believed any more"));
    }
    if limit::learned_enough(tx, caller.part, now)? {
        return Ok(not_applied(
            "20 entries and contradictions an hour are the limit",
        ));
    }
    tx.execute(
        "UPDATE knowledge SET contradictions = contradictions + 1 WHERE seq = ?1",
        [seq],
    )?;
    entry::set_state(
        tx,
        seq,
        "contradicted",
        (Some(caller.part), None),
        limit::CONTRADICTED,
        now,
    )?;
    Ok(Contradiction {
        applied: true,
        reason: None,
    })
}
