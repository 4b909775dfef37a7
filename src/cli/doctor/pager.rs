//! The pager: that one runs, that it may speak to the relay, and what keeps it from waking parts.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use super::around::Around;
use super::finding::Finding;
use super::finding::quoted;
use super::panes;
use crate::cli::context::Context;
use crate::cli::field;
use crate::config;
use crate::pager::rules::Rules;
use crate::pager::rules::Version;

/// What is known of it.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Panes that wait for a pager.
    pub panes: usize,
    /// Whether one runs that was started here.
    pub runs: bool,
    /// Whether the relay heard one lately; `None`: it was not asked.
    pub heard: Option<bool>,
    /// The machine's token: its file, and who may read it.
    pub token: (PathBuf, Option<u32>),
    /// Whether the relay knows that token; `None`: it was not asked.
    pub known: Option<bool>,
    /// This machine's name.
    pub machine: String,
    /// CLIs in panes with their versions, each once.
    pub clis: Vec<(String, String)>,
    /// What of the relay's list of attention speaks of panes and wakes.
    pub attention: Vec<Value>,
    /// How to look at a part's pane.
    pub attach: Vec<(String, String)>,
}

/// Gathers.
#[must_use]
pub fn gather(context: &Context, around: &Around, panes: &panes::Facts) -> Facts {
    let token = context.env.machine_token_file();
    let mode = std::fs::metadata(&token).ok();
    let mode = mode.map(|meta| meta.permissions().mode() & 0o777);
    let secret = config::read_secret(&token).ok();
    let known = secret.filter(|_| around.status.is_ok()).map(|secret| {
        field::list(&around.tokens, "tokens").iter().any(|live| {
            let end = field::word(live, "lastFour");
            field::word(live, "kind") == "pager" && !end.is_empty() && secret.ends_with(end)
        })
    });
    let mut clis: Vec<(String, String)> = around
        .listed("parts")
        .iter()
        .map(|part| {
            let version = field::word(part, "cliVersion").to_owned();
            (field::word(part, "cli").to_owned(), version)
        })
        .filter(|(_, version)| !version.is_empty())
        .collect();
    clis.sort();
    clis.dedup();
    let items = match &around.status {
        Ok(status) => field::list(&status["attention"], "items").to_vec(),
        Err(_) => Vec::new(),
    };
    Facts {
        panes: panes
            .panes
            .values()
            .map(Vec::len)
            .sum::<usize>()
            .max(panes.joined.len()),
        runs: runs(context),
        heard: around
            .status
            .is_ok()
            .then(|| !around.listed("pagers").is_empty()),
        token: (token, mode),
        known,
        machine: rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned(),
        clis,
        attention: items,
        attach: panes
            .panes
            .iter()
            .filter_map(|((_, part), panes)| {
                let pane = panes.first()?;
                let socket = quoted(&pane.socket.to_string_lossy());
                let command = format!("tmux -S {socket} attach -t {}", pane.id);
                Some((part.clone(), command))
            })
            .collect(),
    }
}

/// Whether a pager holds one of the locks `up` hands it. A lock is asked without being made.
fn runs(context: &Context) -> bool {
    let folder = context.env.state_dir().join("locks");
    let locks = std::fs::read_dir(folder).into_iter().flatten();
    locks.filter_map(Result::ok).any(|entry| {
        let ours = entry.file_name().to_string_lossy().starts_with("up-");
        ours && std::fs::File::open(entry.path())
            .is_ok_and(|file| matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)))
    })
}

/// Judges.
#[must_use]
pub fn judge(facts: &Facts) -> Vec<Finding> {
    let mut found = Vec::new();
    if facts.panes > 0 && !facts.runs && facts.heard != Some(true) {
        let text = "runs nowhere: no agent is woken";
        found.push(Finding::error("pager.down", "pager", text).fix("relayroom up"));
    }
    found.extend(token(facts));
    let rules = Rules::shipped();
    for (cli, version) in &facts.clis {
        let newer = Version::parse(version).is_some_and(|version| {
            let table = rules.table(cli, Some(&version));
            table.is_some_and(|table| !table.versions.contains(&version))
        });
        if newer {
            let text = format!("{version} is newer than the table its screen is read by");
            let finding = Finding::warning("pager.rules", cli, text);
            found.push(finding.fix("relayroom pager --dry-run"));
        }
    }
    found.extend(
        facts
            .attention
            .iter()
            .filter_map(|item| of_part(item, facts)),
    );
    found
}

fn token(facts: &Facts) -> Option<Finding> {
    let (file, mode) = &facts.token;
    let file = file.to_string_lossy();
    if let Some(mode) = mode.filter(|mode| mode & 0o077 != 0) {
        let text = format!("is readable by others (mode {mode:o}): the pager does not use it");
        let fix = format!("chmod 600 {}", quoted(&file));
        return Some(Finding::error("pager.token", file, text).fix(fix));
    }
    if facts.known != Some(false) {
        return None;
    }
    let text = "holds a token the relay does not know, or no longer";
    let fix = format!("relayroom token new --pager {}", quoted(&facts.machine));
    Some(Finding::error("pager.token", file, text).fix(fix))
}

/// What the relay says needs a person, where it is about a pane or a wake.
fn of_part(item: &Value, facts: &Facts) -> Option<Finding> {
    let part = field::word(item, "part");
    let text = field::word(item, "what");
    match field::word(item, "class") {
        "blocked_pane" => {
            let attach = facts.attach.iter().find(|(name, _)| name == part);
            let fix = attach
                .map(|(_, command)| command.clone())
                .unwrap_or_default();
            Some(Finding::warning("pane.blocked", part, text).fix(fix))
        }
        "unanswered" => {
            let project = field::word(item, "project");
            let fix = format!("relayroom wake {part} --project {project}");
            Some(Finding::warning("wake.unanswered", part, text).fix(fix))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn well() -> Facts {
        Facts {
            panes: 2,
            runs: true,
            heard: Some(true),
            token: ("/state/machine.token".into(), Some(0o600)),
            known: Some(true),
            machine: "box".into(),
            ..Facts::default()
        }
    }

    fn found(facts: &Facts) -> Vec<(&'static str, String)> {
        judge(facts)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    #[test]
    fn a_pager_is_missed_only_where_something_waits_for_one() {
        assert_eq!(found(&well()), []);
        let silent = Facts {
            runs: false,
            heard: Some(false),
            ..well()
        };
        assert_eq!(found(&silent), [("pager.down", "relayroom up".to_owned())]);
        for fine in [
            Facts {
                panes: 0,
                ..silent.clone()
            },
            Facts {
                heard: Some(true),
                ..silent.clone()
            },
            Facts {
                runs: true,
                ..silent
            },
        ] {
            assert_eq!(found(&fine), []);
        }
    }

    #[test]
    fn the_machines_token_is_private_and_known() {
        let mut facts = well();
        facts.token.1 = Some(0o644);
        let chmod = "chmod 600 /state/machine.token".to_owned();
        assert_eq!(found(&facts), [("pager.token", chmod)]);
        let unknown = Facts {
            known: Some(false),
            ..well()
        };
        let new = "relayroom token new --pager box".to_owned();
        assert_eq!(found(&unknown), [("pager.token", new)]);
    }

    #[test]
    fn a_cli_no_table_was_made_for_is_told() {
        let version = |version: &str| Facts {
            clis: vec![("claude".into(), version.into())],
            ..well()
        };
        assert_eq!(found(&version("2.1.332")), []);
        let newest = found(&version("99.0.0"));
        let open_ended = Rules::shipped()
            .table("claude", Version::parse("99.0.0").as_ref())
            .is_some_and(|table| table.versions.contains(&Version::parse("99.0.0").unwrap()));
        assert_eq!(newest.is_empty(), open_ended);
    }

    #[test]
    fn what_needs_a_person_comes_with_the_way_there() {
        let facts = Facts {
            attention: vec![
                json!({"class": "blocked_pane", "part": "web", "what": "a dialog"}),
                json!({"class": "unanswered", "part": "api", "project": "shop", "what": "no answer"}),
                json!({"class": "needs_person", "what": "mail"}),
            ],
            attach: vec![("web".into(), "tmux -S /tmp/s attach -t %1".into())],
            ..well()
        };
        let expected = [
            ("pane.blocked", "tmux -S /tmp/s attach -t %1".to_owned()),
            (
                "wake.unanswered",
                "relayroom wake api --project shop".to_owned(),
            ),
        ];
        assert_eq!(found(&facts), expected);
    }
}
