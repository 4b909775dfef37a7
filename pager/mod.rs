//! The pager: one short line, into the right pane, at the right moment, or not at all.
//!
//! It holds a long poll to the relay (`poll`, `client`), finds the panes its parts live in (`target`), looks at them (`tmux`, `proc`,
//! `look`), judges what it sees (`read`, `rules`, `screen`), walks each wake through its states (`deliver`), and reports what it saw
//! (`report`). `serve` is the loop that ties these together; `journal` and `lock` are what outlives a process and what keeps two apart;
//! `status` and `log` are what the person sees. `dry_run` and `canary` are visits of a process that serves no pane (`visit`).
//!
//! Of two choices the safe one is: type nothing, say why, keep the wake. `deliver` and `read` are pure and decide; everything else only
//! fetches and does. Nothing of the server is used here but its types for JSON, settings, ids and time.

pub mod args;
mod canary;
pub mod client;
pub mod deliver;
mod dry_run;
pub mod facts;
pub mod journal;
pub mod line;
pub mod lock;
pub mod log;
pub mod look;
pub mod part;
pub mod poll;
pub mod proc;
pub mod read;
pub mod report;
pub mod rules;
pub mod screen;
pub mod serve;
pub mod setup;
pub mod status;
pub mod target;
pub mod tmux;
mod visit;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use self::args::Args;
use self::client::Client;
use self::log::Log;
use self::setup::Quit;
use self::setup::Setup;
use self::setup::exit;
use self::tmux::Tmux;
use self::tmux::Version;
use crate::config::Env;

/// Runs the pager: `relayroom-pager …` and `relayroom pager …`. The first of `args` is the program's name.
///
/// What goes wrong is written to standard error; the exit codes are those of pager.md 7.
pub fn main(args: impl IntoIterator<Item = OsString>, env: &Env) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => {
            // Nobody to tell if standard error is closed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::BAD));
        }
    };
    match start(&args, env) {
        Ok(code) => ExitCode::from(code),
        Err(quit) => {
            eprintln!("relayroom-pager: {}", log::plain(&quit.text));
            ExitCode::from(quit.code)
        }
    }
}

fn start(args: &Args, env: &Env) -> Result<u8, Quit> {
    let setup = Setup::of(args, env)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Quit::fault(error.to_string()))?;
    let client = Client::new(&setup.server, setup.token.clone()).map_err(Quit::fault)?;
    let code = runtime.block_on(async {
        let tmux = Tmux::find(&setup.socket, env)
            .await
            .map_err(|trouble| Quit::bad(trouble.to_string()))?;
        if !tmux.version.has_pane_options() {
            return Err(Quit::bad(format!(
                "tmux {} is too old: {} or newer is needed",
                tmux.version,
                Version::OLDEST
            )));
        }
        if args.dry_run {
            return dry_run::run(&setup, &tmux, &client).await;
        }
        if args.canary {
            return canary::run(&setup, &tmux, &client, args.json).await;
        }
        let log = Log::open(&setup.state)
            .map_err(|error| Quit::fault(format!("{}: {error}", setup.state.display())))?;
        serve::run(setup, tmux, client, log).await
    });
    // A call that still waits for an answer must not keep the process.
    runtime.shutdown_timeout(Duration::ZERO);
    code
}
