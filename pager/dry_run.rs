//! `--dry-run`: one line per pane, and nothing touched (pager.md 7). No key, no lease, no option, no journal, no lock.

use std::collections::BTreeMap;
use std::time::Duration;

use super::client::Client;
use super::facts::Absent;
use super::facts::Facts;
use super::facts::Identity;
use super::facts::PaneFacts;
use super::facts::Turn;
use super::facts::TurnState;
use super::log::plain;
use super::look;
use super::part;
use super::read;
use super::read::Sample;
use super::read::Verdict;
use super::rules;
use super::setup::Quit;
use super::setup::Setup;
use super::setup::exit;
use super::target;
use super::target::Match;
use super::target::PartKey;
use super::tmux::Tmux;
use super::tmux::listing::Listing;
use crate::api::PollPart;
use crate::api::PollRequest;
use crate::store;

/// How long the relay may take to say what its hooks know.
const RELAY: Duration = Duration::from_secs(2);
/// Two samples this far apart can stand still.
const STILL: Duration = Duration::from_millis(1_600);

type Panes = BTreeMap<PartKey, Result<PaneFacts, Absent>>;

/// Looks twice, asks the relay, prints.
pub(super) async fn run(setup: &Setup, tmux: &Tmux, client: &Client) -> Result<u8, Quit> {
    let listing = tmux
        .look(&[], setup.fixed.is_some())
        .await
        .map_err(|trouble| Quit::bad(trouble.to_string()))?;
    let panes = place(setup, &listing)?;
    let (turns, refused) = ask(setup, tmux, client, &panes).await;
    let mut samples: BTreeMap<PartKey, Option<Sample>> = BTreeMap::new();
    let mut verdicts: BTreeMap<PartKey, Verdict> = BTreeMap::new();
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
            let expected = pane.as_ref().ok().map(|pane| pane.identity.clone());
            let now = match pane {
                Ok(pane) => found_again(&glance, &pane.identity),
                Err(absent) => Err(absent.clone()),
            };
            let facts = Facts {
                expected,
                clients: glance.clients(),
                capture: now
                    .as_ref()
                    .ok()
                    .and_then(|pane| glance.capture(&pane.identity.pane)),
                processes: now
                    .as_ref()
                    .ok()
                    .and_then(|pane| glance.tree(pane.identity.pane_pid)),
                cli_version: None,
                refused_read_only: false,
                pane: now,
            };
            let before = samples.get(key).cloned().flatten();
            let turn = turns.get(key).cloned().unwrap_or_default();
            let wall = store::system_clock().0.0;
            let verdict = read::verdict(&setup.rules, &facts, before.as_ref(), &turn, wall);
            samples.insert(key.clone(), verdict.sample.clone());
            verdicts.insert(key.clone(), verdict);
        }
    }
    for (key, verdict) in &verdicts {
        let id = match &panes[key] {
            Ok(pane) => pane.identity.pane.as_str(),
            Err(_) => "-",
        };
        let turn = turns.get(key).cloned().unwrap_or_default();
        println!("{}", plain(&describe(setup, id, key, verdict, &turn)));
        if let Some(error) = refused.get(key) {
            println!("{}", plain(&format!("    the relay refuses it: {error}")));
        }
    }
    if verdicts.is_empty() {
        println!("no joined pane on {}", tmux.socket().display());
    }
    Ok(exit::DONE)
}

fn place(setup: &Setup, listing: &Listing) -> Result<Panes, Quit> {
    if let Some((key, target)) = &setup.fixed {
        let pane = match target::find(target, listing) {
            Match::One(pane) if setup.is_own(&pane) => Err(Absent::Own),
            Match::One(pane) => Ok(*pane),
            Match::Several(panes) => {
                return Err(Quit::bad(format!(
                    "{target} names more than one pane: {}",
                    panes.join(", ")
                )));
            }
            Match::None { .. } => Err(Absent::Gone),
        };
        return Ok(Panes::from([(key.clone(), pane)]));
    }
    let joined = target::discover(listing, setup.code.as_deref());
    Ok(joined
        .into_iter()
        .map(|(key, panes)| {
            let pane = match panes[..] {
                [pane] if setup.is_own(pane) => Err(Absent::Own),
                [pane] => Ok(pane.clone()),
                _ => Err(Absent::Twice(
                    panes
                        .iter()
                        .map(|pane| pane.identity.pane.clone())
                        .collect(),
                )),
            };
            (key, pane)
        })
        .collect())
}

fn found_again(glance: &look::Glance, expected: &Identity) -> Result<PaneFacts, Absent> {
    match &glance.listing {
        Ok(listing) => listing.pane(&expected.pane).cloned().ok_or(Absent::Gone),
        Err(_) => Err(glance.absent().unwrap_or(Absent::Unreadable)),
    }
}

/// What the hooks know, if the relay says so in time. Claims nothing.
async fn ask(
    setup: &Setup,
    tmux: &Tmux,
    client: &Client,
    panes: &Panes,
) -> (BTreeMap<PartKey, Turn>, BTreeMap<PartKey, String>) {
    let request = PollRequest {
        pager: setup.pager.clone(),
        machine: setup.machine.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        tmux: tmux.version.to_string(),
        socket: tmux.socket().display().to_string(),
        wait_ms: 0,
        seen: String::new(),
        claim: false,
        parts: panes
            .keys()
            .map(|key| PollPart {
                code: key.code.clone(),
                part: key.part.clone(),
                cli: None,
                cli_version: None,
                pane: None,
            })
            .collect(),
    };
    let answer = tokio::time::timeout(RELAY, client.poll(&request)).await;
    let Ok(Ok(answer)) = answer else {
        return Default::default();
    };
    let mut turns = BTreeMap::new();
    let mut refused = BTreeMap::new();
    for part in answer.parts {
        let key = PartKey {
            code: part.code,
            part: part.part,
        };
        if let Some(error) = part.error {
            refused.insert(key.clone(), error);
        }
        turns.insert(key, part::turn(&part.turn));
    }
    (turns, refused)
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

fn hook(turn: &Turn) -> String {
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
