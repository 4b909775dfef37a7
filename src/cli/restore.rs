//! `relayroom restore`: a backup takes the place of the database, which is kept beside it (cli.md 7).

use std::path::Path;
use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

use super::context::Context;
use super::detach;
use super::failure::Exit;
use super::failure::Failure;
use super::interrupt;
use super::progress::Progress;
use super::table::Cell;
use super::table::Table;
use super::text;
use crate::config;
use crate::identity;
use crate::identity::people;
use crate::identity::token;
use crate::store::Contents;
use crate::store::OpenError;
use crate::store::Store;
use crate::store::Time;
use crate::store::backup;
use crate::store::backup::restore;
use crate::store::backup::restore::Coming;
use crate::store::backup::restore::Place;

/// Arguments of `restore`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The backup
    file: PathBuf,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

/// Checks the backup, shows it beside the present database, asks, and puts it in that one's place.
///
/// # Errors
/// Exit 3 while a relay serves the database, and for a file that is damaged, foreign or newer; nothing was touched then.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let db = std::path::absolute(context.db())?;
    let file = arguments.file.canonicalize().map_err(|error| {
        let message = format!("{}: {error}", arguments.file.display());
        Failure::new(Exit::Missing, "not_found", message)
    })?;
    // Judged before the lock is taken, so that a refusal leaves nothing behind.
    let incoming = backup::check(&file).map_err(|error| not_usable(&file, &error))?;
    if let Some(folder) = db.parent() {
        detach::private_folder(folder)?;
    }
    let place = Place::take(&db).map_err(|error| held(&db, &error))?;
    if place.is(&file) {
        return Err(Failure::usage("that is the present database itself"));
    }
    let present = place.present();
    if !context.screen.json {
        show(context, &incoming, &present)?;
    }
    context.screen.confirm(
        "Put this backup in the place of the database?",
        arguments.yes,
    )?;
    let now = context.now();
    let work = prepare(context, place, file.clone(), &db, now);
    let coming = interrupt::guarded(work, || {
        restore::clear(&db);
        // The thread that copies cannot be called back.
        std::process::exit(Exit::Interrupted as i32);
    })
    .await?;
    let kept = coming.take_place(now)?;
    let kept = kept.map(|path| path.to_string_lossy().into_owned());
    if context.screen.json {
        return context.screen.object(json!({
            "database": db.to_string_lossy(),
            "restored": file.to_string_lossy(),
            "kept": kept,
            "backup": view(&incoming),
            "present": present.ok().flatten().as_ref().map(view),
        }));
    }
    let mut fields = vec![("restored", db.display().to_string())];
    fields.extend(kept.map(|path| ("kept", path)));
    fields.push(("next", "relayroom up".to_owned()));
    context.screen.fields(&fields)
}

/// Copies the backup beside the database. The admin token's file stays, so the copy has to know the token.
async fn prepare(
    context: &Context,
    place: Place,
    file: PathBuf,
    db: &Path,
    now: Time,
) -> Result<Coming, Failure> {
    let _copying = Progress::start(&context.screen, "copying");
    let admin = config::read_secret(&config::admin_token_file(db)).ok();
    let work = move || {
        place.prepare(&file, |copy| {
            identity::renew_instance(copy)?;
            match admin {
                Some(secret) => {
                    let owner = people::first_owner(copy)?;
                    token::keep_admin(copy, owner.seq, &secret, now)
                }
                None => Ok(()),
            }
        })
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Failure::fault("the copying broke off"))?
        .map_err(|error| Failure::fault(error.to_string()))
}

fn held(db: &Path, error: &OpenError) -> Failure {
    if !error.held {
        return Failure::fault(error.to_string());
    }
    let pid = Store::holder(db).map(|holder| holder.pid);
    let failure = Failure::new(
        Exit::Refused,
        "conflict",
        format!("{}: {}", db.display(), error.cause),
    );
    match pid {
        Some(pid) => failure.fix(format!("kill {pid}")),
        None => failure,
    }
}

fn not_usable(file: &Path, error: &OpenError) -> Failure {
    let message = format!("{} {}; nothing was touched", file.display(), error.cause);
    Failure::new(Exit::Refused, "not_usable", message)
}

/// The backup beside what it replaces.
fn show(
    context: &Context,
    incoming: &Contents,
    present: &Result<Option<Contents>, OpenError>,
) -> Result<(), Failure> {
    let now = context.now();
    let mut table = Table::new(&[
        "", "projects", "parts", "threads", "messages", "oldest", "newest",
    ]);
    let mut row = |name: &str, contents: &Contents| {
        let mut cells = vec![Cell::text(name)];
        for count in [
            contents.projects,
            contents.parts,
            contents.threads,
            contents.messages,
        ] {
            cells.push(Cell::text(&count.to_string()));
        }
        cells.push(Cell::age(contents.oldest_at, now));
        cells.push(Cell::age(contents.newest_at, now));
        table.row(cells);
    };
    if let Ok(Some(contents)) = present {
        row("present", contents);
    }
    row("backup", incoming);
    context.screen.table(&table, "")?;
    match present {
        Ok(Some(_)) => Ok(()),
        Ok(None) => context.screen.line("there is no database yet"),
        Err(error) => context
            .screen
            .line(format!("the present database {}", text::line(&error.cause))),
    }
}

fn view(contents: &Contents) -> Value {
    json!({
        "schema": contents.schema,
        "projects": contents.projects,
        "parts": contents.parts,
        "threads": contents.threads,
        "messages": contents.messages,
        "oldestAt": contents.oldest_at.map(Time::rfc3339),
        "newestAt": contents.newest_at.map(Time::rfc3339),
    })
}
