//! Starting a thread (tools.md 6, send).

use serde::Serialize;

use super::author::Author;
use super::brakes;
use super::compose;
use super::digest::Digest;
use super::idempotency;
use super::idempotency::First;
use super::idempotency::Key;
use super::post;
use super::post::Post;
use super::post::RecipientOutcome;
use super::recipients;
use super::recipients::Recipient;
use super::status::Status;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::ThreadSeq;
use crate::store::Time;
use crate::store::Tx;
use crate::store::new_id;
use crate::store::text;

/// Tags a thread may have.
const MOST_TAGS: usize = 10;

/// The tag that would pass for the flag.
const RESERVED_TAG: &str = "needs-human";

/// Arguments of `send`, as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendArgs {
    /// 1–200 characters on one line.
    pub subject: String,
    /// 1–65,536 bytes.
    pub body: String,
    /// 1–64 names.
    pub to: Vec<String>,
    /// At most 10, each 1–50 characters.
    pub tags: Vec<String>,
    /// Asks for the urgent lane.
    pub urgent: bool,
    /// Flags the thread for the person.
    pub needs_human: bool,
    /// Wakes nobody, wants no answer.
    pub fyi: bool,
    /// 1–128 characters; an agent's, a person's call ignores it.
    pub idempotency_key: Option<String>,
}

/// What `send` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The thread.
    pub thread_id: String,
    /// Its first message.
    pub message_id: String,
    /// What happens next per recipient; absent in the answer to a repeated call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<RecipientOutcome>>,
    /// The caller may not flag threads: it went out unflagged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub human_flag_ignored: bool,
    /// The call was repeated with its key: the ids are those of the first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// The arguments, checked.
struct Call {
    subject: String,
    body: String,
    names: Vec<String>,
    tags: Vec<String>,
    key: Option<Key>,
}

/// Stores a new thread with its first message. All checks come before the first row, in the order of tools.md 6: arguments, level,
/// idempotency key, capability, recipients, cap, brakes.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`, `reserved_tag`, `unauthorized`, `key_reused`, `urgent_not_granted`,
/// `bad_recipients`, `broadcast_cap`, `rate_limited`, `repeated`; nothing is stored then.
pub fn send(tx: &Tx<'_>, author: &Author<'_>, args: &SendArgs, now: Time) -> Outcome<Sent> {
    let call = read(args)?;
    author.may_write()?;
    if let Some(key) = &call.key
        && let Some(first) = key.find(tx, author, now)?
    {
        return Ok(Sent {
            thread_id: first.thread_id,
            message_id: first.message_id,
            recipients: None,
            human_flag_ignored: false,
            duplicate: true,
        });
    }
    author.may_urge(args.urgent)?;
    let recipients = recipients::resolve(tx, author, &call.names)?;
    recipients::within_cap(tx, author.project(), &recipients)?;
    let sameness = Digest::default()
        .text("send")
        .text(&call.subject)
        .text(&call.body)
        .texts(compose::sorted(&recipients).into_iter())
        .finish();
    brakes::check(tx, author, &sameness, now)?;
    stored(tx, author, args, &call, &recipients, &sameness, now)
}

fn read(args: &SendArgs) -> Result<Call, Refusal> {
    let subject = text::line("subject", &args.subject)?;
    text::not_blank("subject", &subject)?;
    text::at_most_chars("subject", &subject, 200)?;
    let body = compose::body(&args.body)?;
    let names = recipients::read(&args.to)?;
    let tags = tags(&args.tags)?;
    compose::urgent_or_fyi(args.urgent, args.fyi)?;
    let key = idempotency::read(args.idempotency_key.as_deref())?.map(|key| {
        let digest = Digest::default()
            .text("send")
            .text(&subject)
            .text(&body)
            .texts(names.iter().map(String::as_str))
            .texts(tags.iter().map(String::as_str))
            .flags([args.urgent, args.needs_human, args.fyi])
            .finish();
        Key::new(key, digest)
    });
    Ok(Call {
        subject,
        body,
        names,
        tags,
        key,
    })
}

fn tags(raw: &[String]) -> Result<Vec<String>, Refusal> {
    text::at_most("tags", "tags", raw.len(), MOST_TAGS)?;
    let mut tags = Vec::new();
    for tag in raw {
        let tag = text::line("tags", tag)?;
        text::not_blank("tags", &tag)?;
        text::at_most_chars("tags", &tag, 50)?;
        if tag.eq_ignore_ascii_case(RESERVED_TAG) {
            return Err(Refusal::new(
                "reserved_tag",
                "Nothing was sent: the tag needs-human is reserved. Use needsHuman:true to flag the thread for the person.",
            ));
        }
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

/// Writes all rows and decides the wakes; nothing is refused any more.
fn stored(
    tx: &Tx<'_>,
    author: &Author<'_>,
    args: &SendArgs,
    call: &Call,
    recipients: &[Recipient],
    sameness: &[u8],
    now: Time,
) -> Outcome<Sent> {
    let (thread, thread_id) = open(tx, author, call, now)?;
    let flagged = args.needs_human && author.may_flag();
    if flagged {
        post::flag(tx, author, thread, &thread_id, now)?;
    }
    let post = Post {
        thread,
        thread_id: &thread_id,
        ordinal: 0,
        subject: &call.subject,
        body: &call.body,
        urgent: args.urgent,
        fyi: args.fyi,
        sameness,
        recipients,
    };
    let (message, message_id) = post::store(tx, author, &post, now)?;
    if let Some(key) = &call.key {
        let first = First {
            thread_id: thread_id.clone(),
            message_id: message_id.clone(),
        };
        key.remember(tx, author, &first, now)?;
    }
    let outcomes = post::wakes(tx, &post, message, usize::MAX, now)?;
    Ok(Sent {
        recipients: Some(outcomes),
        human_flag_ignored: args.needs_human && !flagged,
        duplicate: false,
        message_id,
        thread_id,
    })
}

fn open(tx: &Tx<'_>, author: &Author<'_>, call: &Call, now: Time) -> Outcome<(ThreadSeq, String)> {
    let id = new_id();
    tx.prepare_cached(
        "INSERT INTO thread (id, project, subject, folded, status, opener, created_at, message_at, stirred_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?7)",
    )?
    .execute((
        &id,
        author.project(),
        &call.subject,
        text::fold(&call.subject),
        Status::Open.as_str(),
        author.part(),
        now,
    ))?;
    let thread = ThreadSeq(tx.last_insert_rowid());
    for tag in &call.tags {
        tx.prepare_cached("INSERT INTO thread_tag (thread, tag) VALUES (?1, ?2)")?
            .execute((thread, tag))?;
    }
    Ok((thread, id))
}
