//! What a part is doing, by its sessions (usage.md 7): pure. A hook's word holds until the next, or until the screen has shown for long
//! enough that it no longer can.

use std::time::Duration;

use crate::api::TurnView;
use crate::store::Time;
use crate::store::TurnSeq;

/// A screen that is ready for this long has no turn behind it.
const TURN_GONE: Duration = Duration::from_secs(60);

/// Two looks so far apart without the dialog: it is gone.
const DIALOG_GONE: Duration = Duration::from_secs(2);

/// A session that is busy or blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Active {
    pub provider: String,
    pub session: String,
    pub turn: Option<TurnSeq>,
    /// When that turn began.
    pub began: Option<Time>,
    /// Tag of the wake it began with.
    pub tag: Option<String>,
    pub blocked_at: Option<Time>,
    /// When its last report came.
    pub heard_at: Time,
}

/// The part's turn: `blocked` before `busy` before `idle`, each since the first of its sessions is.
pub(super) fn view(active: &[Active], idle_at: Option<Time>) -> TurnView {
    let blocked = active
        .iter()
        .filter(|one| one.blocked_at.is_some())
        .min_by_key(|one| one.blocked_at);
    let busy = active
        .iter()
        .filter(|one| one.turn.is_some())
        .min_by_key(|one| one.began);
    let of = |state: &str, since: Option<Time>, tag: Option<&String>| TurnView {
        state: state.to_owned(),
        since: since.map(Time::rfc3339),
        tag: tag.cloned(),
    };
    match (blocked, busy, idle_at) {
        (Some(one), _, _) => of("blocked", one.blocked_at, one.tag.as_ref()),
        (None, Some(one), _) => of("busy", one.began, one.tag.as_ref()),
        (None, None, Some(at)) => of("idle", Some(at), None),
        (None, None, None) => TurnView::default(),
    }
}

/// What the pager saw on the part's screen, beside what any hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    /// `ready`, `busy`, `dialog`, …
    pub word: String,
    /// Since when, unbroken.
    pub since: Time,
}

/// What a screen does to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing, as far as it goes.
    None,
    /// Something, if it stays as it is until then.
    Later(Time),
    /// The dialog is gone and the turn goes on.
    DialogGone,
    /// The turn is over and nobody said so, since then.
    Lost(Time),
}

/// What the screen does to a session now. It counts from the later of its begin and the session's last report: neither a screen that has not
/// caught up with a report, nor a report that a screen has long overtaken, decides.
pub(super) fn effect(active: &Active, screen: &Screen, now: Time) -> Effect {
    let since = screen.since.max(active.heard_at);
    let blocked = active.blocked_at.is_some();
    let (wait, then) = match screen.word.as_str() {
        "ready" if blocked => (DIALOG_GONE, Effect::Lost(screen.since)),
        "ready" => (TURN_GONE, Effect::Lost(screen.since)),
        "busy" | "draft" if blocked => (DIALOG_GONE, Effect::DialogGone),
        _ => return Effect::None,
    };
    let due = since + wait;
    if now < due { Effect::Later(due) } else { then }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(began: Option<i64>, blocked: Option<i64>, heard: i64) -> Active {
        Active {
            provider: "claude".into(),
            session: "s".into(),
            turn: began.map(TurnSeq),
            began: began.map(Time),
            tag: None,
            blocked_at: blocked.map(Time),
            heard_at: Time(heard),
        }
    }

    #[test]
    fn the_first_of_blocked_busy_and_idle_that_holds() {
        let state = |active: &[Active], idle: Option<i64>| {
            let view = view(active, idle.map(Time));
            (view.state, view.since.and_then(|at| Time::parse(&at)))
        };
        let busy = active(Some(1_000), None, 0);
        let dialog = active(Some(500), Some(2_000), 0);
        for (all, idle, expected) in [
            (vec![], None, ("none", None)),
            (vec![], Some(3_000), ("idle", Some(3_000))),
            (vec![busy.clone()], Some(3_000), ("busy", Some(1_000))),
            (vec![busy, dialog], None, ("blocked", Some(2_000))),
        ] {
            let expected = (expected.0.to_owned(), expected.1.map(Time));
            assert_eq!(state(&all, idle), expected);
        }
    }

    #[test]
    fn usage_031_a_ready_screen_lets_go_after_its_time_and_no_other_does() {
        let screen = |word: &str, since: i64| Screen {
            word: word.into(),
            since: Time(since),
        };
        let busy = active(Some(1_000), None, 10_000);
        let dialog = active(Some(1_000), Some(10_000), 10_000);
        for (who, screen, now, expected) in [
            (
                &busy,
                screen("ready", 20_000),
                79_999,
                Effect::Later(Time(80_000)),
            ),
            (
                &busy,
                screen("ready", 20_000),
                80_000,
                Effect::Lost(Time(20_000)),
            ),
            (
                &busy,
                screen("ready", 5_000),
                69_999,
                Effect::Later(Time(70_000)),
            ),
            (
                &busy,
                screen("ready", 5_000),
                70_000,
                Effect::Lost(Time(5_000)),
            ),
            (&busy, screen("busy", 20_000), 900_000, Effect::None),
            (&busy, screen("draft", 20_000), 900_000, Effect::None),
            (&dialog, screen("dialog", 10_000), 900_000, Effect::None),
            (
                &dialog,
                screen("ready", 20_000),
                21_999,
                Effect::Later(Time(22_000)),
            ),
            (
                &dialog,
                screen("ready", 20_000),
                22_000,
                Effect::Lost(Time(20_000)),
            ),
            (&dialog, screen("busy", 20_000), 22_000, Effect::DialogGone),
            (&dialog, screen("unknown", 20_000), 99_000, Effect::None),
        ] {
            assert_eq!(
                effect(who, &screen, Time(now)),
                expected,
                "{screen:?} {now}"
            );
        }
    }
}
