//! The `relayroom` program: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    relayroom::cli::main(
        std::env::args_os().collect(),
        relayroom::config::Env::capture(),
    )
}
