//! Each part of this machine, as `up` finds or brings it back (cli.md 3): one that fails has its reason, the others go on.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use serde_json::json;

use super::Arguments;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::join::bring;
use crate::cli::join::bring::How;
use crate::cli::join::register::Register;
use crate::cli::join::register::Worktree;
use crate::cli::join::seat::State;
use crate::cli::screen::Style;
use crate::cli::table::Cell;
use crate::cli::table::Table;
use crate::store::quote;

/// Between two starts, so that agents do not all begin in the same moment.
const APART: Duration = Duration::from_millis(500);

/// What became of a part.
#[derive(Debug, Clone)]
pub(super) struct Row {
    part: String,
    project: String,
    worktree: String,
    session: String,
    /// The agent's state in a word.
    agent: &'static str,
    pager: String,
    /// Why it is not up.
    pub why: Option<Failure>,
}

/// The joined worktrees that are meant, by the relay at `server`.
///
/// # Errors
/// Exit 5 for a name that is joined nowhere.
pub(super) fn meant(
    register: Register,
    server: &str,
    only: &[String],
) -> Result<Vec<Worktree>, Failure> {
    let mut all = register.worktree;
    all.retain(|known| known.server == server);
    let unknown = only
        .iter()
        .find(|name| !all.iter().any(|known| known.part == **name));
    if let Some(name) = unknown {
        return Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("part {} is joined nowhere on this machine", quote(name)),
        )
        .fix("relayroom part list"));
    }
    all.retain(|known| only.is_empty() || only.contains(&known.part));
    Ok(all)
}

/// The tmux servers of these parts.
pub(super) fn sockets(meant: &[Worktree]) -> BTreeSet<PathBuf> {
    meant
        .iter()
        .filter_map(|known| bring::record_of(known).ok()?.socket)
        .collect()
}

/// Brings each part back, one after the other.
pub(super) async fn bring_all(
    context: &Context,
    arguments: &Arguments,
    meant: &[Worktree],
    status: &Value,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut started = false;
    for known in meant {
        let told = field::list(status, "parts").iter().find(|part| {
            field::word(part, "part") == known.part && field::word(part, "project") == known.project
        });
        let paused = told.is_some_and(|told| field::word(told, "state") == "paused");
        let conversation = told.and_then(|told| {
            let last = &told["lastSession"];
            (field::word(last, "provider") == known.agent).then(|| field::word(last, "session"))
        });
        let mut row = Row {
            part: known.part.clone(),
            project: known.project.clone(),
            worktree: known.root.to_string_lossy().into_owned(),
            session: String::new(),
            agent: "not started",
            pager: told.map_or_else(String::new, |told| {
                field::word(&told["pager"], "state").to_owned()
            }),
            why: None,
        };
        if told.is_none() && !status["parts"].is_null() {
            row.why = Some(
                Failure::new(Exit::Missing, "not_found", "the relay does not have it").fix(
                    format!(
                        "relayroom part revive {0}, or relayroom leave {0}",
                        known.part
                    ),
                ),
            );
            rows.push(row);
            continue;
        }
        if started {
            tokio::time::sleep(APART).await;
        }
        let how = How {
            start: !arguments.no_agents && !paused,
            dry: arguments.dry_run,
            conversation,
        };
        match bring::bring(context, known, how).await {
            Ok(brought) => {
                started = brought.agent == State::Started;
                row.session = brought.session;
                row.agent = match brought.agent {
                    State::NotStarted if paused => "paused",
                    agent => agent.as_str(),
                };
            }
            Err(failure) => row.why = Some(failure),
        }
        rows.push(row);
    }
    rows
}

impl Row {
    pub(super) fn json(&self) -> Value {
        let mut row = json!({
            "part": self.part,
            "project": self.project,
            "worktree": self.worktree,
            "session": self.session,
            "agent": self.agent,
            "pager": self.pager,
        });
        if let Some(why) = &self.why {
            row["error"] = why.to_json()["error"].clone();
        }
        row
    }
}

/// One record per part.
pub(super) fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&["part", "session", "agent", "pager"]);
    for row in rows {
        let agent = match &row.why {
            Some(why) => Cell::text(&why.to_line()).styled(Style::Bad),
            None => Cell::text(row.agent),
        };
        let pager = match row.pager.as_str() {
            "" => "not seen",
            state => state,
        };
        table.row(vec![
            Cell::text(&row.part).styled(Style::Bold),
            Cell::text(&row.session),
            agent,
            Cell::text(pager),
        ]);
    }
    table
}
