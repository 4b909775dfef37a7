//! Wakes issued since the last step: each must have a reason that wake.md 4 to 6 let pass.

use relayroom::store::Outcome;
use rusqlite::Connection;

use crate::relay::Checked;

struct Wake {
    seq: i64,
    part: i64,
    kind: String,
    cause_part: Option<i64>,
    cause: Option<i64>,
    at: i64,
}

/// The newest wake, and what is wrong with those after `last`.
pub fn check(connection: &Connection, last: i64) -> Outcome<(i64, Checked)> {
    let new: Vec<Wake> = connection
        .prepare_cached(
            "SELECT seq, part, kind, cause_part, cause_message, issued_at FROM wake WHERE seq > ?1 ORDER BY seq",
        )?
        .query_map([last], |row| {
            Ok(Wake {
                seq: row.get(0)?,
                part: row.get(1)?,
                kind: row.get(2)?,
                cause_part: row.get(3)?,
                cause: row.get(4)?,
                at: row.get(5)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let newest = new.last().map_or(last, |wake| wake.seq);
    for wake in &new {
        for verdict in [
            caused(connection, wake)?,
            cooled(connection, wake)?,
            braked(connection, wake)?,
            reminded(connection, wake)?,
        ] {
            if verdict.is_err() {
                return Ok((newest, verdict));
            }
        }
    }
    Ok((newest, Ok(())))
}

/// A wake for mail is for new mail: not the part's own, and not announced before.
fn caused(connection: &Connection, wake: &Wake) -> Outcome<Checked> {
    if wake.cause_part == Some(wake.part) {
        return Ok(Err("a part was woken by its own message".into()));
    }
    if wake.kind != "mail" {
        return Ok(Ok(()));
    }
    let announced: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM nudge AS n JOIN message AS m ON m.seq = ?1
                             WHERE n.part = ?2 AND n.wake <> ?3 AND n.last_seq >= ?1 AND n.at >= m.at)",
        )?
        .query_row((wake.cause, wake.part, wake.seq), |row| row.get(0))?;
    if announced {
        return Ok(Err(
            "a wake was issued for mail that was announced before".into()
        ));
    }
    Ok(Ok(()))
}

/// One sender's wakes of a part by messages to it alone are 30 s apart, but for urgent ones.
fn cooled(connection: &Connection, wake: &Wake) -> Outcome<Checked> {
    let soon: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM message AS m WHERE m.seq = ?1 AND m.reach = 1 AND m.urgent = 0)
                AND EXISTS (SELECT 1 FROM wake AS w JOIN message AS c ON c.seq = w.cause_message
                             WHERE w.part = ?2 AND w.cause_part = ?3 AND w.kind = 'mail' AND w.seq < ?4
                               AND w.issued_at > ?5 - 30000 AND c.reach = 1 AND c.seq <> ?1)
                AND NOT EXISTS (SELECT 1 FROM message AS o JOIN recipient AS r ON r.message = o.seq
                                 WHERE r.part = ?2 AND o.sender = ?3 AND (o.reach > 1 OR o.urgent = 1))",
        )?
        .query_row((wake.cause, wake.part, wake.cause_part, wake.seq, wake.at), |row| row.get(0))?;
    if soon && wake.kind == "mail" {
        return Ok(Err("one sender woke a part twice within 30 s".into()));
    }
    Ok(Ok(()))
}

/// A message that wakes at once is no sixth of an exchange between two, and no thirteenth of a chain, within 5 min.
fn braked(connection: &Connection, wake: &Wake) -> Outcome<Checked> {
    let (Some(sender), Some(cause), "mail") = (wake.cause_part, wake.cause, wake.kind.as_str())
    else {
        return Ok(Ok(()));
    };
    let (thread, ordinal, at): (i64, i64, i64) = connection
        .prepare_cached("SELECT thread, ordinal, at FROM message WHERE seq = ?1")?
        .query_row([cause], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if at != wake.at {
        return Ok(Ok(()));
    }
    let since = at - 5 * 60_000;
    let run: Vec<Option<i64>> = connection
        .prepare_cached("SELECT sender FROM message WHERE thread = ?1 AND ordinal <= ?2 AND at > ?3 ORDER BY ordinal DESC")?
        .query_map((thread, ordinal, since), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut senders: Vec<i64> = run
        .into_iter()
        .map_while(|from| from.filter(|from| *from == sender || *from == wake.part))
        .collect();
    senders.dedup();
    if senders.len() >= 6 {
        return Ok(Err(
            "the sixth message of an exchange between two woke at once".into(),
        ));
    }
    let mut chain = vec![cause];
    while let Some(before) = connection
        .prepare_cached("SELECT follows FROM message WHERE seq = ?1 AND follows IS NOT NULL")?
        .query_map([chain[chain.len() - 1]], |row| row.get(0))?
        .next()
        .transpose()?
    {
        chain.push(before);
    }
    if let Some(began) = chain.get(12) {
        let fast: bool = connection
            .prepare_cached("SELECT at > ?2 FROM message WHERE seq = ?1")?
            .query_row((began, since), |row| row.get(0))?;
        if fast {
            return Ok(Err(
                "a chain of twelve hops within 5 min woke at once".into()
            ));
        }
    }
    Ok(Ok(()))
}

/// A reminder comes 10 min after its mail was last shown at the earliest, and at most twice.
fn reminded(connection: &Connection, wake: &Wake) -> Outcome<Checked> {
    if wake.kind != "reminder" {
        return Ok(Ok(()));
    }
    let (shown, reminders): (Option<i64>, u32) = connection
        .prepare_cached(
            "SELECT last_seen_at, reminders FROM recipient WHERE message = ?1 AND part = ?2",
        )?
        .query_row((wake.cause, wake.part), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    if shown.is_some_and(|shown| wake.at < shown + 10 * 60_000) {
        return Ok(Err("a reminder came before its 10 min were over".into()));
    }
    if reminders >= 2 {
        return Ok(Err("a third reminder".into()));
    }
    Ok(Ok(()))
}
