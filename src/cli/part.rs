//! `relayroom part`: add and change parts.

use clap::Subcommand;
use http::Method;
use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::hand_over;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use crate::store::quote;

/// Arguments of `part`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List parts
    List {
        /// Deleted ones too
        #[arg(long)]
        all: bool,
    },
    /// Add a part, issue its token, and say how its agent connects
    Add {
        /// Its name: 1-32 of a-z, 0-9, - and _
        part: String,
        #[command(flatten)]
        place: hand_over::Place,
    },
    /// Say again how a part's agent connects and how its pane is served
    Show {
        /// The part
        part: String,
    },
    /// Make a part the main one
    Main {
        /// The part
        #[arg(required_unless_present = "none", conflicts_with = "none")]
        part: Option<String>,
        /// No part is main
        #[arg(long)]
        none: bool,
    },
    /// Give a part a name for people; without one, take it away
    Nick {
        /// The part
        part: String,
        /// Its name for people
        #[arg(default_value = "")]
        nickname: String,
    },
    /// Give a part a colour
    Colour {
        /// The part
        part: String,
        /// The colour, as #rrggbb
        colour: String,
    },
    /// Delete a part: its agent is turned away, its mail stays, its name stays taken
    Delete {
        /// The part
        part: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Bring a deleted part back
    Revive {
        /// The part
        part: String,
    },
}

/// Does what was asked.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let (part, change) = match arguments.act {
        Act::List { all } => return list(context, &client, all).await,
        Act::Show { part } => return show(context, &client, &part).await,
        Act::Add { part, place } => return add(context, &client, &part, &place).await,
        Act::Main {
            part: Some(part), ..
        } => (part, json!({"main": true})),
        Act::Main { part: None, .. } => return no_main(context, &client).await,
        Act::Nick { part, nickname } => (part, json!({ "nickname": nickname })),
        Act::Colour { part, colour } => (part, json!({ "colour": colour })),
        Act::Delete { part, yes } => {
            context.screen.confirm(
                &format!("Delete part {part}? Its agent is turned away; its mail stays."),
                yes,
            )?;
            (part, json!({"deleted": true}))
        }
        Act::Revive { part } => (part, json!({"deleted": false})),
    };
    let path = format!("parts/{}", super::client::encode(&part));
    let part = client
        .call(Method::PATCH, &path, &client.project(), Some(&change))
        .await?;
    if context.screen.json {
        return context.screen.object(part);
    }
    print(context, &[part], "")
}

async fn list(context: &Context, client: &Client, all: bool) -> Result<(), Failure> {
    let mut query = client.project();
    query.push(("all", all.to_string()));
    let answer = client.get("parts", &query).await?;
    let parts = field::list(&answer, "parts");
    if context.screen.json {
        return context.screen.object(json!({ "parts": parts }));
    }
    print(
        context,
        parts,
        "no parts yet (relayroom join PART in a worktree)",
    )
}

async fn show(context: &Context, client: &Client, part: &str) -> Result<(), Failure> {
    let answer = client.get("parts", &client.project()).await?;
    let found = field::list(&answer, "parts")
        .iter()
        .find(|row| field::word(row, "part") == part);
    let Some(found) = found else {
        return Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("part {} does not exist", quote(part)),
        )
        .fix("relayroom part list"));
    };
    let project = field::word(found, "project");
    let path = format!("projects/{}", super::client::encode(project));
    let home = client.get(&path, &[]).await?;
    let mut answer = json!({"part": part, "project": project, "code": home["code"]});
    let kept = hand_over::Kept::File(hand_over::agent_file(context, project, part));
    let lines = hand_over::how_to_connect(&context.server(), &answer, &kept);
    if context.screen.json {
        for (name, line) in lines {
            answer[name] = line.into();
        }
        return context.screen.object(answer);
    }
    let mut fields = vec![("part", format!("{part} of {project}")), kept.field()];
    fields.extend(lines);
    context.screen.fields(&fields)
}

async fn add(
    context: &Context,
    client: &Client,
    part: &str,
    place: &hand_over::Place,
) -> Result<(), Failure> {
    place.check()?;
    let body = json!({ "part": part });
    let mut answer = client
        .call(Method::POST, "parts", &client.project(), Some(&body))
        .await?;
    let project = field::word(&answer, "project");
    let usual = hand_over::agent_file(context, project, part);
    let kept = place.keep(usual, field::word(&answer, "token"))?;
    kept.add_to(&mut answer);
    if context.screen.json {
        return context.screen.object(answer);
    }
    let name = format!(
        "{} of {}",
        field::word(&answer, "part"),
        field::word(&answer, "project")
    );
    let mut fields = vec![("part", name), kept.field()];
    fields.extend(hand_over::how_to_connect(client.base(), &answer, &kept));
    context.screen.fields(&fields)
}

/// Takes the main part's rank away, if there is one.
async fn no_main(context: &Context, client: &Client) -> Result<(), Failure> {
    let answer = client.get("parts", &client.project()).await?;
    let main = field::list(&answer, "parts")
        .iter()
        .find(|part| field::flag(part, "isMain"))
        .map(|part| field::word(part, "part").to_owned());
    let Some(main) = main else {
        context.screen.note("no part was main");
        return if context.screen.json {
            context.screen.object(json!({}))
        } else {
            Ok(())
        };
    };
    let part = client
        .call(
            Method::PATCH,
            &format!("parts/{main}"),
            &client.project(),
            Some(&json!({"main": false})),
        )
        .await?;
    if context.screen.json {
        return context.screen.object(part);
    }
    print(context, &[part], "")
}

fn print(context: &Context, parts: &[Value], empty: &str) -> Result<(), Failure> {
    let mut table = Table::new(&[
        "part", "main", "state", "nickname", "colour", "age", "owner",
    ]);
    for part in parts {
        let main = if field::flag(part, "isMain") {
            "main"
        } else {
            ""
        };
        table.row(vec![
            Cell::text(field::word(part, "part")).styled(Style::Bold),
            Cell::text(main),
            Cell::text(field::word(part, "state")),
            Cell::text(field::word(part, "nickname")),
            Cell::text(field::word(part, "colour")),
            Cell::age(field::time(part, "createdAt"), context.now()),
            Cell::text(field::word(part, "owner")),
        ]);
    }
    context.screen.table(&table, empty)
}
