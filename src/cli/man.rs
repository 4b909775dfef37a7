//! `relayroom man`: a man page per command.

use std::path::Path;
use std::path::PathBuf;

use clap::Command;
use clap_mangen::Man;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::visible;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder the pages go to; without one, ~/.local/share/man/man1, where `man` finds them
    dir: Option<PathBuf>,
}

/// Writes the pages over those of an earlier version.
///
/// # Errors
/// The file system's.
pub fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let usual = || context.env.data_dir().with_file_name("man").join("man1");
    let folder = std::path::absolute(arguments.dir.unwrap_or_else(usual))?;
    let mut program = visible::program();
    program.build();
    let mut pages = Vec::new();
    std::fs::create_dir_all(&folder)
        .and_then(|()| write(&program, &folder, &mut pages))
        .map_err(|error| Failure::fault(format!("{}: {error}", folder.display())))?;
    if context.screen.json {
        return context.screen.object(json!({
            "folder": folder.to_string_lossy(),
            "pages": pages,
        }));
    }
    context.screen.fields(&[
        ("folder", folder.display().to_string()),
        ("pages", pages.len().to_string()),
    ])
}

/// The page of a command and those of all below it.
fn write(command: &Command, folder: &Path, pages: &mut Vec<String>) -> std::io::Result<()> {
    let page = Man::new(command.clone());
    page.generate_to(folder)?;
    pages.push(page.get_filename());
    command
        .get_subcommands()
        .try_for_each(|below| write(below, folder, pages))
}
