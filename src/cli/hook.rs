//! `relayroom hook`: one event of an agent CLI (usage.md 1). Whatever happens it ends with 0, in time, without a word.

use std::ffi::OsString;
use std::panic;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Duration;
use std::time::Instant;

use clap::Parser;

use crate::config::Env;
use crate::hook::event;
use crate::hook::event::Provider;
use crate::hook::find::Flags;
use crate::hook::input;
use crate::hook::run;

/// When the process ends whatever it is doing.
const WATCHDOG: Duration = Duration::from_millis(1_900);

/// Arguments of `relayroom hook`.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// The agent CLI whose event this is
    #[arg(value_name = "CLI")]
    pub provider: Provider,
    /// Connect code, in place of the one in .relayroom/config.toml
    #[arg(long)]
    pub code: Option<String>,
    /// Part, in place of the one in .relayroom/config.toml
    #[arg(long)]
    pub part: Option<String>,
    /// The event as Codex hands it to its notify program; else it is read from standard input
    #[arg(value_name = "EVENT")]
    pub event: Option<String>,
}

/// The same by itself: `--server` is a flag of every other command.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    arguments: Arguments,
    #[arg(long)]
    server: Option<String>,
}

/// Whether these are arguments for [`main`]: help is printed like that of any other command.
pub fn is_called(args: &[OsString]) -> bool {
    args.get(1).is_some_and(|first| first == "hook")
        && !args[2..].iter().any(|arg| arg == "--help" || arg == "-h")
}

/// Runs the hook. `args` are the program's, `hook` among them.
pub fn main(args: &[OsString], env: &Env) -> ExitCode {
    silently(|begun| {
        if let Ok(alone) = Alone::try_parse_from(&args[1..]) {
            go(&alone.arguments, alone.server, env, begun);
        }
    })
}

/// The hook where a flag of ours stood before its name.
pub fn run(arguments: &Arguments, server: Option<String>, env: &Env) -> ExitCode {
    silently(|begun| go(arguments, server, env, begun))
}

/// A panic must not be seen, and nothing may outlast its time.
fn silently(work: impl FnOnce(Instant)) -> ExitCode {
    let begun = Instant::now();
    std::thread::spawn(|| {
        std::thread::sleep(WATCHDOG);
        std::process::exit(0);
    });
    contained(|| work(begun));
    ExitCode::SUCCESS
}

/// What panics in there ends there, unseen: nobody could mend it in the middle of an agent's turn.
fn contained(work: impl FnOnce()) {
    panic::set_hook(Box::new(|_| {}));
    let _ = panic::catch_unwind(AssertUnwindSafe(work));
}

fn go(arguments: &Arguments, server: Option<String>, env: &Env, begun: Instant) {
    let event = match &arguments.event {
        Some(event) if event.starts_with('{') => event.clone().into_bytes(),
        _ => input::standard(),
    };
    let Some(event) = event::read(arguments.provider, &input::fields(&event)) else {
        return;
    };
    let flags = Flags {
        code: arguments.code.clone(),
        part: arguments.part.clone(),
        server,
    };
    run::event(arguments.provider, &flags, &event, env, begun);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_023_a_panic_ends_where_it_began() {
        contained(|| panic!("as in a parser"));
        // The hook of the process is everybody's.
        drop(panic::take_hook());
    }

    #[test]
    fn only_the_hook_itself_is_silent() {
        let called = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            is_called(&args)
        };
        assert!(called("relayroom hook claude"));
        assert!(called("relayroom hook"));
        assert!(!called("relayroom hook --help"));
        assert!(!called("relayroom status"));
    }
}
