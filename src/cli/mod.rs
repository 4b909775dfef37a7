//! The command line (cli.md): one program for everything a person types, one file per command.
//!
//! What this folder promises:
//!
//! - **A command parses, makes its call, prints.** Rules stay in the capabilities, behind `/api/admin/*`; the one token it uses is sent
//!   to this machine only ([`client`]).
//! - **Result on stdout, everything else on stderr**; tables for a terminal, tabs for a pipe, one JSON object with `"v":1` for `--json`
//!   ([`screen`], [`table`]).
//! - **A failure says what is wrong and the command that mends it**, with an exit code of its own kind ([`failure`]).
//! - **Foreign text never drives the terminal** ([`text`]).

mod ack;
mod as_part;
mod backup;
pub mod client;
mod close;
mod completions;
pub mod context;
mod demo;
mod demo_agent;
mod detach;
mod doctor;
mod export;
pub mod failure;
mod field;
mod hand_over;
mod hook;
pub mod ids;
mod inbox;
mod interrupt;
mod join;
mod knowledge;
mod logging;
mod man;
mod member;
mod part;
mod pause;
mod playbook;
mod progress;
mod project;
mod reply;
mod restore;
mod roster;
mod rotate;
pub mod screen;
mod search;
mod send;
mod serve;
mod show;
mod status;
pub mod table;
pub mod text;
mod threads;
mod tmux;
mod token;
mod up;
mod usage;
mod visible;
mod wake;
mod wakes;
mod wakes_report;
mod welcome;
mod writing;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;
use clap::error::ContextKind;
use clap::error::ContextValue;
use clap::error::ErrorKind;

use self::context::Context;
use self::context::Globals;
use self::failure::Failure;
use self::screen::Colour;
use self::screen::Screen;
use crate::config::Env;
use crate::identity::near;

/// Mail between coding agents in tmux panes, with an honest record of every wake
#[derive(Debug, Parser)]
#[command(
    name = "relayroom",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    globals: Globals,
}

/// Every command.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run the relay in the foreground
    Serve(serve::Arguments),
    /// Start relay, pager and joined agents where they do not run
    Up(up::Arguments),
    /// Make this worktree's agent a part of the project, and start it
    Join(join::Arguments),
    /// Take a part out of its worktree; its mail stays
    Leave(join::leave::Arguments),
    /// Become the agent of a worktree
    #[command(hide = true)]
    Exec(join::exec::Arguments),
    /// Watch two scripted agents work together in a place of their own
    Demo(demo::Arguments),
    /// Show relay, pager, what needs you, and every part
    Status(status::Arguments),
    /// List the parts and what they are doing
    Roster(roster::Arguments),
    /// Start a thread
    Send(send::Arguments),
    /// Show mail for you
    Inbox(inbox::Arguments),
    /// Read a thread
    Show(show::Arguments),
    /// Add a message to a thread
    Reply(reply::Arguments),
    /// Take note of a message, as the part of this worktree
    Ack(ack::Arguments),
    /// End a thread, or give it another status
    Close(close::Arguments),
    /// List threads
    Threads(threads::Arguments),
    /// Find threads by their text
    Search(search::Arguments),
    /// Hold a part's wakes
    Pause(pause::Arguments),
    /// Let a part's wakes go
    Resume(pause::Arguments),
    /// Wake a part once now for its open mail
    Wake(wake::Arguments),
    /// Show wakes, lines typed and holds, or sum up a week of them
    Wakes(wakes::Arguments),
    /// Show tokens and cost, and the turns that wakes caused
    Usage(usage::Arguments),
    /// Make, show and change projects
    Project(project::Arguments),
    /// Add and change parts
    Part(part::Arguments),
    /// Issue, list and revoke tokens
    Token(token::Arguments),
    /// Change what a person pays for
    Member(member::Arguments),
    /// Keep what the project has learned
    Knowledge(knowledge::Arguments),
    /// Find what is wrong here, and the command that mends it
    Doctor(doctor::Arguments),
    /// Copy the database, whether the relay runs or not
    Backup(backup::Arguments),
    /// Put a backup in the place of the database
    Restore(restore::Arguments),
    /// Write out all mail, wakes and knowledge as JSON Lines, without secrets
    Export(export::Arguments),
    /// Print what a shell needs to complete commands and flags
    Completions(completions::Arguments),
    /// Write a man page per command
    Man(man::Arguments),
    /// Run the pager in the foreground: the same program as relayroom-pager
    #[command(disable_help_flag = true)]
    Pager(Passed),
    /// Report an event of an agent: run by the agent CLI itself, never prints anything
    Hook(hook::Arguments),
    /// One scripted agent of the demo
    #[command(hide = true)]
    DemoAgent(demo_agent::Arguments),
}

/// Arguments handed on as they are.
#[derive(Debug, clap::Args)]
struct Passed {
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    rest: Vec<OsString>,
}

impl Passed {
    fn misplaced(&self) -> Failure {
        let rest: Vec<_> = self.rest.iter().map(|arg| arg.to_string_lossy()).collect();
        Failure::usage("pager takes its own arguments, behind its name")
            .fix(format!("relayroom pager {}", rest.join(" ")).trim_end())
    }
}

/// The program: everything between the arguments and the exit code.
#[must_use]
pub fn main(mut args: Vec<OsString>, env: Env) -> ExitCode {
    let log_file = detach::enter_background(&mut args);
    // The pager reads its own arguments, some of which are called like ours.
    if args.get(1).is_some_and(|first| first == "pager") {
        return crate::pager::main(args.drain(1..), &env);
    }
    if hook::is_called(&args) {
        return hook::main(&args, &env);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, &args, &env),
    };
    if let Some(Command::Hook(arguments)) = &cli.command {
        return hook::run(arguments, cli.globals.server, &env);
    }
    let screen = Screen::of(&env, cli.globals.json, cli.globals.color);
    let (server, project) = (cli.globals.server.clone(), cli.globals.project.clone());
    let mends = matches!(
        cli.command,
        Some(Command::Join(_) | Command::Leave(_) | Command::Doctor(_))
    );
    let context = match mends {
        true => Context::mending(env, cli.globals, screen.clone()),
        false => Context::new(env, cli.globals, screen.clone()),
    };
    let result = context.and_then(|mut context| {
        context.log_file = log_file;
        let Some(command) = cli.command else {
            return match context.settings.worktree_root {
                Some(_) => run(Command::Status(status::Arguments {}), &context),
                None => welcome::print(&context.screen),
            };
        };
        run(command, &context)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !failure.exit.is_told() {
                screen.failure(
                    &failure
                        .clone()
                        .within(server.as_deref(), project.as_deref()),
                );
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn run(command: Command, context: &Context) -> Result<(), Failure> {
    // The relay serves many at once and has its own runtime; every other command makes one call after the other.
    if let Command::Serve(arguments) = command {
        return serve::run(context, &arguments);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match command {
            // The pager is left before, unless a flag of ours stood in front of it.
            Command::Pager(passed) => Err(passed.misplaced()),
            Command::Hook(_) => Ok(()),
            Command::Serve(_) => Ok(()),
            Command::Up(arguments) => up::run(context, &arguments).await,
            Command::Join(arguments) => join::run(context, &arguments).await,
            Command::Leave(arguments) => join::leave::run(context, &arguments).await,
            Command::Exec(arguments) => join::exec::run(&context.env, &arguments),
            Command::Demo(arguments) => demo::run(context, &arguments).await,
            Command::DemoAgent(arguments) => demo_agent::run(&arguments).await,
            Command::Status(arguments) => status::run(context, &arguments).await,
            Command::Roster(arguments) => roster::run(context, &arguments).await,
            Command::Send(arguments) => send::run(context, arguments).await,
            Command::Inbox(arguments) => inbox::run(context, arguments).await,
            Command::Show(arguments) => show::run(context, &arguments).await,
            Command::Reply(arguments) => reply::run(context, arguments).await,
            Command::Ack(arguments) => ack::run(context, &arguments).await,
            Command::Close(arguments) => close::run(context, &arguments).await,
            Command::Threads(arguments) => threads::run(context, arguments).await,
            Command::Search(arguments) => search::run(context, arguments).await,
            Command::Pause(arguments) => pause::run(context, &arguments, true).await,
            Command::Resume(arguments) => pause::run(context, &arguments, false).await,
            Command::Wake(arguments) => wake::run(context, &arguments).await,
            Command::Wakes(arguments) => wakes::run(context, arguments).await,
            Command::Usage(arguments) => usage::run(context, &arguments).await,
            Command::Project(arguments) => project::run(context, arguments).await,
            Command::Part(arguments) => part::run(context, arguments).await,
            Command::Token(arguments) => token::run(context, arguments).await,
            Command::Member(arguments) => member::run(context, arguments).await,
            Command::Knowledge(arguments) => knowledge::run(context, arguments).await,
            Command::Backup(arguments) => backup::run(context, arguments).await,
            Command::Export(arguments) => export::run(context, arguments).await,
            Command::Completions(arguments) => completions::run(context, arguments),
            Command::Man(arguments) => man::run(context, arguments),
            Command::Doctor(arguments) => doctor::run(context, arguments).await,
            Command::Restore(arguments) => restore::run(context, arguments).await,
        }
    })
}

/// Help and version are results; anything else the parser says is wrong usage, in our form.
fn misused(error: &clap::Error, args: &[OsString], env: &Env) -> ExitCode {
    if !error.use_stderr() {
        // Nobody is left to tell where this cannot be written.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let json = args.iter().any(|argument| argument == "--json");
    let screen = Screen::of(env, json, Colour::Auto);
    screen.failure(&usage(error));
    ExitCode::from(failure::Exit::Usage as u8)
}

fn usage(error: &clap::Error) -> Failure {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(typed) = context(ContextKind::InvalidSubcommand)
    {
        let command = Cli::command();
        let known: Vec<&str> = command
            .get_subcommands()
            .filter(|known| !known.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        let near = context(ContextKind::SuggestedSubcommand)
            .or_else(|| near(&typed, &known).first().map(|near| (*near).to_owned()))
            .map(|near| format!("; did you mean {near}?"))
            .unwrap_or_default();
        return Failure::usage(format!("no command {}{near}", crate::store::quote(&typed)))
            .fix("relayroom --help");
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let text = error.render().to_string();
        return Failure::usage(format!("a command is missing\n\n{}", text.trim_end()));
    }
    // The parser's first paragraph says what is wrong; its tip and the usage line say how to mend it.
    let text = error.render().to_string();
    let message = text.trim_start_matches("error: ").trim_end();
    Failure::usage(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn cli_042_a_misspelt_command_is_named_with_the_nearest() {
        let error = Cli::try_parse_from(["relayroom", "sned"]).unwrap_err();
        assert_eq!(
            usage(&error).to_line(),
            "no command \"sned\"; did you mean send? (relayroom --help)"
        );
    }
}
