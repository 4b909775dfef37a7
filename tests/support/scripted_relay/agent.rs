//! What a fake agent asks the scripted relay: its turns are told to the pager, and the first look for mail consumes the part's wake.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::Query;
use axum::extract::State;
use relayroom::api::TurnView;
use relayroom::api::hook::ActivityKind;
use relayroom::api::hook::ActivityReport;
use serde_json::Value;
use serde_json::json;

use super::Shared;

/// `POST /api/activity`.
pub(super) async fn activity(
    State(shared): State<Arc<Shared>>,
    Json(report): Json<ActivityReport>,
) -> Json<Value> {
    let state = match report.kind {
        ActivityKind::TurnStart => "busy",
        ActivityKind::Blocked => "blocked",
        _ => "idle",
    };
    {
        let mut script = shared.script.lock().unwrap();
        if let Some(part) = script.parts.get_mut(&report.part) {
            part.turn = TurnView {
                state: state.to_owned(),
                since: Some(report.at),
                tag: report.tag,
            };
        }
        script.rev += 1;
    }
    shared.changed.notify_waiters();
    Json(json!({"ok": true}))
}

/// `POST /mcp/<code>?part=<part>`: whatever is called, it is a look for mail.
pub(super) async fn inbox(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<HashMap<String, String>>,
) -> Json<Value> {
    {
        let mut script = shared.script.lock().unwrap();
        let name = &query["part"];
        let part = script.parts.get_mut(name);
        if let Some(tag) = part.and_then(|part| {
            part.wake = None;
            part.unread = 0;
            part.open.take()
        }) {
            script.consumed.push((name.clone(), tag));
        }
        script.rev += 1;
    }
    shared.changed.notify_waiters();
    Json(json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}))
}
