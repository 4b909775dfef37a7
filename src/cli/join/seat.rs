//! A part's seat taken: its pane found or made, its agent started there, the pager told whose it is (cli.md 3; 4, steps 7 and 8).

use std::path::Path;
use std::process::Command;

use super::checks::Checked;
use super::exec;
use super::pane;
use super::pane::Made;
use super::pane::Pane;
use super::pane::Seat;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::cli::tmux::Tmux;
use crate::cli::up;
use crate::config::Env;
use crate::pager::setup;

/// Where a part lives now.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its session, as tmux reports it.
    pub session: String,
    /// The tmux server.
    pub tmux: Tmux,
    /// Its pane; `None` where nothing was to be started.
    pub pane: Option<String>,
    /// What became of the agent.
    pub agent: State,
    /// Whether this very process is to become the agent.
    pub starts_here: bool,
    made: Option<Made>,
}

impl Placed {
    /// Ends what was started for it.
    pub(super) fn undo(&self) {
        if let Some(made) = &self.made {
            made.undo(&self.tmux);
        }
    }
}

/// What became of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was there.
    Runs,
    /// It was started.
    Started,
    /// It would be, by a command that starts nothing.
    WouldStart,
    /// It is not there, and nobody asked for it.
    NotStarted,
}

impl State {
    /// The word of tables and of JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Started => "started",
            Self::WouldStart => "would be started",
            Self::NotStarted => "not started",
        }
    }
}

/// Takes the seat that was found; a session that was made goes again if its agent ends at once.
///
/// # Errors
/// tmux's complaint; an agent that ended at once.
pub(super) async fn settle(
    context: &Context,
    checked: &Checked,
    (code, part): (&str, &str),
    start: bool,
) -> Result<Placed, Failure> {
    let tmux = &checked.tmux;
    let placed = |session: &str, pane: Option<&Pane>, agent: State, starts_here: bool| Placed {
        session: session.to_owned(),
        tmux: tmux.clone(),
        pane: pane.map(|pane| pane.id.clone()),
        agent,
        starts_here,
        made: None,
    };
    match &checked.seat {
        Seat::Living(pane) => {
            take(tmux, pane, code, part)?;
            Ok(placed(&pane.name, Some(pane), State::Runs, false))
        }
        Seat::Own(pane) => {
            take(tmux, pane, code, part)?;
            let here = start && context.screen.can_ask();
            let state = match here {
                true => State::Started,
                false => State::NotStarted,
            };
            Ok(placed(&pane.name, Some(pane), state, here))
        }
        Seat::Session(pane) if !start => {
            take(tmux, pane, code, part)?;
            Ok(placed(&pane.name, Some(pane), State::NotStarted, false))
        }
        Seat::New(name) if !start => Ok(placed(name, None, State::NotStarted, false)),
        seat => {
            let words = exec::words(&checked.place.root, None, &checked.command)?;
            let root = &checked.place.root;
            let made = begin(tmux, &context.env, seat, root, &words, (code, part)).await?;
            let pane = &made.pane;
            Ok(Placed {
                made: Some(made.clone()),
                ..placed(&pane.name, Some(pane), State::Started, false)
            })
        }
    }
}

/// Starts an agent in a pane of its own and marks it.
///
/// # Errors
/// tmux's complaint; an agent that ended at once. No pane is left then.
pub(in crate::cli) async fn begin(
    tmux: &Tmux,
    env: &Env,
    seat: &Seat,
    root: &Path,
    words: &[String],
    (code, part): (&str, &str),
) -> Result<Made, Failure> {
    let made = pane::start(tmux, env, seat, root, words)?;
    let marked = take(tmux, &made.pane, code, part);
    if !pane::watch(tmux, &made.pane).await {
        return Err(Failure::fault(format!(
            "the agent ended at once; to see why, type in {}: {}",
            root.display(),
            words.join(" ")
        )));
    }
    if let Err(failure) = marked {
        made.undo(tmux);
        return Err(failure);
    }
    Ok(made)
}

/// Marks the pane, and no other, as the part's.
///
/// # Errors
/// tmux's complaint.
pub(in crate::cli) fn take(
    tmux: &Tmux,
    pane: &Pane,
    code: &str,
    part: &str,
) -> Result<(), Failure> {
    pane::unmark(tmux, code, part, Some(pane));
    pane::mark(tmux, pane, code, part)
}

/// The command that shows a session.
#[must_use]
pub fn attach_words(context: &Context, placed: &Placed) -> Vec<String> {
    let socket = placed.tmux.socket();
    let inside = context.env.get("TMUX").is_some() && up::pager::socket(context) == socket;
    let mut words = vec!["tmux".to_owned()];
    if !inside && socket != setup::socket(None, &Env::default()) {
        words.extend(["-S".to_owned(), socket.to_string_lossy().into_owned()]);
    }
    let verb = match inside {
        true => "switch-client",
        false => "attach-session",
    };
    words.extend([
        verb.to_owned(),
        "-t".to_owned(),
        format!("={}", placed.session),
    ]);
    words
}

/// The process that shows a session.
#[must_use]
pub fn attach(context: &Context, placed: &Placed) -> Command {
    let words = attach_words(context, placed);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}
