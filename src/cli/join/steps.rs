//! The steps of joining, each undone if a later one fails (cli.md 4).

use std::path::Path;
use std::path::PathBuf;

use http::Method;
use serde_json::json;

use super::Arguments;
use super::changes::Change;
use super::changes::Done;
use super::checks::Checked;
use super::checks::Door;
use super::entry;
use super::entry::Around;
use super::entry::Entry;
use super::entry::Plan;
use super::exec;
use super::git;
use super::git::Place;
use super::leave;
use super::playbook;
use super::project;
use super::record;
use super::register::Register;
use super::register::Worktree;
use super::seat;
use super::seat::Placed;
use super::seat::State;
use super::tokens;
use super::tokens::Tokens;
use crate::cli::client::Client;
use crate::cli::client::encode;
use crate::cli::client::is_loopback;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::up;
use crate::config::File;
use crate::hook;
use crate::hook::playbook::Written;

/// What came of it.
#[derive(Debug)]
pub(super) struct Joined {
    /// What the worktree knows now.
    pub record: File,
    /// The worktree.
    pub root: PathBuf,
    /// Where the agent lives.
    pub seat: Placed,
    /// The words of the agent this process is to become.
    pub become_agent: Option<Vec<String>>,
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// What the person is to do.
    pub notes: Vec<String>,
}

/// What is being done, and how far.
struct Journal {
    done: Done,
    tokens: Tokens,
    written: Vec<PathBuf>,
    notes: Vec<String>,
}

impl Journal {
    /// Whether a file was written that the agent reads at its start.
    fn told_anew(&self, root: &Path) -> bool {
        self.written.iter().any(|path| {
            path.starts_with(root)
                && *path != record::file(root)
                && !path.ends_with(hook::playbook::FILE)
        })
    }
}

/// Takes every step, or none.
pub(super) async fn run(
    context: &Context,
    arguments: &Arguments,
    checked: &Checked,
) -> Result<Joined, Failure> {
    let mut journal = Journal {
        done: Done::default(),
        tokens: Tokens::default(),
        written: Vec::new(),
        notes: Vec::new(),
    };
    match take(context, arguments, checked, &mut journal).await {
        Ok(joined) => Ok(joined),
        Err(failure) => {
            journal.done.undo();
            if let Door::Admin { client, .. } = &checked.door {
                for id in &journal.tokens.issued {
                    tokens::revoke(client, id).await;
                }
            }
            Err(failure)
        }
    }
}

async fn take(
    context: &Context,
    arguments: &Arguments,
    checked: &Checked,
    journal: &mut Journal,
) -> Result<Joined, Failure> {
    let (project, code) = credentials(context, arguments, checked, journal).await?;
    let mut record = File {
        server: Some(checked.server.clone()),
        project: Some(project),
        code: Some(code),
        part: Some(checked.part.clone()),
        agent: Some(checked.agent.name().to_owned()),
        session: Some(checked.session.clone()),
        socket: Some(checked.tmux.socket().to_owned()),
        token: Some(journal.tokens.machine.clone()),
        agent_token: Some(journal.tokens.agent.clone()),
        joined_at: checked
            .before
            .as_ref()
            .and_then(|before| before.joined_at.clone())
            .or_else(|| Some(context.now().rfc3339())),
        ..File::default()
    };
    files(context, checked, &record, journal).await?;
    let key = (word(&record.code), word(&record.part));
    let placed = seat::settle(context, checked, key, !arguments.no_start).await?;
    if placed.agent == State::Runs && journal.told_anew(&checked.place.root) {
        journal.notes.push(format!(
            "restart the agent in session {}: it runs with what it knew before",
            placed.session
        ));
    }
    // tmux may have changed the name.
    record.session = Some(placed.session.clone());
    let written = config(&checked.place, &record)
        .and_then(|change| journal.done.make(&change))
        .and_then(|_| enter(context, checked, &record));
    if let Err(failure) = written {
        placed.undo();
        return Err(failure);
    }
    if let Some(other) = &checked.taken_from {
        let left = leave::hand_over(context, other, &checked.door, &journal.tokens.agent).await;
        journal.notes.extend(left);
        Register::change(&context.env, |register| {
            register.worktree.retain(|known| known.root != *other);
        })?;
    }
    if let Err(failure) = up::pager::start(context, &checked.server, checked.tmux.socket()).await {
        journal
            .notes
            .push(format!("{} (relayroom up)", failure.message));
    }
    let become_agent = match placed.starts_here {
        true => Some(exec::words(&checked.place.root, None, &checked.command)?),
        false => None,
    };
    Ok(Joined {
        record,
        root: checked.place.root.clone(),
        seat: placed,
        become_agent,
        written: std::mem::take(&mut journal.written),
        notes: std::mem::take(&mut journal.notes),
    })
}

/// Project, part and tokens, as far as they are not there; project and code.
async fn credentials(
    context: &Context,
    arguments: &Arguments,
    checked: &Checked,
    journal: &mut Journal,
) -> Result<(String, String), Failure> {
    let (client, choice, live) = match &checked.door {
        Door::Brought {
            tokens,
            code,
            project,
        } => {
            journal.tokens = tokens.clone();
            return Ok((project.clone(), code.clone()));
        }
        Door::Admin {
            client,
            project,
            live,
        } => (client, project, live),
    };
    let made = project::settle(client, choice).await?;
    let (project, code) = (field::word(&made, "slug"), field::word(&made, "code"));
    let part = checked.part.as_str();
    let query = [("project", project.to_owned())];
    let before = checked.before.as_ref();
    let kept = before.and_then(|before| before.agent_token.as_deref());
    if checked.part_exists {
        tokens::agent(client, live, (project, part), kept, &mut journal.tokens).await?;
    } else {
        let body = json!({ "part": part });
        let added = client
            .call(Method::POST, "parts", &query, Some(&body))
            .await?;
        field::word(&added, "token").clone_into(&mut journal.tokens.agent);
        journal
            .tokens
            .issued
            .push(field::word(&added, "id").to_owned());
    }
    let file = context.env.machine_token_file();
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    tokens::machine(client, live, &file, &name, &mut journal.tokens).await?;
    if arguments.main {
        make_main(client, part, &query).await?;
    }
    Ok((project.to_owned(), code.to_owned()))
}

async fn make_main(
    client: &Client,
    part: &str,
    query: &[(&'static str, String)],
) -> Result<(), Failure> {
    let path = format!("parts/{}", encode(part));
    client
        .call(Method::PATCH, &path, query, Some(&json!({"main": true})))
        .await
        .map(drop)
}

/// Every file: what the worktree knows, what git leaves out, the agent's entries, the playbook. Afterwards git is asked.
async fn files(
    context: &Context,
    checked: &Checked,
    record: &File,
    journal: &mut Journal,
) -> Result<(), Failure> {
    let place = &checked.place;
    let mut plan = entries(context, place, record, checked)?;
    plan.worktree.insert(0, config(place, record)?);
    plan.home.extend(machine_files(context, record)?);
    let mut shown: Vec<String> = vec![format!("/{}/", record::FOLDER)];
    let playbook = place.root.join(hook::playbook::FILE);
    if !place.tracks(&playbook) {
        shown.extend(place.pattern(&playbook));
    }
    let new = plan.worktree.iter().filter(|change| {
        change.after.is_some() && !change.path.starts_with(place.root.join(record::FOLDER))
    });
    shown.extend(new.filter_map(|change| place.pattern(&change.path)));
    if let Some(exclude) = place.exclude_file() {
        let change = Change::of(&exclude, false, |text| {
            Ok(Some(git::excluding(text.unwrap_or_default(), &shown)))
        })?;
        // Before the files it names: git is to see none of them.
        make(journal, &change)?;
    }
    for change in plan.worktree.iter().chain(&plan.home) {
        make(journal, change)?;
    }
    for change in plan.worktree.iter().filter(|change| change.after.is_some()) {
        if place.would_add(&change.path) {
            return Err(Failure::new(
                Exit::Refused,
                "secret_tracked",
                format!(
                    "git would take {} in: a rule of this repository brings it back",
                    change.path.display()
                ),
            )
            .fix("take that rule out of .gitignore"));
        }
    }
    if !place.tracks(&playbook) {
        let served = playbook::fetch(context, record).await?;
        let (written, note) = playbook::write(&place.root, &served)?;
        if written == Written::Made {
            journal.done.made(playbook.clone());
        }
        if matches!(written, Written::Made | Written::Rewritten) {
            journal.written.push(playbook);
        }
        journal.notes.extend(note);
    }
    journal.notes.extend(plan.notes);
    Ok(())
}

/// The agent's entries, after those of another agent that was joined here before.
fn entries(
    context: &Context,
    place: &Place,
    record: &File,
    checked: &Checked,
) -> Result<Plan, Failure> {
    let around = Around {
        place,
        env: &context.env,
    };
    let mut plan = entry::put(
        checked.agent,
        around,
        &Entry::of(record, checked.agent, checked.version)?,
    )?;
    let before = checked.before.as_ref().and_then(record::agent);
    if let Some(before) = before.filter(|before| *before != checked.agent) {
        let last = leave::is_last(&checked.register, &place.root, before);
        let old = entry::take(before, around, last)?;
        plan.worktree.extend(old.worktree);
        plan.home.extend(old.home);
    }
    Ok(plan)
}

fn config(place: &Place, record: &File) -> Result<Change, Failure> {
    Change::of(&record::file(&place.root), true, |_| {
        Ok(Some(record::text(record)))
    })
}

/// The machine's token for the pager, and a relay elsewhere among those that are trusted.
fn machine_files(context: &Context, record: &File) -> Result<Vec<Change>, Failure> {
    let token = format!("{}\n", word(&record.token));
    let mut changes = vec![Change::of(&context.env.machine_token_file(), true, |_| {
        Ok(Some(token))
    })?];
    let server = word(&record.server);
    if !is_loopback(server)? {
        let path = context.env.config_dir().join("config.toml");
        changes.push(Change::of(&path, false, |text| {
            record::trusting(&path, text.unwrap_or_default(), server).map(Some)
        })?);
    }
    Ok(changes)
}

fn make(journal: &mut Journal, change: &Change) -> Result<(), Failure> {
    if journal.done.make(change)? {
        journal.written.push(change.path.clone());
    }
    Ok(())
}

fn enter(context: &Context, checked: &Checked, record: &File) -> Result<(), Failure> {
    let worktree = Worktree {
        root: checked.place.root.clone(),
        common: checked.place.common.clone(),
        server: checked.server.clone(),
        project: word(&record.project).to_owned(),
        part: checked.part.clone(),
        agent: checked.agent.name().to_owned(),
        command: checked.command.clone(),
    };
    Register::change(&context.env, |register| register.enter(worktree))
}

pub(super) fn word(field: &Option<String>) -> &str {
    field.as_deref().unwrap_or_default()
}
