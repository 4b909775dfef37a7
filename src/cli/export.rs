//! `relayroom export`: everything the relay holds but its secrets, as JSON Lines (cli.md 7).

use std::fs::File;
use std::fs::OpenOptions;
use std::io::BufWriter;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;

use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::interrupt;
use super::progress::Progress;
use super::text;

/// Arguments of `export`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The new file; without one the lines go to stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Prints the lines, or writes them to a new file of mode 0600.
///
/// # Errors
/// Exit 4 without a relay, exit 3 for a file that exists, exit 1 if the lines broke off; no file has the name then.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?.patient()?;
    let Some(out) = arguments.out else {
        // Piped, each line goes to its reader as soon as it can.
        return copy(&client, std::io::stdout().lock()).await.map(drop);
    };
    let out = std::path::absolute(out)?;
    if out.symlink_metadata().is_ok() {
        let message = format!(
            "{} exists: name another file, or move it away",
            out.display()
        );
        return Err(Failure::new(Exit::Refused, "conflict", message));
    }
    let mut name = out.clone().into_os_string();
    name.push(format!(".{}.tmp", std::process::id()));
    let unfinished = PathBuf::from(name);
    let _writing = Progress::start(&context.screen, "writing");
    let tidy = || {
        // It is not there before the first line came.
        let _ = std::fs::remove_file(&unfinished);
    };
    let (lines, bytes) = interrupt::guarded(write(&client, &unfinished, &out), tidy)
        .await
        .inspect_err(|_| tidy())?;
    if context.screen.json {
        return context.screen.object(json!({
            "file": out.to_string_lossy(),
            "lines": lines,
            "bytes": bytes,
        }));
    }
    context.screen.fields(&[
        ("file", text::line(&out.to_string_lossy())),
        ("lines", lines.to_string()),
        ("size", text::bytes(bytes)),
    ])
}

/// Writes a whole file under a temporary name, then gives it its own.
async fn write(client: &Client, unfinished: &Path, out: &Path) -> Result<(u64, u64), Failure> {
    let at = |error: std::io::Error| Failure::fault(format!("{}: {error}", out.display()));
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(unfinished)
        .map_err(at)?;
    let written = copy(client, BufWriter::new(&file)).await?;
    file.sync_all().map_err(at)?;
    std::fs::rename(unfinished, out).map_err(at)?;
    if let Some(folder) = out.parent() {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(at)?;
    }
    Ok(written)
}

/// Hands the relay's lines on as they come; returns how many lines and bytes there were.
async fn copy(client: &Client, mut to: impl Write) -> Result<(u64, u64), Failure> {
    let mut answer = client.stream("export", &client.project()).await?;
    let (mut lines, mut bytes) = (0, 0);
    while let Some(piece) = answer.piece().await? {
        lines += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        bytes += piece.len() as u64;
        to.write_all(&piece)?;
    }
    to.flush()?;
    Ok((lines, bytes))
}
