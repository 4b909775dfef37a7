//! recall, learn, recall_used: what the project has learned.

use super::Blocks;
use crate::knowledge;
use crate::knowledge::NewEntry;
use crate::knowledge::RecallArgs;
use crate::mcp::args::Args;
use crate::mcp::render;
use crate::mcp::schema::Tool;
use crate::mcp::seat::Seat;

/// Entries of a recall without a limit.
const RECALLED: u32 = 5;

pub(super) async fn recall(tool: &Tool, seat: &Seat, mut args: Args) -> Blocks {
    let asked = RecallArgs {
        query: args.required("query")?,
        kind: args.text("kind")?,
        limit: args
            .integer(tool, "limit")?
            .and_then(|limit| u32::try_from(limit).ok())
            .unwrap_or(RECALLED),
    };
    let recalled = seat
        .write(move |tx, caller, now| knowledge::recall(tx, caller, &asked, now))
        .await?;
    render::object(&recalled, args.ignored)
}

pub(super) async fn learn(seat: &Seat, mut args: Args) -> Blocks {
    let title = args.required("title")?;
    let body = args.required("body")?;
    let kind = args.required("kind")?;
    let source = args.text("sourceThreadId")?;
    let entry = NewEntry::check(&kind, &title, &body)?;
    let learned = seat
        .write(move |tx, caller, now| knowledge::learn(tx, caller, &entry, source.as_deref(), now))
        .await?;
    render::object(&learned, args.ignored)
}

pub(super) async fn recall_used(seat: &Seat, mut args: Args) -> Blocks {
    let query = args.required("queryId")?;
    let entry = args.required("knowledgeId")?;
    seat.write(move |tx, caller, now| knowledge::recall_used(tx, caller, &query, &entry, now))
        .await?;
    render::object(&render::ok(), args.ignored)
}
