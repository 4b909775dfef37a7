//! Credentials: 32 random bytes behind a prefix, known to us by their SHA-256 only (access.md 2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::Connection;
use rusqlite::OptionalExtension;
use sha2::Digest;
use sha2::Sha256;

use crate::store::Outcome;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Signal;
use crate::store::Time;
use crate::store::TokenSeq;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::UserSeq;
use crate::store::new_id;

/// What a credential is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `rrt_`: one part, over MCP.
    Agent,
    /// `rrp_`: a machine's pager and hook, for the parts its user owns.
    Pager,
    /// `rra_`: the person, from loopback.
    Admin,
}

impl Kind {
    /// The word of the tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Pager => "pager",
            Self::Admin => "admin",
        }
    }

    /// What its secrets begin with.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Agent => "rrt_",
            Self::Pager => "rrp_",
            Self::Admin => "rra_",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Agent, Self::Pager, Self::Admin]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// What a new credential is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// An agent's: project and name; the name may still be free.
    Agent {
        /// Project.
        project: ProjectSeq,
        /// Part name.
        part: String,
    },
    /// A machine's.
    Pager {
        /// Label of the machine.
        machine: String,
    },
    /// The person's.
    Admin,
}

impl Binding {
    fn kind(&self) -> Kind {
        match self {
            Self::Agent { .. } => Kind::Agent,
            Self::Pager { .. } => Kind::Pager,
            Self::Admin => Kind::Admin,
        }
    }
}

/// A credential, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Row.
    pub seq: TokenSeq,
    /// Outside id.
    pub id: String,
    /// What it is good for.
    pub kind: Kind,
    /// Last four characters of the secret, to tell tokens apart.
    pub last_four: String,
    /// The person's words for it.
    pub label: String,
    /// Whose it is.
    pub user: UserSeq,
    /// Bound project of an agent token.
    pub project: Option<ProjectSeq>,
    /// Bound name of an agent token.
    pub part: Option<String>,
    /// Label of a pager token's machine.
    pub machine: Option<String>,
    /// When it was issued.
    pub created_at: Time,
    /// When it ends by itself.
    pub expires_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
    /// Last use, to the minute.
    pub last_used_at: Option<Time>,
    /// Peer of the last use.
    pub last_peer: Option<String>,
    /// Client program of the last use.
    pub last_client: Option<String>,
}

const TOKEN: &str =
    "SELECT seq, id, kind, last_four, label, user, project, part_slug, machine, created_at,
    expires_at, revoked_at, last_used_at, last_peer, last_client FROM token";

fn token(row: &rusqlite::Row<'_>) -> rusqlite::Result<Token> {
    let kind: String = row.get(2)?;
    Ok(Token {
        seq: row.get(0)?,
        id: row.get(1)?,
        kind: Kind::parse(&kind).unwrap_or(Kind::Agent),
        last_four: row.get(3)?,
        label: row.get(4)?,
        user: row.get(5)?,
        project: row.get(6)?,
        part: row.get(7)?,
        machine: row.get(8)?,
        created_at: row.get(9)?,
        expires_at: row.get(10)?,
        revoked_at: row.get(11)?,
        last_used_at: row.get(12)?,
        last_peer: row.get(13)?,
        last_client: row.get(14)?,
    })
}

const INSERT: &str =
    "INSERT INTO token (id, hash, kind, last_four, label, user, project, part_slug, machine, created_at, expires_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

const END_ADMIN: &str =
    "UPDATE token SET revoked_at = ?1 WHERE kind = 'admin' AND revoked_at IS NULL";

/// Issues a credential and returns its secret, for the only time, with its row.
///
/// # Errors
/// `invalid_argument` for a part name that breaks the grammar, a label over 100 characters or with control characters, or an end in
/// the past.
pub fn issue(
    tx: &Tx<'_>,
    user: UserSeq,
    binding: &Binding,
    label: &str,
    expires_at: Option<Time>,
    now: Time,
) -> Outcome<(String, Token)> {
    let (project, part, machine) = match binding {
        Binding::Agent { project, part } => {
            super::part::check_name(part)?;
            (Some(*project), Some(part.as_str()), None)
        }
        Binding::Pager { machine } => (None, None, Some(machine.as_str())),
        Binding::Admin => (None, None, None),
    };
    for text in [Some(label), machine].into_iter().flatten() {
        if text.chars().count() > 100 || text.chars().any(char::is_control) {
            return Err(Refusal::new(
                "invalid_argument",
                "a label has at most 100 characters and no control characters",
            )
            .into());
        }
    }
    if expires_at.is_some_and(|end| end <= now) {
        return Err(Refusal::new("invalid_argument", "the token would end in the past").into());
    }
    let kind = binding.kind();
    let secret = format!(
        "{}{}",
        kind.prefix(),
        URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
    );
    tx.execute(
        INSERT,
        (
            new_id(),
            hash(&secret),
            kind.as_str(),
            last_four(&secret),
            label,
            user,
            project,
            part,
            machine,
            now,
            expires_at,
        ),
    )?;
    let made = TokenSeq(tx.last_insert_rowid());
    tell(tx, project);
    let row = tx.query_row(&format!("{TOKEN} WHERE seq = ?1"), [made], token)?;
    Ok((secret, row))
}

/// The credential with this secret, revoked and expired ones too.
///
/// # Errors
/// A fault of the store.
pub fn find(connection: &Connection, secret: &str) -> Outcome<Option<Token>> {
    let mut statement = connection.prepare_cached(&format!("{TOKEN} WHERE hash = ?1"))?;
    Ok(statement.query_row([hash(secret)], token).optional()?)
}

/// All credentials that were not revoked, newest last.
///
/// # Errors
/// A fault of the store.
pub fn list(connection: &Connection) -> Outcome<Vec<Token>> {
    let mut statement =
        connection.prepare_cached(&format!("{TOKEN} WHERE revoked_at IS NULL ORDER BY seq"))?;
    let rows = statement.query_map([], token)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Revokes a credential from the next request on; false if no live one has that id.
///
/// # Errors
/// A fault of the store.
pub fn revoke(tx: &Tx<'_>, id: &str, now: Time) -> Outcome<bool> {
    let changed = tx.execute(
        "UPDATE token SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
        (id, now),
    )?;
    tell(tx, None);
    Ok(changed > 0)
}

/// Lets a credential end by itself at `at`, unless it ends earlier already.
///
/// # Errors
/// A fault of the store.
pub fn end(tx: &Tx<'_>, seq: TokenSeq, at: Time) -> Outcome<()> {
    tx.execute(
        "UPDATE token SET expires_at = min(coalesce(expires_at, ?2), ?2) WHERE seq = ?1",
        (seq, at),
    )?;
    tell(tx, None);
    Ok(())
}

/// Revokes all agent tokens of a name in a project.
///
/// # Errors
/// A fault of the store.
pub fn revoke_part(tx: &Tx<'_>, project: ProjectSeq, part: &str, now: Time) -> Outcome<()> {
    tx.execute(
        "UPDATE token SET revoked_at = ?3 WHERE project = ?1 AND part_slug = ?2 AND revoked_at IS NULL",
        (project, part, now),
    )?;
    tell(tx, Some(project));
    Ok(())
}

/// Puts a new admin token in the place of any old one and returns its secret.
///
/// # Errors
/// A fault of the store.
pub fn replace_admin(tx: &Tx<'_>, user: UserSeq, now: Time) -> Outcome<String> {
    tx.execute(END_ADMIN, [now])?;
    issue(tx, user, &Binding::Admin, "", None, now).map(|(secret, _)| secret)
}

/// Makes the admin token with this secret the live one of a file that was put in the place of the one it was issued by (cli.md 7).
///
/// # Errors
/// A fault of the store.
pub fn keep_admin(connection: &Connection, user: UserSeq, secret: &str, now: Time) -> Outcome<()> {
    connection.execute(END_ADMIN, [now])?;
    let known = connection.execute(
        "UPDATE token SET revoked_at = NULL WHERE hash = ?1 AND kind = 'admin'",
        [hash(secret)],
    )?;
    if known > 0 {
        return Ok(());
    }
    connection.execute(
        INSERT,
        (
            new_id(),
            hash(secret),
            Kind::Admin.as_str(),
            last_four(secret),
            "",
            user,
            None::<ProjectSeq>,
            None::<&str>,
            None::<&str>,
            now,
            None::<Time>,
        ),
    )?;
    Ok(())
}

/// Notes that a credential was used. Written at most once a minute: the caller asks [`due_for_use`] first.
///
/// # Errors
/// A fault of the store.
pub fn used(
    tx: &Tx<'_>,
    seq: TokenSeq,
    peer: &str,
    client: Option<&str>,
    now: Time,
) -> Outcome<()> {
    let client: Option<String> =
        client.map(|name| name.chars().filter(|c| !c.is_control()).take(80).collect());
    tx.execute(
        "UPDATE token SET last_used_at = ?2, last_peer = ?3, last_client = coalesce(?4, last_client) WHERE seq = ?1",
        (seq, now, peer, client),
    )?;
    Ok(())
}

/// Whether a use now is to be written down.
#[must_use]
pub fn due_for_use(last_used_at: Option<Time>, now: Time) -> bool {
    last_used_at.is_none_or(|last| now.since(last) >= 60_000)
}

/// The end by which people tell secrets apart.
fn last_four(secret: &str) -> &str {
    secret
        .char_indices()
        .nth_back(3)
        .map_or(secret, |(at, _)| &secret[at..])
}

/// SHA-256 of the whole secret.
fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

fn tell(tx: &Tx<'_>, project: Option<ProjectSeq>) {
    tx.signal(Signal {
        topic: Topic::Token,
        project,
        part: None,
        id: String::new(),
    });
}
