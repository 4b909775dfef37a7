//! Writing one message: its row, its recipients, the parties of the thread, the search text, and the wakes it causes. Shared by send and
//! reply; by the time it runs nothing can be refused any more.

use serde::Serialize;

use super::author::Author;
use super::recipients::Recipient;
use super::search::ROWS_PER_THREAD;
use crate::store::MessageSeq;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::Signal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Topic;
use crate::store::Tx;
use crate::store::new_id;
use crate::store::text;
use crate::wake;

/// A message about to be stored.
pub(super) struct Post<'a> {
    pub(super) thread: ThreadSeq,
    pub(super) thread_id: &'a str,
    /// Its number in the thread; the first one brings the subject into the search text.
    pub(super) ordinal: i64,
    pub(super) subject: &'a str,
    pub(super) body: &'a str,
    pub(super) urgent: bool,
    pub(super) fyi: bool,
    pub(super) sameness: &'a [u8],
    pub(super) recipients: &'a [Recipient],
}

/// What happens next for one recipient.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecipientOutcome {
    /// A part's name, or `human`.
    pub part: String,
    /// `issued`, `waiting`, `held` or `none`.
    pub wake: &'static str,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// Stores a message; the thread's row is there already. Returns its row and id.
pub(super) fn store(
    tx: &Tx<'_>,
    author: &Author<'_>,
    post: &Post<'_>,
    now: Time,
) -> Outcome<(MessageSeq, String)> {
    let id = new_id();
    let message = insert(tx, author, post, &id, now)?;
    wrote(tx, author, post.thread, message)?;
    for recipient in post.recipients {
        address(tx, post, message, recipient.part)?;
    }
    let subject = if post.ordinal == 0 { post.subject } else { "" };
    tx.prepare_cached("INSERT INTO mail_text (rowid, subject, body) VALUES (?1, ?2, ?3)")?
        .execute((
            post.thread.0 * ROWS_PER_THREAD + post.ordinal,
            text::fold(subject),
            text::fold(post.body),
        ))?;
    tx.prepare_cached(
        "UPDATE thread SET messages = ?2, message_at = ?3, stirred_at = max(stirred_at, ?3) WHERE seq = ?1",
    )?
    .execute((post.thread, post.ordinal + 1, now))?;
    tell(tx, author, post, &id);
    Ok((message, id))
}

fn insert(
    tx: &Tx<'_>,
    author: &Author<'_>,
    post: &Post<'_>,
    id: &str,
    now: Time,
) -> Outcome<MessageSeq> {
    let chain = author
        .part()
        .map(|sender| wake::hops_of_next(tx, sender, now))
        .transpose()?;
    let reach = post
        .recipients
        .iter()
        .filter(|recipient| recipient.part.is_some())
        .count() as i64;
    tx.prepare_cached(
        "INSERT INTO message (id, thread, ordinal, sender, author, body, urgent, fyi, at, reach, hops, follows, sameness)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )?
    .execute(rusqlite::params![
        id,
        post.thread,
        post.ordinal,
        author.part(),
        author.user(),
        post.body,
        post.urgent,
        post.fyi,
        now,
        reach,
        chain.map_or(0, |chain| chain.hops),
        chain.and_then(|chain| chain.follows),
        post.sameness,
    ])?;
    Ok(MessageSeq(tx.last_insert_rowid()))
}

/// The author is a party of the thread from its first message there on.
fn wrote(tx: &Tx<'_>, author: &Author<'_>, thread: ThreadSeq, message: MessageSeq) -> Outcome<()> {
    join(tx, thread, author.part())?;
    tx.prepare_cached("UPDATE participant SET last_message = ?3 WHERE thread = ?1 AND part IS ?2")?
        .execute((thread, author.part(), message))?;
    Ok(())
}

fn address(
    tx: &Tx<'_>,
    post: &Post<'_>,
    message: MessageSeq,
    part: Option<PartSeq>,
) -> Outcome<()> {
    tx.prepare_cached(
        "INSERT INTO recipient (message, part, thread, fyi) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((message, part, post.thread, post.fyi))?;
    join(tx, post.thread, part)?;
    tx.prepare_cached("UPDATE participant SET addressee = 1 WHERE thread = ?1 AND part IS ?2")?
        .execute((post.thread, part))?;
    Ok(())
}

/// Makes a part, or the person, a party of the thread, last in order; does nothing if it is one.
fn join(tx: &Tx<'_>, thread: ThreadSeq, part: Option<PartSeq>) -> Outcome<()> {
    tx.prepare_cached(
        "INSERT INTO participant (thread, part, position)
         SELECT ?1, ?2, count(*) FROM participant WHERE thread = ?1
         HAVING NOT EXISTS (SELECT 1 FROM participant WHERE thread = ?1 AND part IS ?2)",
    )?
    .execute((thread, part))?;
    Ok(())
}

fn tell(tx: &Tx<'_>, author: &Author<'_>, post: &Post<'_>, id: &str) {
    let project = Some(author.project());
    tx.signal(Signal {
        topic: Topic::Thread,
        project,
        part: None,
        id: post.thread_id.to_owned(),
    });
    for recipient in post.recipients {
        tx.signal(Signal {
            topic: Topic::Message,
            project,
            part: recipient.part,
            id: id.to_owned(),
        });
    }
}

/// Decides for each recipient whether it is woken. Of an agent's reply only the first `woken` parts are considered now (tools.md 6,
/// reply); the next sweep considers the others.
pub(super) fn wakes(
    tx: &Tx<'_>,
    post: &Post<'_>,
    message: MessageSeq,
    woken: usize,
    now: Time,
) -> Outcome<Vec<RecipientOutcome>> {
    let mut considered = 0;
    let mut outcomes = Vec::with_capacity(post.recipients.len());
    for recipient in post.recipients {
        let (wake, reason) = match recipient.part {
            None => ("none", Some("human")),
            Some(_) if post.fyi => ("none", Some("fyi")),
            Some(part) => {
                considered += 1;
                let decision = if considered > woken {
                    wake::hold_broadcast(tx, part, message, now)?
                } else {
                    wake::consider(tx, part, now)?
                };
                (decision.as_str(), decision.reason())
            }
        };
        outcomes.push(RecipientOutcome {
            part: recipient.name.clone(),
            wake,
            reason,
        });
    }
    Ok(outcomes)
}

/// Flags a thread for the person.
pub(super) fn flag(
    tx: &Tx<'_>,
    author: &Author<'_>,
    thread: ThreadSeq,
    thread_id: &str,
    now: Time,
) -> Outcome<()> {
    tx.prepare_cached("UPDATE thread SET flagged_at = coalesce(flagged_at, ?2) WHERE seq = ?1")?
        .execute((thread, now))?;
    attention(tx, author, thread_id);
    Ok(())
}

/// Takes the flag away.
pub(super) fn unflag(
    tx: &Tx<'_>,
    author: &Author<'_>,
    thread: ThreadSeq,
    thread_id: &str,
) -> Outcome<()> {
    let changed = tx
        .prepare_cached(
            "UPDATE thread SET flagged_at = NULL WHERE seq = ?1 AND flagged_at IS NOT NULL",
        )?
        .execute([thread])?;
    if changed > 0 {
        attention(tx, author, thread_id);
    }
    Ok(())
}

fn attention(tx: &Tx<'_>, author: &Author<'_>, thread_id: &str) {
    tx.signal(Signal {
        topic: Topic::Attention,
        project: Some(author.project()),
        part: None,
        id: thread_id.to_owned(),
    });
}
