//! Marking one message read without an answer (tools.md 6, ack).

use rusqlite::OptionalExtension;
use serde::Serialize;

use super::find;
use super::marks;
use crate::identity::Caller;
use crate::store::Error;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::wake;

/// What `ack` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Acked {
    /// Always true.
    pub ok: bool,
    /// It was read before; nothing changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_read: bool,
}

/// Marks a message addressed to the caller read, shown or not, its thread live or done.
///
/// # Errors
/// `invalid_argument`; `message_not_found` for an unknown message and for one to somebody else alike.
pub fn ack(tx: &Tx<'_>, caller: &Caller, message_id: &str, now: Time) -> Outcome<Acked> {
    let id = find::id("messageId", message_id)?;
    let message: MessageSeq = tx
        .prepare_cached(
            "SELECT m.seq FROM message AS m JOIN recipient AS r ON r.message = m.seq AND r.part = ?2
              WHERE m.id = ?1",
        )?
        .query_row((id, caller.part), |row| row.get(0))
        .optional()?
        .ok_or_else(message_not_found)?;
    let first = marks::read(tx, caller.project, Some(caller.part), message, now)?;
    wake::consumed(tx, caller.part, now)?;
    Ok(Acked {
        ok: true,
        already_read: !first,
    })
}

fn message_not_found() -> Error {
    Refusal::new(
        "message_not_found",
        "Nothing was done: no message to you has that id. Take one from inbox.",
    )
    .into()
}
