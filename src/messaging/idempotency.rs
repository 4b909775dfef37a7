//! Keys by which a part may repeat a call without repeating its effect (tools.md 9). Remembered 24 h per sending part, send and reply
//! together.

use rusqlite::OptionalExtension;

use super::author::Author;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::text;

/// How long a key is remembered, in milliseconds.
const REMEMBERED_MS: i64 = 24 * 60 * 60 * 1000;

/// A call's key and the digest of all its arguments as read.
#[derive(Debug, Clone)]
pub(super) struct Key {
    key: String,
    digest: Vec<u8>,
}

/// What the first call of a key stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct First {
    pub(super) thread_id: String,
    pub(super) message_id: String,
}

/// Checks the argument.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`.
pub(super) fn read(key: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(key) = key else {
        return Ok(None);
    };
    let key = text::line("idempotencyKey", key)?;
    text::not_blank("idempotencyKey", &key)?;
    text::at_most_chars("idempotencyKey", &key, 128)?;
    Ok(Some(key))
}

impl Key {
    pub(super) fn new(key: String, digest: Vec<u8>) -> Self {
        Self { key, digest }
    }

    /// What the key stands for already. A person's calls have none.
    ///
    /// # Errors
    /// `key_reused` if the arguments were others.
    pub(super) fn find(
        &self,
        tx: &Tx<'_>,
        author: &Author<'_>,
        now: Time,
    ) -> Outcome<Option<First>> {
        let found: Option<(Vec<u8>, First)> = tx
            .prepare_cached(
                "SELECT digest, thread_id, message_id FROM idempotency WHERE part = ?1 AND key = ?2 AND at > ?3",
            )?
            .query_row((author.part(), &self.key, now.0 - REMEMBERED_MS), |row| {
                Ok((
                    row.get(0)?,
                    First {
                        thread_id: row.get(1)?,
                        message_id: row.get(2)?,
                    },
                ))
            })
            .optional()?;
        match found {
            Some((digest, _)) if digest != self.digest => Err(Refusal::new(
                "key_reused",
                "Nothing was sent: this idempotencyKey was used within 24 h with other arguments. Take a new key for a new message.",
            )
            .into()),
            found => Ok(found.map(|(_, first)| first)),
        }
    }

    /// Remembers what the call stored, and forgets what is too old.
    pub(super) fn remember(
        &self,
        tx: &Tx<'_>,
        author: &Author<'_>,
        first: &First,
        now: Time,
    ) -> Outcome<()> {
        let Some(part) = author.part() else {
            return Ok(());
        };
        tx.prepare_cached("DELETE FROM idempotency WHERE at <= ?1")?
            .execute([now.0 - REMEMBERED_MS])?;
        tx.prepare_cached(
            "INSERT INTO idempotency (part, key, digest, thread_id, message_id, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            part,
            &self.key,
            &self.digest,
            &first.thread_id,
            &first.message_id,
            now,
        ))?;
        Ok(())
    }
}
