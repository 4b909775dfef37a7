//! Reading a pane: from the facts of one look to a [`Verdict`], without I/O and without a clock (pager.md 4).
//!
//! The promise is one-sided: whatever cannot be read, or could be read two ways, is never [`Kind::Ready`].
//! `agent` looks at processes, `composer`, `dialog` and `live` at the screen, `sample` at time; [`verdict()`] ranks what they found.

pub mod agent;
mod composer;
mod dialog;
mod live;
mod look;
mod sample;
mod verdict;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod moments;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use super::facts::Absent;
use super::facts::Facts;
use super::facts::Identity;
use super::facts::PaneFacts;
use super::facts::Turn;
use super::facts::TurnState;
use super::rules::Rules;

use look::Look;

pub use agent::Agent;
pub use sample::Sample;
pub use verdict::Kind;
pub use verdict::Squeezed;
pub use verdict::Standing;
pub use verdict::Verdict;

/// Kind, detail, evidence.
type Finding = (Kind, &'static str, String);

/// Judges one look. `previous` is the [`Verdict::sample`] of the look before, `now` in milliseconds since the epoch.
#[must_use]
pub fn verdict(
    rules: &Rules,
    facts: &Facts,
    previous: Option<&Sample>,
    turn: &Turn,
    now: i64,
) -> Verdict {
    let pane = match right_pane(facts) {
        Ok(pane) => pane,
        Err(finding) => return Verdict::bare(finding),
    };
    let agent = match agent(rules, facts, pane) {
        Ok(agent) => agent,
        Err(finding) => return Verdict::bare(finding),
    };
    let look = Look::take(rules, facts, pane, agent, previous, now);
    let (kind, detail, evidence) = look.judge(turn.state);
    let (screen, screen_detail, _) = look.judge(TurnState::None);
    Verdict {
        screen: (screen, screen_detail),
        ..look.verdict((kind, detail, evidence))
    }
}

fn right_pane(facts: &Facts) -> Result<&PaneFacts, Finding> {
    let wrong = |detail, evidence: String| (Kind::WrongPane, detail, evidence);
    let pane = facts.pane.as_ref().map_err(|absent| match absent {
        Absent::NoServer => wrong("no_server", String::new()),
        Absent::Gone => wrong("gone", String::new()),
        Absent::Twice(panes) => wrong("twice", panes.join(" ")),
        Absent::Own => wrong("own", String::new()),
        Absent::Unreadable => (Kind::Unknown, "tmux", String::new()),
    })?;
    match &facts.expected {
        Some(expected) if *expected != pane.identity => {
            let (detail, evidence) = difference(expected, &pane.identity);
            Err(wrong(detail, evidence))
        }
        _ => Ok(pane),
    }
}

fn difference(expected: &Identity, found: &Identity) -> (&'static str, String) {
    if (&expected.socket, expected.server_pid, expected.server_start)
        != (&found.socket, found.server_pid, found.server_start)
    {
        (
            "restarted",
            format!(
                "server pid {} was {}",
                found.server_pid, expected.server_pid
            ),
        )
    } else if expected.pane != found.pane {
        ("gone", format!("pane {} was {}", found.pane, expected.pane))
    } else {
        (
            "respawned",
            format!("pane pid {} was {}", found.pane_pid, expected.pane_pid),
        )
    }
}

fn agent(rules: &Rules, facts: &Facts, pane: &PaneFacts) -> Result<Agent, Finding> {
    if pane.dead {
        let status = pane
            .dead_status
            .map_or_else(String::new, |status| format!("status {status}"));
        return Err((Kind::NoAgent, "dead", status));
    }
    let Some(processes) = &facts.processes else {
        return Err((Kind::Unknown, "no_capture", "no process list".into()));
    };
    agent::find(
        rules,
        pane.identity.pane_pid,
        processes,
        facts.cli_version.as_deref(),
    )
    .map_err(|(detail, evidence)| (Kind::NoAgent, detail, evidence))
}
