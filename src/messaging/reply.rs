//! Adding to a thread (tools.md 6, reply).

use serde::Serialize;

use super::author::Author;
use super::brakes;
use super::compose;
use super::digest::Digest;
use super::find;
use super::find::Thread;
use super::idempotency;
use super::idempotency::First;
use super::idempotency::Key;
use super::marks;
use super::participants;
use super::post;
use super::post::Post;
use super::post::RecipientOutcome;
use super::recipients;
use super::recipients::Recipient;
use super::search::ROWS_PER_THREAD;
use super::status;
use super::status::Status;
use crate::store::Outcome;
use crate::store::Refusal;
use crate::store::Time;
use crate::store::Tx;
use crate::store::quote;
use crate::store::text;
use crate::wake;

/// Arguments of `reply`, as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplyArgs {
    /// The thread.
    pub thread_id: String,
    /// 1–65,536 bytes.
    pub body: String,
    /// Asks for the urgent lane.
    pub urgent: bool,
    /// Flags the thread for the person.
    pub needs_human: bool,
    /// Wakes nobody, wants no answer.
    pub fyi: bool,
    /// Only `holding`.
    pub status: Option<String>,
    /// 1–128 characters; an agent's, a person's call ignores it.
    pub idempotency_key: Option<String>,
    /// A person may name whom it goes to; empty, and for agents, it goes to all participants.
    pub to: Vec<String>,
    /// A person's reply takes the needs-human flag away unless this is set.
    pub keep_flag: bool,
}

/// What `reply` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replied {
    /// The message.
    pub message_id: String,
    /// What happens next per recipient; absent in the answer to a repeated call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<RecipientOutcome>>,
    /// State of the thread after it; absent in the answer to a repeated call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_status: Option<&'static str>,
    /// The caller may not flag threads: it went out unflagged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub human_flag_ignored: bool,
    /// Messages of the thread to the caller that it was never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<u32>,
    /// The call was repeated with its key: the id is that of the first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub duplicate: bool,
}

/// The arguments, checked.
struct Call {
    thread_id: String,
    body: String,
    names: Vec<String>,
    holding: bool,
    key: Option<Key>,
}

/// Stores a message in a live thread. All checks come before the first row: a refused reply changes no flag, no mark and no status.
///
/// # Errors
/// `invalid_argument`, `too_large`, `control_character`, `unauthorized`, `key_reused`, `thread_not_found`, `thread_done`,
/// `not_participant`, `urgent_not_granted`, `no_recipients`, `bad_recipients` (a person's `to`), `rate_limited`, `repeated`.
pub fn reply(tx: &Tx<'_>, author: &Author<'_>, args: &ReplyArgs, now: Time) -> Outcome<Replied> {
    let call = read(args)?;
    author.may_write()?;
    if let Some(key) = &call.key
        && let Some(first) = key.find(tx, author, now)?
    {
        return Ok(Replied {
            message_id: first.message_id,
            recipients: None,
            thread_status: None,
            human_flag_ignored: false,
            unseen: None,
            duplicate: true,
        });
    }
    let thread = find::thread(tx, author.project(), &call.thread_id)?;
    takes_replies(&thread)?;
    let standing = participants::standing(tx, &thread, author.part())?;
    if call.holding && standing.is_none() {
        return Err(participants::not_participant("status holding").into());
    }
    author.may_urge(args.urgent)?;
    let recipients = recipients(tx, author, &thread, &call.names)?;
    let sameness = Digest::default()
        .text("reply")
        .number(thread.seq.0)
        .text(&call.body)
        .texts(compose::sorted(&recipients).into_iter())
        .finish();
    brakes::check(tx, author, &sameness, now)?;

    let writer = standing.unwrap_or_default();
    let status = status::after_reply(thread.status, writer, args.fyi, call.holding);
    let post = Post {
        thread: thread.seq,
        thread_id: &thread.id,
        ordinal: thread.messages,
        subject: &thread.subject,
        body: &call.body,
        urgent: args.urgent,
        fyi: args.fyi,
        sameness: &sameness,
        recipients: &recipients,
    };
    stored(tx, author, args, &call, &post, status, now)
}

fn read(args: &ReplyArgs) -> Result<Call, Refusal> {
    let thread_id = find::id("threadId", &args.thread_id)?;
    let body = compose::body(&args.body)?;
    compose::urgent_or_fyi(args.urgent, args.fyi)?;
    let holding = match args.status.as_deref().map(str::trim) {
        None => false,
        Some("holding") => true,
        Some(other) => {
            return Err(Refusal::new(
                "invalid_argument",
                format!(
                    "Nothing was sent: status is {}; a reply sets only holding. Leave it out, or use close.",
                    quote(other)
                ),
            ));
        }
    };
    let names = if args.to.is_empty() {
        Vec::new()
    } else {
        recipients::read(&args.to)?
    };
    let key = idempotency::read(args.idempotency_key.as_deref())?.map(|key| {
        let digest = Digest::default()
            .text("reply")
            .text(&thread_id)
            .text(&body)
            .texts(names.iter().map(String::as_str))
            .flags([args.urgent, args.needs_human, args.fyi, holding])
            .finish();
        Key::new(key, digest)
    });
    Ok(Call {
        thread_id,
        body,
        names,
        holding,
        key,
    })
}

/// Refuses a reply to a thread that is done, or full.
fn takes_replies(thread: &Thread) -> Result<(), Refusal> {
    if !thread.status.is_live() {
        let status = thread.status.as_str();
        return Err(Refusal::new(
            "thread_done",
            format!("Nothing was sent: this thread is {status}. Send a new thread."),
        )
        .with("status", status));
    }
    let messages = usize::try_from(thread.messages).unwrap_or(usize::MAX);
    let most = usize::try_from(ROWS_PER_THREAD).unwrap_or(usize::MAX);
    text::at_most("the thread", "messages", messages.saturating_add(1), most)
}

fn recipients(
    tx: &Tx<'_>,
    author: &Author<'_>,
    thread: &Thread,
    names: &[String],
) -> Outcome<Vec<Recipient>> {
    if !names.is_empty() {
        return recipients::resolve(tx, author, names);
    }
    let others = participants::others(tx, thread.seq, author.part())?;
    if others.is_empty() {
        return Err(Refusal::new(
            "no_recipients",
            "Nothing was sent: nobody else is left in this thread. Send a new thread to a live part, or close this one.",
        )
        .into());
    }
    Ok(others)
}

/// Writes all rows and decides the wakes; nothing is refused any more.
fn stored(
    tx: &Tx<'_>,
    author: &Author<'_>,
    args: &ReplyArgs,
    call: &Call,
    post: &Post<'_>,
    status: Status,
    now: Time,
) -> Outcome<Replied> {
    tx.prepare_cached("UPDATE thread SET status = ?2 WHERE seq = ?1")?
        .execute((post.thread, status.as_str()))?;
    if matches!(author, Author::Person { .. }) && !args.keep_flag {
        post::unflag(tx, author, post.thread, post.thread_id)?;
    }
    let flagged = args.needs_human && author.may_flag();
    if flagged {
        post::flag(tx, author, post.thread, post.thread_id, now)?;
    }
    let (message, message_id) = post::store(tx, author, post, now)?;
    let unseen = marks::read_by_reply(tx, author.project(), author.part(), post.thread, now)?;
    if let Some(key) = &call.key {
        let first = First {
            thread_id: post.thread_id.to_owned(),
            message_id: message_id.clone(),
        };
        key.remember(tx, author, &first, now)?;
    }
    if let Some(part) = author.part() {
        wake::consumed(tx, part, now)?;
    }
    let woken = match author {
        Author::Part(_) => recipients::cap(tx, author.project())?,
        // A person's message passes the broadcast hold (wake.md 4).
        Author::Person { .. } => usize::MAX,
    };
    let outcomes = post::wakes(tx, post, message, woken, now)?;
    Ok(Replied {
        message_id,
        recipients: Some(outcomes),
        thread_status: Some(status.as_str()),
        human_flag_ignored: args.needs_human && !flagged,
        unseen: (unseen > 0).then_some(unseen),
        duplicate: false,
    })
}
