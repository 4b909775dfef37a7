//! Turns as the hooks of agent CLIs report them, and what a part is doing by them (usage.md 7).
//!
//! - **A turn is one row**, whatever arrives twice, late or out of order: [`report`] judges each report by its own time.
//! - **A turn ends** with the first of its ends that is told; what nobody tells the screen does ([`look`]).
//! - **The state is of the present only**: reports that were old when they were sent, or that come from another pane than the joined one,
//!   change turns and not the state.
//!
//! `rule` and `state` decide, pure; `told` reads a report; `session`, `row` and `complete` are the tables; `view` says what a
//! part is doing, and `overtaken` what the screen knows better.

pub(in crate::activity) mod complete;
mod last;
pub(in crate::activity) mod overtaken;
pub(in crate::activity) mod row;
mod rule;
mod session;
mod state;
pub(in crate::activity) mod told;
pub(in crate::activity) mod view;

use std::time::Duration;

use rusqlite::Connection;

pub use last::last;
pub use overtaken::look;
pub use overtaken::next_look;
pub use overtaken::sweep;
pub use rule::Prompt;
pub use session::Session;
pub use told::Activity;
pub use view::heard;
pub use view::hook_seen;
pub use view::of;
pub use view::running_since;
pub use view::told_at;

#[cfg(test)]
pub(super) use session::BESIDE;
#[cfg(test)]
pub(super) use session::LET_GO;

use rule::Decision;
use rule::Facts;
use rule::Kind;
use rule::Step;
use rule::Told;
use session::Standing;

use super::Cause;
use super::Ending;
use super::lost;
use super::lost::What;
use super::pane;
use super::park;
use super::usage;
use crate::identity::Part;
use crate::store::Outcome;
use crate::store::Signal;
use crate::store::Time;
use crate::store::Topic;
use crate::store::TurnSeq;
use crate::store::Tx;
use crate::store::WakeSeq;

/// How long a part is parked whose CLI does not say when its provider's limit ends (wake.md 7).
const PARK: Duration = Duration::from_secs(30 * 60);

/// What a report came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reported {
    /// The turn it belongs to, if one is known.
    pub turn: Option<String>,
    /// When its prompt was submitted that began with a line of the wake.
    pub prompted_at: Option<Time>,
    /// Whether something changed that waking looks at.
    pub changed: bool,
}

/// Takes one report of `part`'s hook. `wake` is the part's wake that the tag of the report names, if there is one; who calls tells `wake`
/// of [`Reported::prompted_at`], and lets it consider the part if [`Reported::changed`].
///
/// # Errors
/// A fault of the store.
pub fn report(
    tx: &Tx<'_>,
    part: &Part,
    activity: &Activity<'_>,
    wake: Option<WakeSeq>,
) -> Outcome<Reported> {
    let of = Session {
        part: part.seq,
        provider: activity.provider,
        name: activity.session,
    };
    let before = self::of(tx, part.seq)?;
    session::hear(tx, &of, activity.place, activity.version, activity.now)?;
    let prompts = matches!(activity.kind, Kind::TurnStart | Kind::TurnEnd(_));
    let wake = wake.filter(|_| prompts);
    let told = Told {
        kind: activity.kind,
        at: activity.at,
        name: activity.turn,
        prompt: Prompt {
            cause: wake.map_or(activity.origin, |_| Cause::Wake),
            wake,
        },
    };
    let decision = rule::decide(&told, &facts(tx, &of, &told, activity)?);
    let done = apply(tx, &of, &decision, activity)?;
    lost::count(
        tx,
        part.seq,
        activity.at,
        What::Dropped,
        "",
        activity.dropped,
    )?;
    if done.prompted && activity.tag.is_some() && wake.is_none() {
        lost::count(tx, part.seq, activity.at, What::ForeignTag, "", 1)?;
    }
    let joined = pane::is_joined(
        pane::of(tx, part.seq)?.as_ref(),
        activity.place.tmux,
        activity.place.pane,
        activity.now,
    );
    let standing = session::standing(tx, &of)?;
    let counts = activity.fresh && joined && !activity.is_overtaken(standing.told_at);
    let standing = stands(standing, activity, counts.then_some(&done));
    session::stand(tx, &of, &standing)?;
    let limited = done.ended == Some(Ending::Limited) && park_of(tx, part, activity)?;
    let changed = self::of(tx, part.seq)? != before;
    if changed {
        tell(tx, part);
    }
    Ok(Reported {
        turn: match done.about {
            Some(turn) => Some(name_of(tx, turn)?),
            None => None,
        },
        prompted_at: (prompts && wake.is_some()).then_some(activity.at),
        changed: changed || limited || done.ended.is_some(),
    })
}

/// Notes that a post of replies came of a session: it is a report, too.
pub(super) fn hear(tx: &Tx<'_>, of: &Session<'_>, now: Time) -> Outcome<()> {
    session::hear(tx, of, session::Place::default(), None, now)
}

fn facts(
    tx: &Tx<'_>,
    of: &Session<'_>,
    told: &Told<'_>,
    activity: &Activity<'_>,
) -> Outcome<Facts> {
    let mut open = row::open(tx, of)?;
    if told.kind == (Kind::SessionStart { compaction: false }) {
        open.extend(session::open_beside(tx, of, activity.place)?);
    }
    Ok(Facts {
        named: match told.name {
            Some(name) => row::named(tx, of, name)?,
            None => None,
        },
        open,
        last: row::last(tx, of, told.at)?,
        next: row::next(tx, of, told.at)?,
        queued: session::standing(tx, of)?.queued,
    })
}

/// What the steps did.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    /// The turn the report is about.
    about: Option<TurnSeq>,
    /// Whether that turn is open.
    open: bool,
    /// How a turn ended, if one did: the one it is about, if several.
    ended: Option<Ending>,
    /// Whether a prompt was told of that was not known.
    prompted: bool,
}

fn apply(
    tx: &Tx<'_>,
    of: &Session<'_>,
    decision: &Decision,
    activity: &Activity<'_>,
) -> Outcome<Done> {
    let mut done = Done {
        about: decision.about,
        ..Done::default()
    };
    for step in &decision.steps {
        match step {
            Step::Begin {
                name,
                started_at,
                prompt,
                ended,
            } => {
                let new = row::New {
                    name: name.as_deref(),
                    started_at: *started_at,
                    ended: *ended,
                    prompt: *prompt,
                    shifted: activity.shifted,
                };
                done.about = Some(row::make(tx, of, &new)?);
                done.prompted = true;
                done.ended = ended.map_or(done.ended, |(_, ending)| Some(ending));
            }
            Step::Start { turn, at, prompt } => {
                let before = row::start(tx, *turn, *at, *prompt, activity.shifted)?;
                usage::recause(tx, *turn, before, *prompt)?;
                complete::settle(tx, *turn, activity.now)?;
                done.prompted = true;
            }
            Step::End { turn, at, ending } => {
                if row::end(tx, *turn, *at, *ending)? {
                    session::let_go(tx, of.part, *turn, *at)?;
                    complete::settle(tx, *turn, activity.now)?;
                    done.ended = Some(*ending);
                }
            }
            Step::Queue(queued) => {
                let mut standing = session::standing(tx, of)?;
                done.prompted = standing.queued != Some(*queued);
                standing.queued = Some(*queued);
                session::stand(tx, of, &standing)?;
            }
            Step::Unqueue => {
                let mut standing = session::standing(tx, of)?;
                standing.queued = None;
                session::stand(tx, of, &standing)?;
            }
        }
    }
    if let Some(turn) = done.about {
        let mut statement = tx.prepare_cached(
            "UPDATE turn SET title = coalesce(?2, title), summary = coalesce(?3, summary)
              WHERE seq = ?1 RETURNING ended_at IS NULL",
        )?;
        done.open =
            statement.query_row((turn, &activity.title, &activity.summary), |row| row.get(0))?;
    }
    Ok(done)
}

/// How the session stands after a report; `done` if it says something of the present.
fn stands(mut standing: Standing, activity: &Activity<'_>, done: Option<&Done>) -> Standing {
    let Some(done) = done else {
        return standing;
    };
    let at = Some(activity.at);
    standing.told_at = standing.told_at.max(at);
    standing.blocked_at = match activity.kind {
        Kind::Blocked => standing.blocked_at.or(at),
        _ => None,
    };
    match activity.kind {
        Kind::TurnStart if done.open => standing.open_turn = done.about,
        Kind::TurnEnd(_) if standing.open_turn.is_none() => {
            standing.idle_at = standing.idle_at.max(at);
        }
        _ => {}
    }
    // Heard of at all, it is idle unless it says otherwise.
    standing.idle_at = standing.idle_at.or(at);
    standing
}

/// Parks a part that ran into its provider's limit; false if that is over already.
fn park_of(tx: &Tx<'_>, part: &Part, activity: &Activity<'_>) -> Outcome<bool> {
    let until = activity.reset_at.unwrap_or(activity.at + PARK);
    if until <= activity.now {
        return Ok(false);
    }
    park::set(tx, part.seq, Some(until), activity.now)?;
    Ok(true)
}

fn name_of(connection: &Connection, turn: TurnSeq) -> Outcome<String> {
    let mut statement = connection.prepare_cached("SELECT turn FROM turn WHERE seq = ?1")?;
    Ok(statement.query_row([turn], |row| row.get(0))?)
}

fn tell(tx: &Tx<'_>, part: &Part) {
    tx.signal(Signal {
        topic: Topic::Part,
        project: Some(part.project),
        part: Some(part.seq),
        id: part.id.clone(),
    });
}
