//! The program as a person sees it, for completions and man pages: without what is hidden, and with every command's own flags.

use clap::Arg;
use clap::Command;
use clap::CommandFactory;

use super::Cli;
use crate::pager::args::Args;

/// Every command a person may type, each with all flags it takes.
#[must_use]
pub fn program() -> Command {
    let whole = Cli::command();
    let shared: Vec<Arg> = whole
        .get_arguments()
        .map(|arg| arg.clone().global(false))
        .collect();
    let about = whole.get_about().cloned().unwrap_or_default();
    let mut program = Command::new("relayroom")
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true);
    for command in whole.get_subcommands().filter(|one| !one.is_hide_set()) {
        // The pager reads its own arguments and none of ours.
        program = program.subcommand(if command.get_name() == "pager" {
            let about = command.get_about().cloned().unwrap_or_default();
            Args::command().name("pager").about(about)
        } else {
            with(command.clone(), &shared)
        });
    }
    program.args(shared)
}

/// The command and all below it, with the flags every command takes.
fn with(command: Command, shared: &[Arg]) -> Command {
    let known: Vec<String> = command
        .get_arguments()
        .map(|arg| arg.get_id().to_string())
        .collect();
    let missing = shared
        .iter()
        .filter(|arg| !known.iter().any(|id| *id == arg.get_id().as_str()));
    command
        .args(missing)
        .mut_subcommands(|below| with(below, shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_is_in_it_and_the_rest_is() {
        let program = program();
        assert!(program.find_subcommand("demo-agent").is_none());
        let pager = program.find_subcommand("pager").unwrap();
        let flags: Vec<&str> = pager
            .get_arguments()
            .map(|arg| arg.get_id().as_str())
            .collect();
        assert!(
            flags.contains(&"canary") && !flags.contains(&"db"),
            "{flags:?}"
        );
        program.debug_assert();
    }
}
