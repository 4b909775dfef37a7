//! What `join` says in the end (cli.md 4, step 9).

use serde_json::json;

use super::Arguments;
use super::seat;
use super::steps::Joined;
use super::steps::word;
use crate::cli::context::Context;
use crate::cli::failure::Failure;

/// The line that shows in tmux what waits for a session's parts.
const STATUS: &str = "set -g status-right '#{@relayroom_status}'";

/// Prints part, project, session, how to get there, and what is still to do.
///
/// # Errors
/// A reader that has gone.
pub(super) fn joined(
    context: &Context,
    arguments: &Arguments,
    joined: &Joined,
) -> Result<(), Failure> {
    let record = &joined.record;
    let attach = seat::attach_words(context, &joined.seat).join(" ");
    let mut notes = joined.notes.clone();
    if joined.seat.agent == seat::State::NotStarted {
        notes.push(match arguments.no_start {
            true => "relayroom up starts the agent".to_owned(),
            false => format!(
                "no terminal to start the agent on: type relayroom join {} in its pane",
                arguments.part
            ),
        });
    }
    if context.screen.json {
        let written: Vec<_> = joined
            .written
            .iter()
            .map(|path| path.to_string_lossy())
            .collect();
        return context.screen.object(json!({
            "part": record.part,
            "project": record.project,
            "agent": record.agent,
            "session": joined.seat.session,
            "pane": joined.seat.pane,
            "state": joined.seat.agent.as_str(),
            "worktree": joined.root.to_string_lossy(),
            "attach": attach,
            "written": written,
            "todo": notes,
        }));
    }
    context.screen.fields(&[
        (
            "part",
            format!("{} of {}", word(&record.part), word(&record.project)),
        ),
        (
            "agent",
            format!("{} {}", word(&record.agent), joined.seat.agent.as_str()),
        ),
        ("session", joined.seat.session.clone()),
        ("attach", attach),
        ("tmux.conf", STATUS.to_owned()),
    ])?;
    for note in notes {
        context.screen.note(format!("to do: {note}"));
    }
    Ok(())
}
