//! `relayroom project playbook`: what a project's agents are told about working together (knowledge.md 10).

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use clap::Subcommand;
use http::Method;
use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::detach;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::table::Cell;
use super::table::Table;
use super::text;

/// What to do with the playbook.
#[derive(Debug, Subcommand)]
pub enum Act {
    /// Print it as agents get it
    Show,
    /// Change it in $VISUAL or $EDITOR
    Edit,
    /// Take its text from a file; an empty one returns to the built-in text
    Set {
        /// The file
        file: PathBuf,
    },
    /// List the versions that were saved
    History,
    /// Save an earlier version once more
    Rollback {
        /// The version
        version: u32,
    },
}

/// Does what was asked.
///
/// # Errors
/// A refusal of the relay, a file that cannot be read, an editor that failed.
pub async fn run(context: &Context, client: &Client, act: Act) -> Result<(), Failure> {
    match act {
        Act::Show => show(context, client).await,
        Act::Edit => edit(context, client).await,
        Act::Set { file } => {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
            save(context, client, &json!({ "text": text })).await
        }
        Act::History => history(context, client).await,
        Act::Rollback { version } => save(context, client, &json!({ "rollback": version })).await,
    }
}

async fn read(client: &Client) -> Result<Value, Failure> {
    client.get("playbook", &client.project()).await
}

async fn show(context: &Context, client: &Client) -> Result<(), Failure> {
    let playbook = read(client).await?;
    if context.screen.json {
        return context.screen.object(playbook);
    }
    let shown = text::block(field::word(&playbook, "served"));
    context.screen.line(shown.trim_end())
}

async fn history(context: &Context, client: &Client) -> Result<(), Failure> {
    let playbook = read(client).await?;
    let versions = field::list(&playbook, "versions");
    if context.screen.json {
        return context.screen.object(json!({ "versions": versions }));
    }
    let mut table = Table::new(&["version", "age", "by", "text", "sha256"]);
    for version in versions {
        let text = match field::flag(version, "builtIn") {
            true => "built in",
            false => "own",
        };
        table.row(vec![
            Cell::number(field::number(version, "version")),
            Cell::age(field::time(version, "at"), context.now()),
            Cell::text(field::word(version, "author")),
            Cell::text(text),
            Cell::text(field::word(version, "sha256")),
        ]);
    }
    context.screen.table(
        &table,
        "the built-in text (relayroom project playbook edit)",
    )
}

/// Opens the text in the person's editor and saves what they made of it.
async fn edit(context: &Context, client: &Client) -> Result<(), Failure> {
    let before = field::word(&read(client).await?, "text").to_owned();
    let folder = context.env.state_dir();
    detach::private_folder(&folder)?;
    let draft = folder.join(format!("playbook-{}.md", std::process::id()));
    std::fs::write(&draft, &before)?;
    let edited = in_editor(context, &draft).and_then(|()| Ok(std::fs::read_to_string(&draft)?));
    let after = match edited {
        Ok(after) => after,
        Err(failure) => {
            let _ = std::fs::remove_file(&draft);
            return Err(failure);
        }
    };
    if after == before {
        let _ = std::fs::remove_file(&draft);
        context.screen.note("nothing changed");
        return Ok(());
    }
    // What the relay refuses is not lost.
    let saved = save(context, client, &json!({ "text": after })).await;
    match &saved {
        Ok(()) => drop(std::fs::remove_file(&draft)),
        Err(_) => context
            .screen
            .note(format!("your text is in {}", draft.display())),
    }
    saved
}

fn in_editor(context: &Context, draft: &Path) -> Result<(), Failure> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .find_map(|name| context.env.get(name))
        .unwrap_or("vi");
    // An editor may be named with arguments, which only a shell takes apart.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(draft)
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Fault,
        "editor",
        format!("{editor} ended with {status}; nothing was saved"),
    ))
}

async fn save(context: &Context, client: &Client, change: &Value) -> Result<(), Failure> {
    let saved = client
        .call(Method::PUT, "playbook", &client.project(), Some(change))
        .await?;
    let removed = field::number(&saved, "removed");
    if removed > 0 {
        context.screen.note(format!(
            "warning: {removed} secrets were cut out of the text"
        ));
    }
    if context.screen.json {
        return context.screen.object(saved);
    }
    context.screen.line(format!(
        "{}\tversion {}",
        field::word(&saved, "project"),
        field::number(&saved, "version")
    ))?;
    context
        .screen
        .note("agents read it at the start of their next session");
    Ok(())
}
