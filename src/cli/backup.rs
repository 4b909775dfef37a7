//! `relayroom backup`: a copy of the database, whether a relay serves it or not (cli.md 7).

use std::path::Path;
use std::path::PathBuf;

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::detach;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::interrupt;
use super::progress::Progress;
use super::text;
use crate::store::backup;
use crate::store::backup::Cause;
use crate::store::backup::names;

/// Arguments of `backup`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The new file, or a folder for it; without one, the folder `backups` beside the database
    file: Option<PathBuf>,
    /// Keep this many in that folder and remove older ones, of those named relayroom-<UTC time>.db only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
}

/// Makes a backup, then removes old ones if it was asked to.
///
/// # Errors
/// Exit 3 for a name that is taken, exit 1 if it could not be made; no file has the name then.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let db = std::path::absolute(context.db())?;
    let to = target(&db, arguments.file, &names::of(context.now()))?;
    let made = make(context, &db, &to).await?;
    let removed = match (arguments.keep, to.parent()) {
        (Some(keep), Some(folder)) => names::prune(folder, keep as usize)?,
        _ => Vec::new(),
    };
    let removed: Vec<String> = removed
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if context.screen.json {
        let mut made = made;
        made["removed"] = json!(removed);
        return context.screen.object(made);
    }
    let mut fields = vec![
        ("backup", text::line(field::word(&made, "path"))),
        ("size", text::bytes(field::number(&made, "bytes"))),
        ("messages", field::number(&made, "messages").to_string()),
    ];
    fields.extend(removed.into_iter().map(|path| ("removed", path)));
    context.screen.fields(&fields)
}

/// The file to write. The usual folder is made; any other has to be there.
fn target(db: &Path, asked: Option<PathBuf>, name: &str) -> Result<PathBuf, Failure> {
    let Some(asked) = asked else {
        let folder = db.with_file_name("backups");
        detach::private_folder(&folder)
            .map_err(|error| Failure::fault(format!("{}: {error}", folder.display())))?;
        return Ok(folder.join(name));
    };
    let asked = std::path::absolute(asked)?;
    Ok(if asked.is_dir() {
        asked.join(name)
    } else {
        asked
    })
}

/// Lets the relay make it, or makes it here where no relay answers.
async fn make(context: &Context, db: &Path, to: &Path) -> Result<Value, Failure> {
    let unfinished = names::unfinished(to);
    let size = std::fs::metadata(db).map_or(0, |meta| meta.len());
    let watched = unfinished.clone();
    let _making = Progress::of(&context.screen, "copying", size, move || {
        std::fs::metadata(&watched).map_or(0, |meta| meta.len())
    });
    let client = context.client()?.patient()?;
    match by_relay(&client, to).await {
        Err(failure) if failure.exit == Exit::Unreachable => {}
        answered => return answered,
    }
    if !db.exists() {
        return Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("there is no database at {}", db.display()),
        )
        .fix("relayroom up"));
    }
    let (from, path) = (db.to_owned(), to.to_owned());
    let making = async {
        tokio::task::spawn_blocking(move || backup::make(&from, &path))
            .await
            .map_err(|_| Failure::fault("the copying broke off"))?
            .map_err(|not_made| {
                let message = not_made.to_string();
                match not_made.cause {
                    Cause::Name | Cause::Busy => Failure::new(Exit::Refused, "conflict", message),
                    Cause::Failed => Failure::fault(message),
                }
            })
    };
    // The thread that copies cannot be called back; without its file it ends by itself, and with the process.
    let made = interrupt::guarded(making, || {
        names::remove_unfinished(&unfinished);
        std::process::exit(Exit::Interrupted as i32);
    })
    .await?;
    Ok(json!({
        "path": made.path.to_string_lossy(),
        "bytes": made.bytes,
        "messages": made.contents.messages,
    }))
}

async fn by_relay(client: &Client, to: &Path) -> Result<Value, Failure> {
    let body = json!({ "path": to.to_string_lossy() });
    client.call(Method::POST, "backup", &[], Some(&body)).await
}
