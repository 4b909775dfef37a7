//! `POST /api/pager/poll`: heartbeat and long poll in one. It is level-triggered: every answer holds all its pager has to know, so a lost
//! one costs nothing, and a signal only says that it is worth looking again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::Request;
use axum::extract::State;
use http::StatusCode;
use rusqlite::Connection;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use crate::activity::turn;
use crate::api::MAX_PARTS;
use crate::api::MAX_WAIT_MS;
use crate::api::PollAnswer;
use crate::api::PollPartAnswer;
use crate::api::PollRequest;
use crate::http::app::App;
use crate::http::failure::Failure;
use crate::http::machine::Credentials;
use crate::identity::Denial;
use crate::identity::access;
use crate::identity::access::PartDenied;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Signal;
use crate::store::Time;
use crate::wake;
use crate::wake::poll::Served;

/// How long a pager waits before it polls a relay that is stopping.
const RETRY_MS: u64 = 500;

/// Least time between two looks at what a screen lets go of.
const RECHECK: Duration = Duration::from_millis(500);

/// Answers at once if there is news, else when there is, or at the end of the wait.
pub(super) async fn poll(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Json<PollAnswer>, Failure> {
    let begun = Instant::now();
    let (parts, body) = request.into_parts();
    let credentials = Credentials::of(&parts, &app);
    credentials.enter(&app, &parts).await?;
    let poll: PollRequest = super::read(&parts.headers, body).await?;
    check(&poll)?;
    let until = begun + Duration::from_millis(poll.wait_ms);
    let watch = Watch {
        poll: Arc::new(poll),
        credentials,
    };
    // Before the first look: what is told between looking and listening must not be missed.
    let mut signals = app.store.signals();
    let mut look = watch.look(&app, watch.poll.claim).await?;
    while look.rev() == watch.poll.seen {
        let news = news(&app, &mut signals, &look, until).await;
        if matches!(news, News::Stopping) {
            break;
        }
        // The screen has let go of a turn: to write that down is the heartbeat's.
        let due = matches!(news, News::Due);
        look = watch.look(&app, watch.poll.claim && due).await?;
        let ends = matches!(news, News::None);
        // A claim is a write: worth it to hand out a wake, and to send a leased one on its way with a whole lease.
        if watch.poll.claim && (look.rev() != watch.poll.seen || ends && look.has_wake()) {
            look = watch.look(&app, true).await?;
        }
        if ends {
            break;
        }
    }
    if app.stop.is_cancelled() {
        return Ok(Json(stopping(&app, look)));
    }
    Ok(Json(answer(&app, look)))
}

fn check(poll: &PollRequest) -> Result<(), Failure> {
    super::check_pager(&poll.pager)?;
    if poll.wait_ms > MAX_WAIT_MS || poll.parts.len() > MAX_PARTS {
        return Err(Failure::bad_request(
            "malformed",
            format!("wait_ms is over {MAX_WAIT_MS}, or there are more than {MAX_PARTS} parts"),
            "use the pager of this relay's version",
        ));
    }
    Ok(())
}

fn answer(app: &App, look: Look) -> PollAnswer {
    PollAnswer {
        rev: look.rev(),
        instance: app.instance.clone(),
        retry_ms: None,
        parts: look.entries,
    }
}

/// No wake is handed out by a relay that will not hear what becomes of it.
fn stopping(app: &App, mut look: Look) -> PollAnswer {
    for entry in &mut look.entries {
        entry.wake = None;
    }
    PollAnswer {
        retry_ms: Some(RETRY_MS),
        ..answer(app, look)
    }
}

/// Why a poll stopped waiting.
enum News {
    Perhaps,
    /// What a hook reported is let go of about now.
    Due,
    None,
    Stopping,
}

/// Waits for a signal that may concern the poll.
async fn news(app: &App, signals: &mut Receiver<Signal>, look: &Look, until: Instant) -> News {
    let due = look.due.filter(|due| *due < until);
    loop {
        let told = tokio::select! {
            () = app.stop.cancelled() => return News::Stopping,
            () = tokio::time::sleep_until(due.unwrap_or(until)) => {
                return if due.is_some() { News::Due } else { News::None };
            }
            told = signals.recv() => told,
        };
        match told {
            Ok(signal) if !look.concerns(&signal) => {}
            Ok(_) | Err(RecvError::Lagged(_)) => {
                // One look serves all that was told by now.
                while signals.try_recv().is_ok() {}
                return News::Perhaps;
            }
            Err(RecvError::Closed) => return News::Stopping,
        }
    }
}

/// A poll, and who sent it.
struct Watch {
    poll: Arc<PollRequest>,
    credentials: Credentials,
}

/// What was found for each part, in the order asked.
struct Look {
    entries: Vec<PollPartAnswer>,
    parts: HashSet<PartSeq>,
    projects: HashSet<ProjectSeq>,
    /// When the screen of one of the parts lets go of what its hook reported, if it stays as it is.
    due: Option<Instant>,
}

impl Look {
    fn rev(&self) -> String {
        wake::poll::rev(&self.entries)
    }

    fn has_wake(&self) -> bool {
        self.entries.iter().any(|entry| entry.wake.is_some())
    }

    /// Whether a signal may change what was found. Signals of no part may be a code, a ban or a token.
    fn concerns(&self, signal: &Signal) -> bool {
        match (signal.part, signal.project) {
            (Some(part), _) => self.parts.contains(&part),
            (None, Some(project)) => self.projects.contains(&project),
            (None, None) => true,
        }
    }
}

impl Watch {
    /// Looks, after asking again who is polling; with `claim` it also is the heartbeat, and leases what may be typed.
    async fn look(&self, app: &App, claim: bool) -> Result<Look, Failure> {
        let now = app.now();
        let credentials = self.credentials.clone();
        let poll = Arc::clone(&self.poll);
        let seen = if claim {
            app.store
                .write(move |tx| {
                    see(tx, &credentials, &poll, now, |seats| {
                        wake::poll::claim(tx, &poll, seats, now)
                    })
                })
                .await?
        } else {
            app.store
                .read(move |connection| {
                    see(connection, &credentials, &poll, now, |seats| {
                        if poll.claim {
                            wake::poll::view(connection, &poll.pager, seats, now)
                        } else {
                            wake::poll::look(connection, &poll.pager, seats, now)
                        }
                    })
                })
                .await?
        };
        let look = seen?;
        let dead = |entry: &PollPartAnswer| {
            entry.error.as_deref() == Some(PartDenied::UnknownCode.as_str())
        };
        if !look.entries.is_empty() && look.entries.iter().all(dead) {
            let mut failure = Failure::new(
                StatusCode::NOT_FOUND,
                PartDenied::UnknownCode.as_str(),
                "no project has any of these connect codes",
                "join the panes again: a code was rotated or its project archived",
            );
            failure.counts = self.credentials.is_code_alone();
            return Err(failure);
        }
        Ok(look)
    }
}

/// Sorts out which parts the pager may have and asks `served` about those.
fn see(
    connection: &Connection,
    credentials: &Credentials,
    poll: &PollRequest,
    now: Time,
    served: impl FnOnce(&[Served<'_>]) -> Outcome<Vec<PollPartAnswer>>,
) -> Outcome<Result<Look, Denial>> {
    let caller = match credentials.ask(connection, now)? {
        Ok(caller) => caller,
        Err(denial) => return Ok(Err(denial)),
    };
    let mut seats = Vec::new();
    let mut refused = Vec::new();
    let mut projects = HashSet::new();
    for asked in &poll.parts {
        let found = access::pager_part(connection, &caller, &asked.code, &asked.part)?;
        if let Ok(part) = &found {
            seats.push(Served {
                part: part.seq,
                asked,
            });
            projects.insert(part.project);
        }
        refused.push(found.err());
    }
    let parts = seats.iter().map(|seat| seat.part).collect();
    let found = served(&seats)?;
    let mut due = None;
    for (seat, entry) in seats.iter().zip(&found) {
        if !poll.claim || entry.error.is_some() {
            continue;
        }
        let next = turn::next_look(connection, seat.part, now)?;
        // Never at once: who claims has just written what was due.
        let wait =
            next.map(|next| Duration::from_millis(next.since(now).unsigned_abs()).max(RECHECK));
        due = [due, wait].into_iter().flatten().min();
    }
    let mut found = found.into_iter();
    let entries = poll
        .parts
        .iter()
        .zip(refused)
        .filter_map(|(asked, refused)| match refused {
            None => found.next(),
            Some(denied) => Some(PollPartAnswer {
                code: asked.code.clone(),
                part: asked.part.clone(),
                error: Some(denied.as_str().to_owned()),
                ..PollPartAnswer::default()
            }),
        })
        .collect();
    Ok(Ok(Look {
        entries,
        parts,
        projects,
        due: due.map(|due| Instant::now() + due),
    }))
}
