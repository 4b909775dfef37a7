//! event: what a part says about its own work.

use serde_json::Value;

use super::Blocks;
use crate::activity::event;
use crate::activity::event::EventArgs;
use crate::knowledge;
use crate::mcp::args::Args;
use crate::mcp::render;
use crate::mcp::seat::Seat;
use crate::wake;

pub(super) async fn event(seat: &Seat, mut args: Args) -> Blocks {
    let event = EventArgs {
        kind: args.required("type")?,
        detail: args.object("detail")?,
        usage: args.object("usage")?,
        parent_event_id: args.text("parentEventId")?,
        spawned_agent_label: args.text("spawnedAgentLabel")?,
        started_at: args.text("startedAt")?,
        ended_at: args.text("endedAt")?,
    };
    let recorded = seat
        .write(move |tx, caller, now| {
            let contradicted = contradicted(&event);
            if contradicted.is_some() {
                caller.may_write()?;
            }
            let is_error = event.kind.trim() == "error";
            let mut recorded = event::record(tx, caller, event, now)?;
            if let Some(id) = contradicted.filter(|_| is_error) {
                let outcome = knowledge::contradict(tx, caller, &id, now)?;
                recorded.contradiction = serde_json::to_value(outcome).ok();
            }
            if recorded.limited_until.is_some() {
                wake::consider(tx, caller.part, now)?;
            }
            Ok(recorded)
        })
        .await?;
    render::object(&recorded, args.ignored)
}

/// The entry `detail.contradicts` names; what is no text names none that exists.
fn contradicted(event: &EventArgs) -> Option<String> {
    match event.detail.as_ref()?.get("contradicts")? {
        Value::Null => None,
        Value::String(id) => Some(id.clone()),
        other => Some(other.to_string()),
    }
}
