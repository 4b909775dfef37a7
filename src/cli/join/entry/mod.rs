//! What an agent CLI has to be told, file by file (the table of cli.md 4): its MCP entry, the hook, and the line that names the playbook.
//!
//! One file per CLI. Each only plans: it reads what is there and says what is to stand there afterwards. A file that git tracks gets no
//! entry; then the CLI is told at its start, by words or a variable that [`start`] adds to its command.

mod claude;
pub mod codex;
mod gemini;
pub mod told;

use std::path::Path;
use std::path::PathBuf;

use super::agent;
use super::agent::Agent;
use super::changes::Change;
use super::changes::Done;
use super::edit::Broken;
use super::edit::json::Json;
use super::git::Place;
use super::record;
use super::steps::word;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::config::Env;
use crate::config::File;
use crate::pager::rules::Version;

/// Name of our entry in every CLI's list of MCP servers.
const NAME: &str = "relayroom";

/// The line that points an agent to the playbook.
const LINE: &str = "@RELAYROOM.md";

/// What `join` does not decide for the person.
const ALLOW: &str = "when the agent first asks whether it may use a tool of relayroom, allow it for good: until then each wake waits there";

/// What is to be told.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The MCP endpoint.
    pub url: String,
    /// The agent's token.
    pub token: String,
    /// The hook's command line.
    pub hook: String,
    /// The CLI's version.
    pub version: Option<Version>,
}

impl Entry {
    /// The entry of what a worktree knows.
    ///
    /// # Errors
    /// The system's, if this very program cannot be named.
    pub fn of(record: &File, agent: Agent, version: Option<Version>) -> Result<Self, Failure> {
        Ok(Self {
            url: record::url(word(&record.server), word(&record.code), word(&record.part)),
            token: word(&record.agent_token).to_owned(),
            hook: hook_command(agent)?,
            version,
        })
    }

    /// The header that carries the token.
    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }
}

/// Where an agent's files are.
#[derive(Debug, Clone, Copy)]
pub struct Around<'a> {
    /// The worktree.
    pub place: &'a Place,
    /// The person's folders.
    pub env: &'a Env,
}

impl Around<'_> {
    fn file(&self, name: &str) -> PathBuf {
        self.place.root.join(name)
    }
}

/// What is to be done to files.
#[derive(Debug, Default)]
pub struct Plan {
    /// In the worktree; git is to leave them out.
    pub worktree: Vec<Change>,
    /// In the person's home.
    pub home: Vec<Change>,
    /// What the person is to do by hand.
    pub notes: Vec<String>,
}

/// What a start adds to the agent's command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Words behind the program's name.
    pub words: Vec<String>,
    /// Variables.
    pub variables: Vec<(&'static str, String)>,
}

/// The hook's command line: the absolute program path and two words (usage.md 1).
fn hook_command(agent: Agent) -> Result<String, Failure> {
    let program = std::env::current_exe()?;
    let program = program.to_string_lossy();
    let plain = program
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(&b));
    Ok(match plain {
        true => format!("{program} hook {}", agent.name()),
        false => format!("'{}' hook {}", program.replace('\'', r"'\''"), agent.name()),
    })
}

/// Plans the entries of a part.
///
/// # Errors
/// Exit 3 for a file that cannot be edited without loss, with its line and what to add by hand.
pub fn put(agent: Agent, around: Around<'_>, entry: &Entry) -> Result<Plan, Failure> {
    let mut plan = match agent {
        Agent::Claude => claude::put(around, entry)?,
        Agent::Codex => codex::put(around, entry)?,
        Agent::Gemini => gemini::put(around, entry)?,
    };
    point_to_playbook(agent, around, &mut plan)?;
    Ok(plan)
}

/// Writes the entries of what a worktree knows now, without any other step of joining.
///
/// # Errors
/// As [`put`]; nothing was changed then.
pub async fn rewrite(around: Around<'_>, record: &File) -> Result<(), Failure> {
    let agent = record::agent(record).unwrap_or(Agent::Claude);
    let version = match agent.program(around.env) {
        Some(program) => agent::version(&program).await,
        None => None,
    };
    let plan = put(agent, around, &Entry::of(record, agent, version)?)?;
    let mut done = Done::default();
    let made = plan
        .worktree
        .iter()
        .chain(&plan.home)
        .try_for_each(|change| done.make(change).map(drop));
    if made.is_err() {
        done.undo();
    }
    made
}

/// Plans that the entries go; with `last` also those in the home folder, which serve all worktrees.
///
/// # Errors
/// As [`put`].
pub fn take(agent: Agent, around: Around<'_>, last: bool) -> Result<Plan, Failure> {
    let mut plan = match agent {
        Agent::Claude => claude::take(around)?,
        Agent::Codex => codex::take(around, last)?,
        Agent::Gemini => gemini::take(around, last)?,
    };
    let path = around.file(agent.instructions());
    if !around.place.tracks(&path) {
        plan.worktree.push(Change::of(&path, false, |text| {
            Ok(text.map(without_line).filter(|text| !text.is_empty()))
        })?);
    }
    Ok(plan)
}

/// What the CLI has to be told at its start, because a file of it is tracked.
///
/// # Errors
/// A file that cannot be read.
pub fn start(agent: Agent, around: Around<'_>, token: &str, url: &str) -> Result<Start, Failure> {
    match agent {
        Agent::Claude => Ok(claude::start(around)),
        Agent::Codex => codex::start(around, token, url),
        Agent::Gemini => gemini::start(around, token, url),
    }
}

/// Adds the playbook's line to the CLI's own instructions, unless git tracks them.
fn point_to_playbook(agent: Agent, around: Around<'_>, plan: &mut Plan) -> Result<(), Failure> {
    let path = around.file(agent.instructions());
    let change = Change::of(&path, false, |text| {
        Ok(Some(with_line(text.unwrap_or_default())))
    })?;
    if change.before == change.after {
        return Ok(());
    }
    if around.place.tracks(&path) {
        plan.notes.push(format!(
            "git tracks {}: add the line {LINE} to it",
            agent.instructions()
        ));
    } else {
        plan.worktree.push(change);
    }
    Ok(())
}

fn with_line(text: &str) -> String {
    if text.lines().any(|line| line.trim() == LINE) {
        return text.to_owned();
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{text}{gap}{LINE}\n")
}

fn without_line(text: &str) -> String {
    text.split_inclusive('\n')
        .filter(|line| line.trim() != LINE)
        .collect()
}

/// A change of a JSON file; one that holds nothing afterwards goes.
fn json(
    path: &Path,
    secret: bool,
    by_hand: &str,
    edit: impl FnOnce(&mut Json) -> Result<(), Broken>,
) -> Result<Change, Failure> {
    Change::of(path, secret, |text| {
        let refuse = |broken: Broken| refused(path, &broken, by_hand);
        let mut json = Json::parse(text.unwrap_or_default()).map_err(refuse)?;
        let before = json.text();
        edit(&mut json).map_err(refuse)?;
        let after = json.text();
        if before == after {
            return Ok(text.map(str::to_owned));
        }
        Ok(Some(after).filter(|_| !json.is_empty()))
    })
}

/// A change that takes our entries out of a JSON file, if it is there.
fn json_without(
    path: &Path,
    edit: impl FnOnce(&mut Json) -> Result<(), Broken>,
) -> Result<Option<Change>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    json(path, false, "", edit).map(Some)
}

/// A file of ours that is to go.
fn gone(path: &Path) -> Result<Option<Change>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    Change::of(path, false, |_| Ok(None)).map(Some)
}

/// Exit 3: where the file is broken, and what to add by hand.
fn refused(path: &Path, broken: &Broken, by_hand: &str) -> Failure {
    let mut message = format!(
        "{} line {}: {}; nothing was changed",
        path.display(),
        broken.line,
        broken.why
    );
    if !by_hand.is_empty() {
        message.push_str(&format!(". Mend it, or add this by hand:\n{by_hand}"));
    }
    Failure::new(Exit::Refused, "unreadable_file", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_009_the_line_comes_once_and_goes_alone() {
        assert_eq!(with_line(""), "@RELAYROOM.md\n");
        assert_eq!(with_line("Be kind."), "Be kind.\n@RELAYROOM.md\n");
        let twice = with_line(&with_line("Be kind.\n"));
        assert_eq!(twice, "Be kind.\n@RELAYROOM.md\n");
        assert_eq!(without_line(&twice), "Be kind.\n");
        assert_eq!(without_line("see @RELAYROOM.md\n"), "see @RELAYROOM.md\n");
    }
}
