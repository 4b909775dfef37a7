//! What is asked before anything is changed (cli.md 4).

use std::path::PathBuf;

use super::Arguments;
use super::agent;
use super::agent::Agent;
use super::entry;
use super::entry::Around;
use super::entry::Entry;
use super::git::Place;
use super::pane;
use super::pane::Seat;
use super::pane::Wanted;
use super::project;
use super::project::Choice;
use super::record;
use super::register::Register;
use super::tokens;
use super::tokens::Live;
use super::tokens::Tokens;
use crate::cli::client;
use crate::cli::client::Client;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::cli::tmux;
use crate::cli::tmux::Tmux;
use crate::cli::up;
use crate::config::File;
use crate::identity::part::check_name;
use crate::pager::rules::Version;
use crate::store::quote;

/// What was found, and is acted on.
pub(super) struct Checked {
    /// The worktree.
    pub place: Place,
    /// What it knew before.
    pub before: Option<File>,
    /// What this machine has joined.
    pub register: Register,
    /// The relay.
    pub server: String,
    /// Through whom the rest is asked.
    pub door: Door,
    /// The part.
    pub part: String,
    /// Whether the relay has it.
    pub part_exists: bool,
    /// The CLI, and its version where it says one.
    pub agent: Agent,
    pub version: Option<Version>,
    /// The person's own command.
    pub command: Vec<String>,
    /// tmux, and the part's place in it.
    pub tmux: Tmux,
    pub seat: Seat,
    /// Name of the session.
    pub session: String,
    /// The worktree the part is taken from.
    pub taken_from: Option<PathBuf>,
}

/// The person's right to join.
pub(super) enum Door {
    /// The admin token beside the relay's file.
    Admin {
        client: Client,
        project: Choice,
        live: Live,
    },
    /// Tokens and a code that were brought from another machine.
    Brought {
        tokens: Tokens,
        code: String,
        project: String,
    },
}

/// Asks everything; nothing is changed.
pub(super) async fn run(context: &Context, arguments: &Arguments) -> Result<Checked, Failure> {
    let part = arguments.part.clone();
    check_name(&part).map_err(|refusal| Failure::usage(refusal.message))?;
    let place = Place::of(&context.env.cwd)?;
    // One that cannot be read is written anew.
    let before = record::read(&place.root).unwrap_or_default();
    if let Some(other) = before.as_ref().and_then(|before| before.part.as_deref())
        && other != part
    {
        return Err(refuse(format!(
            "part {other} is joined in this worktree; one agent per folder"
        ))
        .fix(format!("relayroom leave {other}")));
    }
    let register = Register::read(&context.env)?;
    let server = context.server();
    let (agent, command) = choose_agent(context, arguments, &place, &register, before.as_ref());
    tmux::need(context, "joining")?;
    let program = command_program(context, agent, &command);
    if program.is_none() && !arguments.no_start {
        return Err(refuse(format!("{} is not installed", agent.name()))
            .fix("install it, name another with --agent, or join with --no-start"));
    }
    let version = match agent.program(&context.env) {
        Some(program) => agent::version(&program).await,
        None => None,
    };
    editable(context, &place, agent, version)?;

    let (door, code) = door(context, arguments, &place, &register, &server).await?;
    let project = match &door {
        Door::Admin { project, .. } => project.name().to_owned(),
        Door::Brought { project, .. } => project.clone(),
    };
    let taken_from = taken(arguments, &place, &register, &server, &project)?;
    let part_exists = match &door {
        Door::Admin {
            client,
            project: Choice::Known(name),
            ..
        } => is_part(client, name, &part).await?,
        _ => false,
    };

    let session = arguments
        .session
        .clone()
        .or_else(|| before.as_ref()?.session.clone())
        .unwrap_or_else(|| format!("{project}-{part}"));
    let own = context
        .env
        .get("TMUX_PANE")
        .filter(|_| arguments.session.is_none() && context.env.get("TMUX").is_some());
    let socket = match (
        own,
        before.as_ref().and_then(|before| before.socket.clone()),
    ) {
        (None, Some(recorded)) if recorded.exists() => recorded,
        _ => up::pager::socket(context),
    };
    let tmux = Tmux::at(&socket);
    let seat = pane::seat(
        &pane::list(&tmux),
        Wanted {
            root: &place.root,
            key: (&code, &part),
            session: &session,
            own,
        },
    )?;
    Ok(Checked {
        place,
        before,
        register,
        server,
        door,
        part,
        part_exists,
        agent,
        version,
        command,
        tmux,
        seat,
        session,
        taken_from,
    })
}

fn refuse(message: String) -> Failure {
    Failure::new(Exit::Refused, "conflict", message)
}

/// The CLI: as given, else recorded, else by the command, else the only one installed, else Claude Code. And the command: as given, else
/// the one this worktree was joined with.
fn choose_agent(
    context: &Context,
    arguments: &Arguments,
    place: &Place,
    register: &Register,
    before: Option<&File>,
) -> (Agent, Vec<String>) {
    let installed: Vec<Agent> = Agent::ALL
        .into_iter()
        .filter(|agent| agent.program(&context.env).is_some())
        .collect();
    let only = match installed.as_slice() {
        [only] => Some(*only),
        _ => None,
    };
    let recorded = before.and_then(record::agent);
    let chosen = arguments
        .agent
        .or_else(|| Agent::of_command(&arguments.command))
        .or(recorded)
        .or(only)
        .unwrap_or(Agent::Claude);
    let known = register.of(&place.root);
    let command = match (arguments.command.is_empty(), known) {
        (true, Some(known)) if recorded == Some(chosen) => known.command.clone(),
        _ => arguments.command.clone(),
    };
    (chosen, command)
}

/// Whether there is something to start.
fn command_program(context: &Context, agent: Agent, command: &[String]) -> Option<PathBuf> {
    let Some(program) = command.first() else {
        return agent.program(&context.env);
    };
    let path = PathBuf::from(program);
    if path.components().count() > 1 {
        return Some(context.env.cwd.join(path)).filter(|path| path.exists());
    }
    std::env::split_paths(context.env.get("PATH")?)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

/// Plans every entry with a token that is none: what cannot be edited is found before anything is done.
fn editable(
    context: &Context,
    place: &Place,
    agent: Agent,
    version: Option<Version>,
) -> Result<(), Failure> {
    let entry = Entry {
        url: record::url("http://127.0.0.1", "code", "part"),
        token: "rrt_".to_owned(),
        hook: "/relayroom hook".to_owned(),
        version,
    };
    let around = Around {
        place,
        env: &context.env,
    };
    entry::put(agent, around, &entry).map(drop)
}

/// How the relay is asked, and the project's connect code where it has one.
async fn door(
    context: &Context,
    arguments: &Arguments,
    place: &Place,
    register: &Register,
    server: &str,
) -> Result<(Door, String), Failure> {
    let asked = context.globals.project.clone();
    let asked = asked.or_else(|| context.env.get("RELAYROOM_PROJECT").map(str::to_owned));
    if let (Some(file), Some(code)) = (&arguments.token_file, &arguments.code) {
        let tokens = tokens::brought(file)?;
        let known = place
            .common
            .as_deref()
            .and_then(|common| register.project(common, server));
        let project = asked
            .or_else(|| known.map(str::to_owned))
            .or_else(|| crate::identity::slug::from_name(&place.names().0))
            .unwrap_or_else(|| arguments.part.clone());
        let door = Door::Brought {
            tokens,
            code: code.clone(),
            project,
        };
        return Ok((door, code.clone()));
    }
    if !client::is_loopback(server)? {
        return Err(refuse(format!(
            "{server} is on another machine: join needs tokens made there"
        ))
        .fix("relayroom join PART --server URL --token-file FILE --code CODE"));
    }
    let client = context.client()?;
    let answer = client.get("projects", &[]).await?;
    let projects = field::list(&answer, "projects");
    let project = project::choose(asked.as_deref(), place, register, server, projects)?;
    let found = projects
        .iter()
        .find(|known| field::word(known, "slug") == project.name());
    if found.is_some_and(|found| field::time(found, "archivedAt").is_some()) {
        return Err(
            refuse(format!("project {} is archived", project.name())).fix(format!(
                "relayroom project unarchive --project {}",
                project.name()
            )),
        );
    }
    let code = found.map(|found| field::word(found, "code").to_owned());
    let live = Live::ask(&client).await?;
    let door = Door::Admin {
        client,
        project,
        live,
    };
    Ok((door, code.unwrap_or_default()))
}

/// Where the part is joined now, if `--take` moves it from there.
fn taken(
    arguments: &Arguments,
    place: &Place,
    register: &Register,
    server: &str,
    project: &str,
) -> Result<Option<PathBuf>, Failure> {
    let part = arguments.part.as_str();
    let Some(other) = register.elsewhere(&place.root, server, project, part) else {
        return Ok(None);
    };
    if !arguments.take {
        return Err(refuse(format!(
            "part {} is joined in {}",
            quote(part),
            other.root.display()
        ))
        .fix(format!("relayroom join {part} --take moves it here")));
    }
    Ok(Some(other.root.clone()))
}

/// Whether the project has the part.
async fn is_part(client: &Client, project: &str, part: &str) -> Result<bool, Failure> {
    let query = [("project", project.to_owned()), ("all", "true".to_owned())];
    let answer = client.get("parts", &query).await?;
    let found = field::list(&answer, "parts")
        .iter()
        .find(|known| field::word(known, "part") == part);
    match found {
        Some(found) if field::word(found, "state") == "deleted" => {
            Err(refuse(format!("part {part} was deleted"))
                .fix(format!("relayroom part revive {part}")))
        }
        found => Ok(found.is_some()),
    }
}
