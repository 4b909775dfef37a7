//! Who may do what: people, orgs, projects with their connect codes, parts, and the tokens by which requests prove who they come from
//! (access.md 1–3).
//!
//! What this folder promises:
//!
//! - **Identity comes from the token**, on every request: never from a session id, a folder or a text. Level, capabilities, membership
//!   and bans are read from the tables each time, so a change holds from the next request.
//! - **A refusal leaves no trace**: [`access`] only reads; a part is begun, and a token marked used, only by a request that passed
//!   every check.
//! - **Secrets are never kept**: a token is known by its SHA-256.

pub mod access;
mod level;
mod near;
pub mod part;
pub mod people;
pub mod project;
pub mod slug;
pub mod token;

pub use access::Caller;
pub use access::Denial;
pub use access::Reason;
pub use level::Level;
pub use level::Rights;
pub use near::near;
pub use part::Part;
pub use project::Project;

use crate::store::Outcome;
use crate::store::Time;
use crate::store::Tx;
use crate::store::new_id;

/// Gives a fresh file its relay row, its owner `account` and the org `personal`; does nothing to one that has them.
///
/// # Errors
/// A fault of the store.
pub fn found(tx: &Tx<'_>, account: &str, now: Time) -> Outcome<()> {
    let founded: bool =
        tx.query_row("SELECT EXISTS (SELECT 1 FROM relay)", [], |row| row.get(0))?;
    if founded {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO relay (one, instance, created_at) VALUES (1, ?1, ?2)",
        (new_id(), now),
    )?;
    let owner = people::add(tx, account, now)?;
    tx.execute(
        "INSERT INTO org (id, name, created_at) VALUES (?1, 'personal', ?2)",
        (new_id(), now),
    )?;
    tx.execute(
        "INSERT INTO org_member (org, user, role) SELECT seq, ?1, 'owner' FROM org",
        [owner],
    )?;
    Ok(())
}

/// The relay's own id, kept in the file.
///
/// # Errors
/// A fault of the store.
pub fn instance(connection: &rusqlite::Connection) -> Outcome<String> {
    Ok(connection.query_row("SELECT instance FROM relay", [], |row| row.get(0))?)
}

/// Makes the relay another one to its pagers: what they remember of the file before says nothing about this one (pager.md 2).
///
/// # Errors
/// A fault of the store.
pub fn renew_instance(connection: &rusqlite::Connection) -> Outcome<()> {
    connection.execute("UPDATE relay SET instance = ?1", [new_id()])?;
    Ok(())
}

/// Writes a row that matters to nobody: proof that the file can be written. The value is another each time, for SQLite writes nothing
/// where nothing changes.
///
/// # Errors
/// A fault of the store.
pub fn prove_writable(tx: &Tx<'_>, now: Time) -> Outcome<()> {
    tx.prepare_cached("UPDATE relay SET proved_at = max(coalesce(proved_at, 0) + 1, ?1)")?
        .execute([now])?;
    Ok(())
}
