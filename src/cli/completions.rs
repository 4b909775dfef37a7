//! `relayroom completions`: what a shell needs to complete our commands and flags.

use clap::ValueEnum;
use clap_complete::Shell;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::visible;

/// Arguments of `completions`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Known,
}

/// Shells we are tried with.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Known {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script, to be sourced or put where the shell looks.
///
/// # Errors
/// A write that fails.
pub fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let shell = match arguments.shell {
        Known::Bash => Shell::Bash,
        Known::Zsh => Shell::Zsh,
        Known::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible::program(), "relayroom", &mut script);
    let script = String::from_utf8_lossy(&script);
    if context.screen.json {
        return context
            .screen
            .object(json!({"shell": shell.to_string(), "script": script}));
    }
    context.screen.line(script.trim_end())
}
