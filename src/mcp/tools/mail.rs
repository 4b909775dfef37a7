//! The tools that write mail: send, reply, ack, close.

use super::Blocks;
use crate::mcp::args::Args;
use crate::mcp::render;
use crate::mcp::seat::Seat;
use crate::messaging;
use crate::messaging::Author;
use crate::messaging::CloseArgs;
use crate::messaging::LessonArgs;
use crate::messaging::ReplyArgs;
use crate::messaging::SendArgs;

pub(super) async fn send(seat: &Seat, mut args: Args) -> Blocks {
    let send = SendArgs {
        subject: args.required("subject")?,
        body: args.required("body")?,
        to: args.list("to", true)?.unwrap_or_default(),
        tags: args.list("tags", false)?.unwrap_or_default(),
        urgent: args.flag("urgent")?,
        needs_human: args.flag("needsHuman")?,
        fyi: args.flag("fyi")?,
        idempotency_key: args.text("idempotencyKey")?,
    };
    let sent = seat
        .write(move |tx, caller, now| messaging::send(tx, &Author::Part(caller), &send, now))
        .await?;
    render::object(&sent, args.ignored)
}

pub(super) async fn reply(seat: &Seat, mut args: Args) -> Blocks {
    let reply = ReplyArgs {
        thread_id: args.required("threadId")?,
        body: args.required("body")?,
        urgent: args.flag("urgent")?,
        needs_human: args.flag("needsHuman")?,
        fyi: args.flag("fyi")?,
        status: args.text("status")?,
        idempotency_key: args.text("idempotencyKey")?,
        ..ReplyArgs::default()
    };
    let replied = seat
        .write(move |tx, caller, now| messaging::reply(tx, &Author::Part(caller), &reply, now))
        .await?;
    render::object(&replied, args.ignored)
}

pub(super) async fn ack(seat: &Seat, mut args: Args) -> Blocks {
    let message = args.required("messageId")?;
    let acked = seat
        .write(move |tx, caller, now| messaging::ack(tx, caller, &message, now))
        .await?;
    render::object(&acked, args.ignored)
}

pub(super) async fn close(seat: &Seat, mut args: Args) -> Blocks {
    let thread_id = args.required("threadId")?;
    let lesson = match args.inner("lesson", "lesson.")? {
        Some(mut lesson) => Some(LessonArgs {
            title: lesson.text("title")?,
            body: lesson.text("body")?,
            kind: lesson.text("kind")?,
        }),
        None => None,
    };
    let close = CloseArgs { thread_id, lesson };
    let closed = seat
        .write(move |tx, caller, now| messaging::close(tx, &Author::Part(caller), &close, now))
        .await?;
    render::object(&closed, args.ignored)
}
