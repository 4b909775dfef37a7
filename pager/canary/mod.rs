//! The canary: proof that a line could be typed, without a model turn (pager.md 8).
//!
//! It types a word of its own into an idle composer, sees it there, and takes it back letter by letter. All its conditions hold or nothing
//! is typed; whatever surprises it on the way stops it at once. Promised: no Enter, no `BSpace` but for a letter that was seen and is its
//! own, no pane without its lock. `step` decides, `note` outlives a crash, `attempt` does, this file walks the panes and prints.

mod attempt;
mod note;
mod step;

use self::attempt::Attempt;
use super::client::Client;
use super::dry_run;
use super::facts::Absent;
use super::facts::Turn;
use super::facts::TurnState;
use super::log::plain;
use super::part;
use super::setup::Quit;
use super::setup::Setup;
use super::setup::exit;
use super::tmux::Tmux;
use super::visit;
use crate::api::canary::CanaryLine;
use crate::api::canary::CanaryOutcome;
use crate::store;

/// Tries each joined pane in turn and prints a line for each, with `json` as [`CanaryLine`].
///
/// Exit codes: 0 if all passed, 1 if one failed, else 5 if one was refused or there is no pane.
pub(super) async fn run(
    setup: &Setup,
    tmux: &Tmux,
    client: &Client,
    json: bool,
) -> Result<u8, Quit> {
    let listing = tmux
        .look(&[], setup.fixed.is_some())
        .await
        .map_err(|trouble| Quit::bad(trouble.to_string()))?;
    let panes = visit::place(setup, &listing)?;
    if panes.is_empty() && !json {
        println!("no joined pane on {}", tmux.socket().display());
    }
    let mut code = if panes.is_empty() {
        exit::BACK
    } else {
        exit::DONE
    };
    for (key, pane) in &panes {
        let mut line = CanaryLine {
            pane: pane.as_ref().ok().map(|pane| pane.identity.pane.clone()),
            part: key.part.clone(),
            outcome: CanaryOutcome::Refused,
            reason: None,
            text: String::new(),
            render_ms: None,
            erase_ms: None,
            submits: 0,
            left: 0,
            hook: "none".to_owned(),
            hook_age: None,
            hook_here: None,
            tmux: tmux.version.to_string(),
            cli: None,
            cli_version: None,
            rules: None,
        };
        match pane {
            Ok(pane) => {
                Attempt::new(setup, tmux, client, key, pane.clone(), &mut line)
                    .run()
                    .await;
            }
            Err(absent) => {
                line.reason = Some(format!("no_pane/{}", word(absent)));
                line.text = "its pane cannot be told".to_owned();
            }
        }
        code = match line.outcome {
            CanaryOutcome::Failed => exit::FAULT,
            CanaryOutcome::Refused if code == exit::DONE => exit::BACK,
            _ => code,
        };
        if json {
            let line = serde_json::to_string(&line);
            println!("{}", line.map_err(|error| Quit::fault(error.to_string()))?);
        } else {
            println!("{}", plain(&describe(&line)));
        }
    }
    Ok(code)
}

fn word(absent: &Absent) -> &'static str {
    match absent {
        Absent::NoServer => "no_server",
        Absent::Gone => "gone",
        Absent::Twice(_) => "twice",
        Absent::Own => "own",
        Absent::Unreadable => "unreadable",
    }
}

/// `%3  web  PASSED  seen after 0.2 s, erased in 1.9 s; 0 submits; hook idle 3m, from this pane; claude 2.1.250 (rules 1), tmux 3.4`
fn describe(line: &CanaryLine) -> String {
    let outcome = match line.outcome {
        CanaryOutcome::Passed => "PASSED".to_owned(),
        CanaryOutcome::Refused => "REFUSED".to_owned(),
        CanaryOutcome::Failed => "FAILED".to_owned(),
    };
    let reason = line.reason.as_deref().unwrap_or_default();
    let mut facts = vec![line.text.clone(), format!("{} submits", line.submits)];
    if line.left > 0 {
        let left = line.left;
        facts.push(format!("{left} letters of it were in the composer last"));
    }
    facts.push(hook(line));
    let cli = [line.cli.as_deref(), line.cli_version.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let rules = line
        .rules
        .map_or_else(String::new, |rules| format!(" (rules {rules})"));
    let programs = [format!("{cli}{rules}"), format!("tmux {}", line.tmux)];
    facts.push(
        programs
            .into_iter()
            .filter(|p| !p.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    );
    format!(
        "{}  {}  {}  {}",
        line.pane.as_deref().unwrap_or("-"),
        line.part,
        format!("{outcome} {reason}").trim_end(),
        facts.join("; ")
    )
}

fn hook(line: &CanaryLine) -> String {
    let age = line.hook_age.and_then(|age| i64::try_from(age).ok());
    let turn = Turn {
        state: part::turn_state(&line.hook),
        since: age.map(|age| store::system_clock().0.0 - age.saturating_mul(1_000)),
        tag: None,
    };
    let told = dry_run::hook(&turn);
    match line.hook_here {
        _ if turn.state == TurnState::None => told,
        Some(true) => format!("{told}, from this pane"),
        Some(false) => format!("{told}, from another pane"),
        None => told,
    }
}
