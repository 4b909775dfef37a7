//! From a request's credentials to who is calling, or to the reason why not (access.md 3; tools.md 2, checks 4–7).

use rusqlite::Connection;

use super::Level;
use super::part;
use super::people;
use super::people::Person;
use super::project;
use super::slug;
use super::token;
use super::token::Kind;
use super::token::Token;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::TokenSeq;
use crate::store::Tx;
use crate::store::UserSeq;

/// Who is calling over MCP, proved by the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The person behind the part.
    pub user: UserSeq,
    /// The project of the URL's code.
    pub project: ProjectSeq,
    /// Its name.
    pub project_slug: String,
    /// The part.
    pub part: PartSeq,
    /// Its name.
    pub part_slug: String,
    /// Level of the person's membership.
    pub level: Level,
    /// May send urgent messages.
    pub urgent: bool,
    /// May flag a thread for the person.
    pub needs_human: bool,
    /// The credential.
    pub token: TokenSeq,
    /// When that was last noted as used.
    pub token_used_at: Option<Time>,
}

impl Caller {
    /// Refuses callers below level `write`.
    ///
    /// # Errors
    /// `unauthorized`, naming the level.
    pub fn may_write(&self) -> Result<(), Refusal> {
        if self.level >= Level::Write {
            return Ok(());
        }
        Err(Refusal::new(
            "unauthorized",
            format!(
                "Nothing was done: this needs level write, {} has {}. Ask the person to raise it.",
                self.part_slug,
                self.level.as_str()
            ),
        ))
    }
}

/// Why a request was turned away; the edge gives each its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the reasons of tools.md 2")]
pub enum Reason {
    TokenMissing,
    TokenEmpty,
    TokenUnexpanded,
    TokenUnknown,
    TokenExpired,
    Part,
    Code,
    OtherProject,
    OtherPart,
    NotMember,
    Banned,
    PartTaken,
    PartDeleted,
}

impl Reason {
    /// The word of the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TokenMissing => "token_missing",
            Self::TokenEmpty => "token_empty",
            Self::TokenUnexpanded => "token_unexpanded",
            Self::TokenUnknown => "token_unknown",
            Self::TokenExpired => "token_expired",
            Self::Part => "part",
            Self::Code => "code",
            Self::OtherProject => "other_project",
            Self::OtherPart => "other_part",
            Self::NotMember => "not_member",
            Self::Banned => "banned",
            Self::PartTaken => "part_taken",
            Self::PartDeleted => "part_deleted",
        }
    }
}

/// A request turned away: reason, and a text that names cause and cure without repeating a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// For programs.
    pub reason: Reason,
    /// For people.
    pub message: String,
}

impl Denial {
    fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }
}

/// Reads an `Authorization` header: the scheme in any case, blanks around the token ignored.
///
/// # Errors
/// `token_missing`, `token_empty` or `token_unexpanded`.
pub fn bearer(header: Option<&[u8]>) -> Result<&str, Denial> {
    let missing = || {
        Denial::new(
            Reason::TokenMissing,
            "no bearer token: send the header Authorization: Bearer <token> (relayroom token new PART makes one)",
        )
    };
    let text = header
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .ok_or_else(missing)?
        .trim();
    let scheme = text.get(..6).ok_or_else(missing)?;
    let rest = &text[6..];
    if !scheme.eq_ignore_ascii_case("bearer") || !(rest.is_empty() || rest.starts_with([' ', '\t']))
    {
        return Err(missing());
    }
    let secret = rest.trim();
    if secret.is_empty() {
        return Err(Denial::new(
            Reason::TokenEmpty,
            "the bearer token is empty: the variable it comes from is not set where the agent runs",
        ));
    }
    if secret.contains('$') {
        return Err(Denial::new(
            Reason::TokenUnexpanded,
            "the bearer token holds a $: a variable's name was sent in place of its value",
        ));
    }
    Ok(secret)
}

/// A live credential of the kind wanted.
fn credential(
    connection: &Connection,
    secret: &str,
    kind: Kind,
    now: Time,
) -> Outcome<Result<Token, Denial>> {
    let found = token::find(connection, secret)?;
    Ok(match found {
        Some(token) if token.kind != kind => Err(Denial::new(
            Reason::TokenUnknown,
            format!(
                "this is a token of kind {}; here one of kind {} is needed",
                token.kind.as_str(),
                kind.as_str()
            ),
        )),
        Some(token) if token.revoked_at.is_some() => Err(Denial::new(
            Reason::TokenUnknown,
            "this token was revoked: ask the person for a new one (relayroom token new PART)",
        )),
        Some(token) if token.expires_at.is_some_and(|end| end <= now) => Err(Denial::new(
            Reason::TokenExpired,
            "this token has expired: ask the person for a new one (relayroom token new PART)",
        )),
        Some(token) => Ok(token),
        None => Err(Denial::new(
            Reason::TokenUnknown,
            "this relay does not know the token: check that it was copied whole and is for this relay",
        )),
    })
}

/// The parts of an MCP request that say who is calling.
#[derive(Debug, Clone)]
pub struct McpRequest {
    /// The `Authorization` header as sent.
    pub authorization: Option<Vec<u8>>,
    /// Connect code of the URL.
    pub code: String,
    /// `?part=`, if there.
    pub part: Option<String>,
}

/// What an MCP request may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// It acts as a part that exists.
    Caller(Caller),
    /// Its part's name is free: [`begin`] makes it once all other checks have passed.
    Begins,
}

/// Checks 4–7 of tools.md 2, in their order.
///
/// # Errors
/// A fault of the store; a turned-away request is the inner error.
pub fn mcp(
    connection: &Connection,
    request: &McpRequest,
    now: Time,
) -> Outcome<Result<Entry, Denial>> {
    let secret = match bearer(request.authorization.as_deref()) {
        Ok(secret) => secret,
        Err(denial) => return Ok(Err(denial)),
    };
    let token = match credential(connection, secret, Kind::Agent, now)? {
        Ok(token) => token,
        Err(denial) => return Ok(Err(denial)),
    };
    let bound = token.part.clone().unwrap_or_default();
    let name = request.part.clone().unwrap_or_else(|| bound.clone());
    if name == slug::HUMAN || !slug::is_slug(&name) {
        return Ok(Err(Denial::new(
            Reason::Part,
            "part is 1-32 of a-z, 0-9, - and _, not beginning with - or _, and not human",
        )));
    }
    let Some(project) = project::by_code(connection, &request.code)? else {
        return Ok(Err(Denial::new(
            Reason::Code,
            "no project has this connect code: it was rotated or archived, ask the person (relayroom project show)",
        )));
    };
    if token.project != Some(project.seq) {
        return Ok(Err(Denial::new(
            Reason::OtherProject,
            "this token is for another project",
        )));
    }
    if name != bound {
        return Ok(Err(Denial::new(
            Reason::OtherPart,
            "this token is for another part: drop ?part= from the URL or name the token's own",
        )));
    }
    let Some(rights) = people::rights(connection, project.seq, token.user)? else {
        return Ok(Err(Denial::new(
            Reason::NotMember,
            "the token's owner is no member of this project",
        )));
    };
    if rights.banned {
        return Ok(Err(Denial::new(
            Reason::Banned,
            "the token's owner is banned here",
        )));
    }
    let Some(part) = part::by_slug(connection, project.seq, &name)? else {
        return Ok(Ok(Entry::Begins));
    };
    if part.deleted_at.is_some() {
        return Ok(Err(Denial::new(
            Reason::PartDeleted,
            "this part was deleted: the person can bring it back (relayroom part revive)",
        )));
    }
    if part.owner != token.user {
        return Ok(Err(Denial::new(
            Reason::PartTaken,
            "this name is another person's part by now: ask for a token for another name",
        )));
    }
    Ok(Ok(Entry::Caller(Caller {
        user: token.user,
        project: project.seq,
        project_slug: project.slug,
        part: part.seq,
        part_slug: part.slug,
        level: rights.level,
        urgent: rights.urgent,
        needs_human: rights.needs_human,
        token: token.seq,
        token_used_at: token.last_used_at,
    })))
}

/// Begins the part of a request that passed every check, after asking them again inside the transaction.
///
/// # Errors
/// As [`mcp`].
pub fn begin(tx: &Tx<'_>, request: &McpRequest, now: Time) -> Outcome<Result<Caller, Denial>> {
    match mcp(tx, request, now)? {
        Err(denial) => return Ok(Err(denial)),
        Ok(Entry::Caller(caller)) => return Ok(Ok(caller)),
        Ok(Entry::Begins) => {}
    }
    let secret = bearer(request.authorization.as_deref()).unwrap_or_default();
    if let Some(Token {
        user,
        project: Some(project),
        part: Some(name),
        ..
    }) = token::find(tx, secret)?
    {
        part::add(tx, project, &name, user, now)?;
    }
    match mcp(tx, request, now)? {
        Ok(Entry::Caller(caller)) => Ok(Ok(caller)),
        Ok(Entry::Begins) => Ok(Err(Denial::new(Reason::Part, "the part could not begin"))),
        Err(denial) => Ok(Err(denial)),
    }
}

/// Who speaks for a machine: a person by their pager token, or nobody in particular by the code alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagerCaller {
    /// The token's user; `None`: the code alone, then the caller is the owner of each part named.
    pub user: Option<UserSeq>,
    /// The credential and when it was last noted as used.
    pub token: Option<(TokenSeq, Option<Time>)>,
}

/// Who calls a pager route. `code_alone` says whether the request may come without a token (access.md 3), or which condition failed.
///
/// # Errors
/// A fault of the store; a turned-away request is the inner error.
pub fn pager(
    connection: &Connection,
    authorization: Option<&[u8]>,
    code_alone: Result<(), &str>,
    now: Time,
) -> Outcome<Result<PagerCaller, Denial>> {
    if authorization.is_none() {
        return Ok(match code_alone {
            Ok(()) => Ok(PagerCaller {
                user: None,
                token: None,
            }),
            Err(why) => Err(Denial::new(
                Reason::TokenMissing,
                format!("no bearer token, and the code alone is not enough: {why}"),
            )),
        });
    }
    let secret = match bearer(authorization) {
        Ok(secret) => secret,
        Err(denial) => return Ok(Err(denial)),
    };
    Ok(
        credential(connection, secret, Kind::Pager, now)?.map(|token| PagerCaller {
            user: Some(token.user),
            token: Some((token.seq, token.last_used_at)),
        }),
    )
}

/// Why a pager may not have a part; the words of the poll's `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the errors of pager.md 2")]
pub enum PartDenied {
    UnknownCode,
    UnknownPart,
    NotYours,
    Banned,
}

impl PartDenied {
    /// The word of the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownCode => "unknown_code",
            Self::UnknownPart => "unknown_part",
            Self::NotYours => "not_yours",
            Self::Banned => "banned",
        }
    }
}

/// The part a pager names, if it may speak for it.
///
/// # Errors
/// A fault of the store; a refused part is the inner error.
pub fn pager_part(
    connection: &Connection,
    caller: &PagerCaller,
    code: &str,
    name: &str,
) -> Outcome<Result<part::Part, PartDenied>> {
    let Some(project) = project::by_code(connection, code)? else {
        return Ok(Err(PartDenied::UnknownCode));
    };
    let Some(part) =
        part::by_slug(connection, project.seq, name)?.filter(|part| part.deleted_at.is_none())
    else {
        return Ok(Err(PartDenied::UnknownPart));
    };
    let user = caller.user.unwrap_or(part.owner);
    let banned = people::rights(connection, project.seq, user)?.is_none_or(|rights| rights.banned);
    Ok(if part.owner != user {
        Err(PartDenied::NotYours)
    } else if banned {
        Err(PartDenied::Banned)
    } else {
        Ok(part)
    })
}

/// The person behind an admin token, and that token.
///
/// # Errors
/// A fault of the store; a turned-away request is the inner error.
pub fn admin(
    connection: &Connection,
    authorization: Option<&[u8]>,
    now: Time,
) -> Outcome<Result<(Person, Token), Denial>> {
    let secret = match bearer(authorization) {
        Ok(secret) => secret,
        Err(denial) => return Ok(Err(denial)),
    };
    match credential(connection, secret, Kind::Admin, now)? {
        Ok(token) => Ok(Ok((people::first_owner(connection)?, token))),
        Err(denial) => Ok(Err(denial)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_reads_leniently_and_names_what_is_wrong() {
        assert_eq!(bearer(Some(b"bearer rrt_x ")), Ok("rrt_x"));
        for (header, reason) in [
            (None, Reason::TokenMissing),
            (Some(&b"Basic abc"[..]), Reason::TokenMissing),
            (Some(b"Bearerx y"), Reason::TokenMissing),
            (Some(b"Bearer "), Reason::TokenEmpty),
            (Some(b"Bearer"), Reason::TokenEmpty),
            (Some(b"Bearer ${RR_TOKEN}"), Reason::TokenUnexpanded),
        ] {
            assert_eq!(bearer(header).unwrap_err().reason, reason);
        }
    }
}
