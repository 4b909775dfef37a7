//! The tools that read: inbox, threads, show, search, roster, whoami. What inbox and show leave behind is that they showed something
//! to their reader; it is written after the answer, and not waited for (DESIGN 3).

use std::sync::Arc;

use super::Blocks;
use crate::activity::roster;
use crate::mcp::args::Args;
use crate::mcp::render;
use crate::mcp::schema::Tool;
use crate::mcp::seat::Seat;
use crate::messaging;
use crate::messaging::Author;
use crate::messaging::InboxArgs;
use crate::messaging::SearchArgs;
use crate::messaging::ShowArgs;
use crate::messaging::ThreadsArgs;
use crate::store::MessageSeq;
use crate::wake;

pub(super) async fn inbox(tool: &Tool, seat: &Seat, mut args: Args) -> Blocks {
    let asked = InboxArgs {
        unread_only: args.flag("unreadOnly")?,
        limit: args.integer(tool, "limit")?,
        before: args.text("before")?,
    };
    let now = seat.app.now();
    let (mut inbox, woken) = seat
        .glance(move |connection, caller| {
            let inbox = messaging::inbox(connection, caller, &asked, now)?;
            Ok((inbox, wake::is_open(connection, caller.part)?))
        })
        .await?;
    seat.app
        .empty_polls
        .advise(seat.caller.part, &mut inbox, seat.app.now());
    mark(seat, &inbox.shown, woken);
    render::list(inbox.list, "message", args.ignored)
}

pub(super) async fn threads(seat: &Seat, mut args: Args) -> Blocks {
    let asked = ThreadsArgs {
        status: args.text("status")?,
        q: args.text("q")?,
        before: args.text("before")?,
        part: None,
    };
    let list = seat
        .read(move |connection, caller| messaging::threads(connection, caller.project, &asked))
        .await?;
    render::list(list, "thread", args.ignored)
}

pub(super) async fn show(seat: &Seat, mut args: Args) -> Blocks {
    let asked = ShowArgs {
        thread_id: args.required("threadId")?,
        after: args.text("after")?,
    };
    let now = seat.app.now();
    let (shown, woken) = seat
        .read(move |connection, caller| {
            let shown = messaging::show(connection, &Author::Part(caller), &asked, now)?;
            Ok((shown, wake::is_open(connection, caller.part)?))
        })
        .await?;
    mark(seat, &shown.shown, woken);
    render::object(&shown, args.ignored)
}

/// Writes that messages were shown and the wake consumed, if there is anything of it.
fn mark(seat: &Seat, shown: &[MessageSeq], woken: bool) {
    if shown.is_empty() && !woken {
        return;
    }
    let part = seat.caller.part;
    if !seat.app.waiting_marks.add(part, shown, seat.app.now()) {
        return;
    }
    let app = Arc::clone(&seat.app);
    let queued = seat.app.store.post(move |tx| {
        app.waiting_marks.take(part).map_or(Ok(()), |(shown, at)| {
            messaging::mark_shown(tx, part, &shown, at)
        })
    });
    if !queued {
        seat.app.waiting_marks.take(part);
    }
}

pub(super) async fn search(tool: &Tool, seat: &Seat, mut args: Args) -> Blocks {
    let asked = SearchArgs {
        query: args.required("query")?,
        limit: args.integer(tool, "limit")?,
        before: args.text("before")?,
    };
    let list = seat
        .read(move |connection, caller| messaging::search(connection, caller.project, &asked))
        .await?;
    render::list(list, "thread", args.ignored)
}

pub(super) async fn roster(seat: &Seat, args: Args) -> Blocks {
    let heard = Arc::clone(&seat.app.heard);
    let now = seat.app.now();
    let rows = seat
        .read(move |connection, caller| {
            roster::rows(connection, caller.project, &heard, Some(caller.part), now)
        })
        .await?;
    render::whole(rows, "part", args.ignored)
}

pub(super) async fn whoami(seat: &Seat, args: Args) -> Blocks {
    let whoami = seat.glance(messaging::whoami).await?;
    render::object(&whoami, args.ignored)
}
