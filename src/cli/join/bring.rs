//! A joined part brought back: its session, its agent with the conversation of before, its pane's mark, its playbook (cli.md 3). A living
//! agent is never started again, and nothing is ever typed.

use super::entry;
use super::entry::Around;
use super::exec;
use super::git::Place;
use super::pane;
use super::pane::Seat;
use super::pane::Wanted;
use super::playbook;
use super::record;
use super::register::Worktree;
use super::seat;
use super::seat::State;
use super::steps::word;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::tmux::Tmux;
use crate::cli::up;
use crate::config;
use crate::config::File;
use crate::hook;

/// What is to be done.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// Whether a missing agent is started.
    pub start: bool,
    /// Whether anything is changed at all.
    pub dry: bool,
    /// The conversation its hook reported last.
    pub conversation: Option<&'a str>,
}

/// What was found or done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// Its session.
    pub session: String,
    /// What became of its agent.
    pub agent: State,
}

/// What a worktree knows, if it is still that part's.
///
/// # Errors
/// Why it is not, with the command that mends it.
pub fn record_of(known: &Worktree) -> Result<File, Failure> {
    let part = known.part.as_str();
    let refuse = |message: String, fix: String| {
        Err(Failure::new(Exit::Refused, "conflict", message).fix(fix))
    };
    if !known.root.exists() {
        return refuse(
            format!("its worktree {} is gone", known.root.display()),
            format!("relayroom leave {part}"),
        );
    }
    match record::read(&known.root) {
        Ok(Some(record)) if record.part.as_deref() == Some(part) => Ok(record),
        _ => refuse(
            format!("{} does not know it any more", known.root.display()),
            format!("cd {} && relayroom join {part}", known.root.display()),
        ),
    }
}

/// Brings a part back.
///
/// # Errors
/// Why it cannot be, with the command that mends it.
pub async fn bring(context: &Context, known: &Worktree, how: How<'_>) -> Result<Brought, Failure> {
    let record = record_of(known)?;
    let (code, part) = (word(&record.code), word(&record.part));
    let socket = record.socket.clone();
    let tmux = Tmux::at(&socket.unwrap_or_else(|| up::pager::socket(context)));
    let usual = format!("{}-{}", known.project, known.part);
    let name = record.session.clone().unwrap_or(usual);
    let root = known.root.canonicalize()?;
    let found = pane::seat(
        &pane::list(&tmux),
        Wanted {
            root: &root,
            key: (code, part),
            session: &name,
            own: None,
        },
    )?;
    let brought = |session: &str, agent: State| Brought {
        session: session.to_owned(),
        agent,
    };
    if !how.dry {
        refresh(context, &root, &record).await;
    }
    match &found {
        Seat::Living(pane) => {
            if !how.dry {
                seat::take(&tmux, pane, code, part)?;
            }
            Ok(brought(&pane.name, State::Runs))
        }
        Seat::New(name) if !how.start => Ok(brought(name, State::NotStarted)),
        Seat::Own(pane) | Seat::Session(pane) if !how.start => {
            Ok(brought(&pane.name, State::NotStarted))
        }
        _ if how.dry => Ok(brought(&name, State::WouldStart)),
        seat => {
            let resume = how.conversation.unwrap_or_default();
            let words = exec::words(&root, Some(resume), &known.command)?;
            let key = (code, part);
            let made = seat::begin(&tmux, &context.env, seat, &root, &words, key).await?;
            let pane = made.pane;
            if record.session.as_deref() != Some(&pane.name) {
                let mut record = record.clone();
                record.session = Some(pane.name.clone());
                write(known, &record)?;
            }
            Ok(brought(&pane.name, State::Started))
        }
    }
}

/// Brings the playbook of a worktree up to date. An old one is better than no agent: what fails is told by `doctor`.
async fn refresh(context: &Context, root: &std::path::Path, record: &File) {
    let tracked = Place::of(root).is_ok_and(|place| place.tracks(&root.join(hook::playbook::FILE)));
    if !tracked && let Ok(served) = playbook::fetch(context, record).await {
        let _ = playbook::write(root, &served);
    }
}

/// Writes what a worktree knows.
///
/// # Errors
/// The file system's.
pub fn write(known: &Worktree, record: &File) -> Result<(), Failure> {
    let text = record::text(record);
    config::write_secret(&record::file(&known.root), text.trim_end())?;
    Ok(())
}

/// Gives a worktree another code or token: its record, its agent's entries, its pane's mark.
///
/// # Errors
/// A file that cannot be edited without loss; nothing was changed there then.
pub async fn rewrite(
    context: &Context,
    known: &Worktree,
    change: impl FnOnce(&mut File),
) -> Result<(), Failure> {
    let before = record_of(known)?;
    let mut record = before.clone();
    change(&mut record);
    entry::rewrite(
        Around {
            place: &Place::of(&known.root)?,
            env: &context.env,
        },
        &record,
    )
    .await?;
    write(known, &record)?;
    let Some(socket) = &record.socket else {
        return Ok(());
    };
    let tmux = Tmux::at(socket);
    let (old, part) = (word(&before.code), word(&before.part));
    let marked = pane::list(&tmux)
        .into_iter()
        .find(|pane| pane.is_of(old, part));
    match marked {
        Some(pane) => pane::mark(&tmux, &pane, word(&record.code), part),
        None => Ok(()),
    }
}
