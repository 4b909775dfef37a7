//! `--dry-run`: one line per pane, and nothing touched (pager.md 7). No key, no lease, no option, no journal, no lock.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client::Client;
use super::facts::Turn;
use super::facts::TurnState;
use super::log::plain;
use super::look;
use super::part;
use super::read::Verdict;
use super::rules;
use super::setup::Quit;
use super::setup::Setup;
use super::setup::exit;
use super::target::PartKey;
use super::tmux::Tmux;
use super::visit;
use crate::store;

/// Two samples this far apart can stand still.
const STILL: Duration = Duration::from_millis(1_600);

/// Looks twice, asks the relay, prints.
pub(super) async fn run(setup: &Setup, tmux: &Tmux, client: &Client) -> Result<u8, Quit> {
    let listing = tmux
        .look(&[], setup.fixed.is_some())
        .await
        .map_err(|trouble| Quit::bad(trouble.to_string()))?;
    let panes = visit::place(setup, &listing)?;
    let told = visit::ask(setup, tmux, client, panes.keys())
        .await
        .unwrap_or_default();
    let turn = |key: &PartKey| {
        let answer = told.get(key);
        answer.map_or_else(Turn::default, |answer| part::turn(&answer.turn))
    };
    let mut verdicts: BTreeMap<&PartKey, Verdict> = BTreeMap::new();
    for round in 0..2 {
        if round > 0 {
            tokio::time::sleep(STILL).await;
        }
        let ids: Vec<String> = panes
            .values()
            .filter_map(|pane| Some(pane.as_ref().ok()?.identity.pane.clone()))
            .collect();
        let glance = look::take(tmux, ids, false).await;
        for (key, pane) in &panes {
            let before = verdicts.get(key).and_then(|verdict| verdict.sample.clone());
            let expected = pane.as_ref().map(|pane| &pane.identity);
            let (_, verdict) = visit::judge(setup, &glance, expected, before.as_ref(), &turn(key));
            verdicts.insert(key, verdict);
        }
    }
    for (key, verdict) in &verdicts {
        let id = match &panes[*key] {
            Ok(pane) => pane.identity.pane.as_str(),
            Err(_) => "-",
        };
        println!("{}", plain(&describe(setup, id, key, verdict, &turn(key))));
        if let Some(error) = told.get(*key).and_then(|answer| answer.error.as_ref()) {
            println!("{}", plain(&format!("    the relay refuses it: {error}")));
        }
    }
    if verdicts.is_empty() {
        println!("no joined pane on {}", tmux.socket().display());
    }
    Ok(exit::DONE)
}

/// `%3  web  claude 2.1.250 (rules 4)  DRAFT text  composer row 21, 14 cells not dim; hook idle 3m; foreground pid 4711`
fn describe(setup: &Setup, id: &str, key: &PartKey, verdict: &Verdict, turn: &Turn) -> String {
    let agent = match &verdict.agent {
        None => "no agent".to_owned(),
        Some(agent) => {
            let version = agent.version.as_deref().and_then(rules::Version::parse);
            let revision = setup
                .rules
                .table(&agent.cli, version.as_ref())
                .map_or_else(String::new, |table| format!(" (rules {})", table.revision));
            match &agent.version {
                Some(version) => format!("{} {version}{revision}", agent.cli),
                None => format!("{}{revision}", agent.cli),
            }
        }
    };
    let mut facts = vec![verdict.evidence.clone(), hook(turn)];
    if let Some(agent) = &verdict.agent {
        facts.push(format!("foreground pid {}", agent.pid));
    }
    facts.retain(|fact| !fact.is_empty());
    let kind = verdict.state().to_uppercase();
    let said = [kind.as_str(), verdict.detail].join(" ");
    format!(
        "{id}  {}  {agent}  {}  {}",
        key.part,
        said.trim(),
        facts.join("; ")
    )
}

/// `hook idle 3m`.
pub(super) fn hook(turn: &Turn) -> String {
    let state = match turn.state {
        TurnState::Busy => "busy",
        TurnState::Blocked => "blocked",
        TurnState::Idle => "idle",
        TurnState::None => return "no hook".to_owned(),
    };
    match turn.since {
        Some(since) => {
            let seconds = (store::system_clock().0.0 - since).max(0) / 1_000;
            format!("hook {state} {}", age(seconds))
        }
        None => format!("hook {state}"),
    }
}

fn age(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        _ => format!("{}h", seconds / 3_600),
    }
}
