//! Brakes on senders that run away (tools.md 9). Rows decide, so a restart forgets nothing and a refused call costs nothing. People are
//! not braked.

use rusqlite::OptionalExtension;

use super::author::Author;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;

/// The window, in milliseconds. It is open at its old end.
const WINDOW_MS: i64 = 60_000;

/// Messages of one part within the window.
const PER_PART: i64 = 20;

/// Messages of all parts of one owner, over all projects, within the window.
const PER_OWNER: i64 = 120;

/// Equal messages of one part within the window.
const EQUAL: i64 = 3;

/// Time of the message which, counted from the newest, fills the limit; offset is the limit less one. There is no upper bound: should a
/// row be from the future, the clock was set back, and it counts.
pub(super) const OF_PART: &str =
    "SELECT at FROM message WHERE sender = ?1 AND at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3";

/// As [`OF_PART`], over all parts of an account.
pub(super) const OF_OWNER: &str =
    "SELECT at FROM message WHERE author = ?1 AND at > ?2 AND sender IS NOT NULL
      ORDER BY at DESC LIMIT 1 OFFSET ?3";

/// As [`OF_PART`], of messages equal to the one to be stored; the window holds few rows of one part, so they are compared one by one.
pub(super) const REPEATED: &str =
    "SELECT m.at, t.id FROM message AS m JOIN thread AS t ON t.seq = m.thread
      WHERE m.sender = ?1 AND m.at > ?2 AND m.sameness = ?4 ORDER BY m.at DESC LIMIT 1 OFFSET ?3";

/// Refuses a message its sender must wait with, or has sent often enough.
///
/// # Errors
/// `rate_limited`, `repeated`, each with `retryAfterSeconds`.
pub(super) fn check(tx: &Tx<'_>, author: &Author<'_>, sameness: &[u8], now: Time) -> Outcome<()> {
    let Author::Part(caller) = author else {
        return Ok(());
    };
    let since = Time(now.0 - WINDOW_MS);
    let full = |sql: &str, of: i64, limit: i64| -> Outcome<Option<Time>> {
        Ok(tx
            .prepare_cached(sql)?
            .query_row((of, since, limit - 1), |row| row.get(0))
            .optional()?)
    };
    if let Some(oldest) = full(OF_PART, caller.part.0, PER_PART)? {
        return Err(rate_limited("part", "20 messages a minute", oldest, now).into());
    }
    if let Some(oldest) = full(OF_OWNER, caller.user.0, PER_OWNER)? {
        let what = "120 messages a minute over all parts of your owner";
        return Err(rate_limited("owner", what, oldest, now).into());
    }
    let repeated: Option<(Time, String)> = tx
        .prepare_cached(REPEATED)?
        .query_row((caller.part, since, EQUAL - 1, sameness), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((oldest, thread)) = repeated {
        let seconds = retry_after(oldest, now);
        return Err(Refusal::new(
            "repeated",
            "Nothing was sent: this message was stored 3 times within a minute already. Do not send it again; show its thread for the receipts.",
        )
        .with("threadId", thread)
        .with("retryAfterSeconds", seconds)
        .into());
    }
    Ok(())
}

fn rate_limited(scope: &'static str, limit: &str, oldest: Time, now: Time) -> Refusal {
    let seconds = retry_after(oldest, now);
    Refusal::new(
        "rate_limited",
        format!(
            "Nothing was sent: {limit} are the limit. Wait {seconds} s, and put what you have into one message."
        ),
    )
    .with("scope", scope)
    .with("retryAfterSeconds", seconds)
}

/// Whole seconds until the message stored at `oldest` has left the window.
fn retry_after(oldest: Time, now: Time) -> i64 {
    let wait = oldest.0 + WINDOW_MS - now.0;
    // The upper bound is for a row from the future.
    (wait.clamp(1, WINDOW_MS) + 999) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_rounded_up_and_bounded() {
        assert_eq!(retry_after(Time(0), Time(0)), 60);
        assert_eq!(retry_after(Time(0), Time(59_001)), 1);
        assert_eq!(retry_after(Time(0), Time(58_999)), 2);
        assert_eq!(retry_after(Time(86_400_000), Time(0)), 60);
    }
}
