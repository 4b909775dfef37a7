//! The `relayroom-pager` program.

use std::process::ExitCode;

use relayroom::config::Env;

fn main() -> ExitCode {
    relayroom::pager::main(std::env::args_os(), &Env::capture())
}
