//! Who is here (tools.md 6, roster).

use rusqlite::Connection;
use serde::Serialize;

use super::Heard;
use super::heard::ONLINE_MS;
use super::turn;
use crate::api::TurnView;
use crate::identity::part;
use crate::store::Outcome;
use crate::store::PartSeq;
use crate::store::ProjectSeq;
use crate::store::Time;

/// One part of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its name.
    pub part: String,
    /// Whether it is the main part.
    pub is_main: bool,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    /// Heard within the last 90 s.
    pub online: bool,
    /// When it was last heard, by its own call, by its hook or by a pager that saw its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// Whether it is the caller.
    pub you: bool,
    /// `paused`, `limited`, `offline`, `blocked`, `busy` or `idle`: the first that holds.
    pub state: &'static str,
    /// Our own words, at most 80 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A pager that still calls a screen busy this many milliseconds after the turn's end has looked again.
const SETTLES_MS: i64 = 5_000;

/// What a part's state is decided from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Since when it is paused.
    pub paused_at: Option<Time>,
    /// Until when it is parked.
    pub limited_until: Option<Time>,
    /// When it was last heard in any way.
    pub last_seen: Option<Time>,
    /// The pane's verdict, if its pager was heard within 90 s.
    pub pane: Option<(String, Option<String>, Option<Time>)>,
    /// When that pager was last heard.
    pub pane_heard: Option<Time>,
    /// Its turn, as its hook reports it.
    pub turn: TurnView,
}

/// The first state that holds, and why, in words.
#[must_use]
pub fn state(facts: &Facts, now: Time) -> (&'static str, Option<String>) {
    if let Some(since) = facts.paused_at {
        return ("paused", Some(format!("by a person, {}", age(now, since))));
    }
    if let Some(until) = facts.limited_until.filter(|until| *until > now) {
        return ("limited", Some(format!("until {until}")));
    }
    if facts
        .last_seen
        .is_none_or(|last| now.since(last) > ONLINE_MS)
    {
        return ("offline", Some(why_offline(facts, now)));
    }
    if let Some(blocked) = seen_blocked(facts, now) {
        return ("blocked", Some(blocked));
    }
    let for_long = |since: Option<Time>| since.map(|since| format!("for {}", age(now, since)));
    match (facts.turn.state.as_str(), &facts.pane) {
        ("blocked", _) => {
            let since = told_since(&facts.turn).map(|since| format!(", {}", age(now, since)));
            let why = format!("a question to its person{}", since.unwrap_or_default());
            ("blocked", Some(why))
        }
        ("busy", _) => ("busy", for_long(told_since(&facts.turn))),
        (_, Some((verdict, _, since)))
            if matches!(verdict.as_str(), "busy" | "starting") && !overtaken(facts, *since) =>
        {
            ("busy", for_long(*since))
        }
        _ => ("idle", None),
    }
}

/// Whether the hook said that the turn is over since the screen was seen busy: what the pager saw before says nothing then.
fn overtaken(facts: &Facts, busy_since: Option<Time>) -> bool {
    let idle_since = match facts.turn.state.as_str() {
        "idle" => told_since(&facts.turn),
        _ => None,
    };
    let Some(idle) = idle_since else {
        return false;
    };
    busy_since.is_none_or(|busy| busy <= idle)
        && facts
            .pane_heard
            .is_none_or(|heard| heard.since(idle) < SETTLES_MS)
}

fn told_since(turn: &TurnView) -> Option<Time> {
    turn.since.as_deref().and_then(Time::parse)
}

/// What stands in the way on its screen. One that is not understood stands in nobody's way while its hook says that it works.
fn seen_blocked(facts: &Facts, now: Time) -> Option<String> {
    let (verdict, detail, since) = facts.pane.as_ref()?;
    let words = match verdict.as_str() {
        "dialog" => match detail.as_deref() {
            Some("trust") => "trust question",
            Some("login") => "login screen",
            Some("update") => "update question",
            _ => "permission prompt",
        },
        "draft" => "a draft stands in the composer",
        "mode" => "the pane is in a mode",
        "unknown" if facts.turn.state != "busy" => "the screen is not understood",
        _ => return None,
    };
    Some(match since {
        Some(since) => format!("{words}, {}", age(now, *since)),
        None => words.to_owned(),
    })
}

/// What its pager sees in the agent's place says more than how long it was silent.
fn why_offline(facts: &Facts, now: Time) -> String {
    let heard = match facts.last_seen {
        None => "never heard".to_owned(),
        Some(last) => format!("last heard {} ago", age(now, last)),
    };
    let seen = facts
        .pane
        .as_ref()
        .map(|(verdict, detail, _)| (verdict.as_str(), detail.as_deref()));
    let pane = match seen {
        Some(("no_agent", Some("shell"))) => "a shell runs in its pane, not the agent",
        Some(("no_agent", Some("stopped"))) => "the agent in its pane is stopped",
        Some(("no_agent", Some("dead"))) => "its pane is dead",
        Some(("no_agent", _)) => "another program runs in its pane",
        Some(("no_pane" | "wrong_pane", _)) => "it has no pane",
        _ => return heard,
    };
    format!("{heard}; {pane}")
}

/// `40 s`, `12 min`, `3 h`, `2 d`.
fn age(now: Time, since: Time) -> String {
    let seconds = now.since(since) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The live parts of a project by name, as `you` sees them.
///
/// # Errors
/// A fault of the store.
pub fn rows(
    connection: &Connection,
    project: ProjectSeq,
    heard: &Heard,
    you: Option<PartSeq>,
    now: Time,
) -> Outcome<Vec<Row>> {
    let main: Option<PartSeq> = connection
        .prepare_cached("SELECT main_part FROM project WHERE seq = ?1")?
        .query_row([project], |row| row.get(0))?;
    part::live(connection, project)?
        .into_iter()
        .map(|part| {
            let pane = super::pane::of(connection, part.seq)?;
            let agent = pane.as_ref().and_then(|pane| pane.agent_at);
            let hook = turn::told_at(connection, part.seq)?;
            let last_seen = part.heard_at.max(heard.last(part.seq)).max(agent).max(hook);
            let facts = Facts {
                pane_heard: pane.as_ref().map(|pane| pane.heard_at),
                paused_at: part.paused_at,
                limited_until: part.limited_until,
                last_seen,
                pane: pane
                    .filter(|pane| now.since(pane.heard_at) <= super::pane::PAGER_SILENT_MS)
                    .map(|pane| (pane.state, pane.detail, pane.since)),
                turn: turn::of(connection, part.seq)?,
            };
            let (state, why) = state(&facts, now);
            Ok(Row {
                is_main: main == Some(part.seq),
                online: last_seen.is_some_and(|last| now.since(last) <= ONLINE_MS),
                last_seen: last_seen.map(Time::rfc3339),
                you: you == Some(part.seq),
                part: part.slug,
                nickname: part.nickname,
                state,
                why,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(at: i64) -> Facts {
        Facts {
            last_seen: Some(Time(at)),
            ..Facts::default()
        }
    }

    #[test]
    fn tools_094_the_first_state_that_holds() {
        let now = Time(1_000_000);
        assert_eq!(state(&Facts::default(), now).0, "offline");
        assert_eq!(state(&heard(1_000_000 - 89_000), now), ("idle", None));
        assert_eq!(state(&heard(1_000_000 - 91_000), now).0, "offline");
        let mut facts = heard(0);
        facts.limited_until = Some(Time(1_000_001));
        assert_eq!(state(&facts, now).0, "limited");
        facts.paused_at = Some(Time(0));
        assert_eq!(state(&facts, now).0, "paused");
    }

    #[test]
    fn a_shell_in_the_agents_pane_is_named() {
        let facts = Facts {
            pane: Some(("no_agent".into(), Some("shell".into()), None)),
            ..Facts::default()
        };
        let why = "never heard; a shell runs in its pane, not the agent";
        assert_eq!(state(&facts, Time(0)), ("offline", Some(why.into())));
    }

    #[test]
    fn a_screen_seen_busy_before_the_turn_ended_says_nothing_of_after() {
        let mut facts = heard(10_000);
        facts.pane = Some(("busy".into(), None, Some(Time(1_000))));
        facts.turn.state = "idle".into();
        facts.turn.since = Some(Time(8_000).rfc3339());
        for (heard, since, expected) in [
            (7_000, 1_000, "idle"),
            (9_000, 1_000, "idle"),
            (13_000, 1_000, "busy"),
            (9_000, 8_500, "busy"),
        ] {
            facts.pane_heard = Some(Time(heard));
            facts.pane = Some(("busy".into(), None, Some(Time(since))));
            assert_eq!(state(&facts, Time(14_000)).0, expected, "{heard} {since}");
        }
    }

    #[test]
    fn a_dialog_blocks_and_says_for_how_long() {
        let now = Time(1_000_000);
        let mut facts = heard(1_000_000);
        facts.pane = Some((
            "dialog".into(),
            Some("choice".into()),
            Some(Time(1_000_000 - 720_000)),
        ));
        assert_eq!(
            state(&facts, now),
            ("blocked", Some("permission prompt, 12 min".into()))
        );
    }

    #[test]
    fn the_hook_knows_what_a_screen_does_not_show() {
        let now = Time(1_000_000);
        let turn = |state: &str| TurnView {
            state: state.into(),
            since: Some(Time(880_000).rfc3339()),
            tag: None,
        };
        let pane = |verdict: &str| Some((verdict.to_owned(), None, Some(Time(940_000))));
        for (turn, pane, state_and_why) in [
            (turn("busy"), None, ("busy", Some("for 2 min"))),
            (turn("busy"), pane("ready"), ("busy", Some("for 2 min"))),
            (turn("busy"), pane("unknown"), ("busy", Some("for 2 min"))),
            (
                turn("busy"),
                pane("dialog"),
                ("blocked", Some("permission prompt, 1 min")),
            ),
            (
                turn("blocked"),
                pane("ready"),
                ("blocked", Some("a question to its person, 2 min")),
            ),
            (turn("idle"), pane("busy"), ("busy", Some("for 1 min"))),
            (turn("idle"), None, ("idle", None)),
        ] {
            let facts = Facts {
                turn,
                pane,
                ..heard(1_000_000)
            };
            let (found, why) = state(&facts, now);
            assert_eq!((found, why.as_deref()), state_and_why, "{facts:?}");
        }
    }
}
