//! The parts joined here, each with all that is known of it: what its worktree holds, what its agent was told, its pane and process, and
//! what the relay heard of it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;

use super::around::Around;
use super::around::Joined;
use super::panes;
use super::panes::Pane;
use crate::cli::context::Context;
use crate::cli::field;
use crate::cli::join::agent::Agent;
use crate::cli::join::entry;
use crate::cli::join::entry::told;
use crate::cli::join::entry::told::Told;
use crate::cli::join::git::Place;
use crate::cli::join::playbook;
use crate::cli::join::record;
use crate::config::Env;
use crate::config::File;
use crate::hook;
use crate::hook::find;
use crate::hook::find::Found;
use crate::hook::spool::Spool;
use crate::hook::spool::Standing;
use crate::pager::proc::Snapshot;
use crate::pager::read::agent;
use crate::pager::rules::Rules;
use crate::store::Time;

/// A part joined in a worktree whose file can be read.
#[derive(Debug, Clone)]
pub struct Member {
    /// The worktree.
    pub root: PathBuf,
    /// Whether `join` knows it.
    pub known: bool,
    /// The part.
    pub part: String,
    /// What the worktree's file says.
    pub record: File,
    /// The agent CLI.
    pub agent: Agent,
    /// The file with the agent's entry, and when it was written; `None`: it is told at its start.
    pub entry: Option<(PathBuf, Option<Time>)>,
    /// What that file says.
    pub told: Told,
    /// The file with its hooks.
    pub hooks_file: PathBuf,
    /// Our hooks in it: event and command.
    pub hooks: Vec<(String, String)>,
    /// Reports that wait.
    pub spool: Standing,
    /// Why its hook does not use the worktree's file.
    pub refused: Option<String>,
    /// Its only pane.
    pub pane: Option<Pane>,
    /// Its agent's process, and when that started.
    pub process: Option<(i32, Time)>,
    /// Last MCP call.
    pub called_at: Option<Time>,
    /// Last report of its hook.
    pub hook_at: Option<Time>,
    /// Whether its `RELAYROOM.md` is another than the relay's.
    pub stale: bool,
    /// Codex: whether it trusts the folder.
    pub trusted: Option<bool>,
    /// Gemini: a settings file whose telemetry logs prompts.
    pub telemetry: Option<PathBuf>,
    /// What the relay lists of live tokens that end like the agent's; `None`: it was not asked.
    pub live: Option<Vec<Value>>,
    /// The project's connect code at the relay.
    pub code: Option<String>,
}

impl Member {
    /// The command that repairs its worktree.
    #[must_use]
    pub fn rejoin(&self) -> String {
        super::configured::rejoin(&self.root, &self.part)
    }

    /// The command that ends its agent and starts it again, in the same conversation.
    #[must_use]
    pub fn restart(&self) -> String {
        match self.process {
            Some((pid, _)) => format!("kill {pid} && sleep 2 && relayroom up"),
            None => "relayroom up".to_owned(),
        }
    }

    /// The project its file names.
    #[must_use]
    pub fn project(&self) -> &str {
        self.record.project.as_deref().unwrap_or_default()
    }
}

/// Gathers.
pub async fn gather(context: &Context, around: &Around, panes: &panes::Facts) -> Vec<Member> {
    let mut members = Vec::new();
    for joined in &around.joined {
        let Ok(record) = &joined.file else {
            continue;
        };
        if record.part.is_none() {
            continue;
        }
        let Ok(place) = Place::of(&joined.root) else {
            continue;
        };
        let mut member = of_worktree(&context.env, joined, record, &place);
        member.pane = only_pane(record, panes);
        member.process = member.pane.as_ref().and_then(process);
        if around.status.is_ok() && record.server.as_deref() == Some(around.base.as_str()) {
            ask(context, around, &mut member).await;
        }
        members.push(member);
    }
    members
}

/// What can be seen without asking anybody.
fn of_worktree(env: &Env, joined: &Joined, record: &File, place: &Place) -> Member {
    let around = entry::Around { place, env };
    let agent = record::agent(record).unwrap_or(Agent::Claude);
    let files = told::files(agent, around);
    let (spool, refused) = match find::at(&joined.config(), &find::Flags::default(), env) {
        Found::Part(part) => (
            Spool::of(&hook::place::Place::of(env, &part)).standing(),
            None,
        ),
        Found::Refused { why, .. } => (Standing::default(), Some(why)),
        Found::Nowhere => (Standing::default(), None),
    };
    Member {
        root: joined.root.clone(),
        known: joined.known,
        part: joined.part.clone(),
        agent,
        told: files
            .entry
            .as_deref()
            .map(|file| told::read(agent, file))
            .unwrap_or_default(),
        hooks: told::hooks(agent, &files.hooks),
        entry: files.entry.map(|file| (file.clone(), written(&file))),
        spool,
        refused,
        pane: None,
        process: None,
        called_at: None,
        hook_at: None,
        stale: false,
        trusted: (agent == Agent::Codex).then(|| codex_trusts(around)),
        telemetry: match agent {
            Agent::Gemini => [
                joined.root.join(".gemini/settings.json"),
                files.hooks.clone(),
            ]
            .into_iter()
            .find(|file| logs_prompts(&told::json_value(file))),
            _ => None,
        },
        hooks_file: files.hooks,
        record: record.clone(),
        live: None,
        code: None,
    }
}

/// When a file was last written.
fn written(file: &Path) -> Option<Time> {
    let meta = std::fs::metadata(file).ok()?;
    Some(Time(meta.mtime() * 1_000 + meta.mtime_nsec() / 1_000_000))
}

fn only_pane(record: &File, panes: &panes::Facts) -> Option<Pane> {
    let key = (record.code.clone()?, record.part.clone()?);
    match panes.panes.get(&key)?.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

fn process(pane: &Pane) -> Option<(i32, Time)> {
    let tree = Snapshot::take()?.tree(pane.pid)?;
    let found = agent::find(&Rules::shipped(), pane.pid, &tree, None).ok()?;
    Some((found.pid, Time(found.start)))
}

/// Whether Codex trusts the worktree, or the repository it is of.
fn codex_trusts(around: entry::Around<'_>) -> bool {
    let config = told::toml_value(&entry::codex::home_config(around));
    let main = around.place.common.as_deref().and_then(Path::parent);
    [Some(around.place.root.as_path()), main]
        .into_iter()
        .flatten()
        .any(|folder| {
            let trust = &config["projects"][folder.to_string_lossy().as_ref()]["trust_level"];
            trust == "trusted"
        })
}

/// Whether Gemini's telemetry is on and tells prompts, which it does unless told not to.
fn logs_prompts(settings: &Value) -> bool {
    let telemetry = &settings["telemetry"];
    telemetry["enabled"] == true && telemetry["logPrompts"] != false
}

/// What the relay knows of it.
async fn ask(context: &Context, around: &Around, member: &mut Member) {
    let project = member.project().to_owned();
    let part = around.listed("parts").iter().find(|part| {
        field::word(part, "part") == member.part && field::word(part, "project") == project
    });
    if let Some(part) = part {
        member.called_at = field::time(part, "calledAt");
        member.hook_at = field::time(part, "hookAt");
    }
    let known = field::list(&around.projects, "projects");
    let known = known.iter().find(|one| field::word(one, "slug") == project);
    member.code = known.map(|one| field::word(one, "code").to_owned());
    let token = member.record.agent_token.as_deref().unwrap_or_default();
    let live = field::list(&around.tokens, "tokens").iter().filter(|live| {
        let end = field::word(live, "lastFour");
        field::word(live, "kind") == "agent" && !end.is_empty() && token.ends_with(end)
    });
    member.live = Some(live.cloned().collect());
    if let Some(present) = hook::playbook::read(&member.root)
        && let Ok(served) = playbook::fetch(context, &member.record).await
    {
        member.stale = present != hook::playbook::content(&served);
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    /// A part of which everything is right; its agent does not run.
    pub fn well() -> Member {
        let url = record::url("http://r", "c0de", "web");
        Member {
            root: "/src/web".into(),
            known: true,
            part: "web".into(),
            record: File {
                server: Some("http://r".into()),
                project: Some("shop".into()),
                code: Some("c0de".into()),
                part: Some("web".into()),
                agent_token: Some("rrt_x".into()),
                ..File::default()
            },
            agent: Agent::Claude,
            entry: Some(("/src/web/.mcp.json".into(), Some(Time(1)))),
            told: Told {
                url: Some(url),
                token: Some("rrt_x".into()),
            },
            hooks_file: "/src/web/.claude/settings.local.json".into(),
            hooks: vec![("Stop".into(), "/opt/relayroom hook claude".into())],
            spool: Standing::default(),
            refused: None,
            pane: None,
            process: None,
            called_at: None,
            hook_at: None,
            stale: false,
            trusted: None,
            telemetry: None,
            live: Some(vec![json!({"project": "shop", "part": "web"})]),
            code: Some("c0de".into()),
        }
    }

    #[test]
    fn telemetry_tells_prompts_unless_told_not_to() {
        for (settings, logs) in [
            (json!({}), false),
            (json!({"telemetry": {"enabled": false}}), false),
            (json!({"telemetry": {"enabled": true}}), true),
            (
                json!({"telemetry": {"enabled": true, "logPrompts": true}}),
                true,
            ),
            (
                json!({"telemetry": {"enabled": true, "logPrompts": false}}),
                false,
            ),
        ] {
            assert_eq!(logs_prompts(&settings), logs, "{settings}");
        }
    }
}
