//! `relayroom project`: make, show and change projects.

use clap::Subcommand;
use http::Method;
use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::client::encode;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::playbook;
use super::rotate;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use super::text;
use crate::identity::near;

/// Arguments of `project`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List projects
    List,
    /// Make a project
    New {
        /// Its name
        name: String,
    },
    /// Show a project's settings and where its agents connect
    Show,
    /// Change a setting: maxBroadcastRecipients (1-64 or default), distillOnClose (on or off)
    Set {
        /// The setting
        key: String,
        /// Its new value
        value: String,
    },
    /// Print the connect code
    Code,
    /// Give the project a new connect code; the old one is dead at once
    RotateCode {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// What its agents are told about working together
    #[command(subcommand)]
    Playbook(playbook::Act),
    /// Put the project away: its agents are turned away, its mail stays
    Archive,
    /// Take the project back
    Unarchive,
}

/// Settings of a project by their names.
const SETTINGS: [&str; 2] = ["maxBroadcastRecipients", "distillOnClose"];

/// Does what was asked.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    match arguments.act {
        Act::List => list(context, &client).await,
        Act::New { name } => {
            let body = json!({ "name": name });
            let project = client
                .call(Method::POST, "projects", &[], Some(&body))
                .await?;
            print(context, &project)?;
            context
                .screen
                .note("next: relayroom join PART in a worktree, or relayroom part add NAME");
            Ok(())
        }
        Act::Show => print(context, &one(context, &client).await?),
        Act::Set { key, value } => {
            let change = setting(&key, &value)?;
            print(context, &change_one(context, &client, &change).await?)
        }
        Act::Code => {
            let project = one(context, &client).await?;
            if context.screen.json {
                return context.screen.object(json!({"code": project["code"]}));
            }
            context.screen.line(field::word(&project, "code"))
        }
        Act::RotateCode { yes } => rotate_code(context, &client, yes).await,
        Act::Playbook(act) => playbook::run(context, &client, act).await,
        Act::Archive => print(
            context,
            &change_one(context, &client, &json!({"archived": true})).await?,
        ),
        Act::Unarchive => print(
            context,
            &change_one(context, &client, &json!({"archived": false})).await?,
        ),
    }
}

async fn list(context: &Context, client: &Client) -> Result<(), Failure> {
    let answer = client.get("projects", &[]).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let mut table = Table::new(&["project", "parts", "main", "age", "archived", "code"]);
    for project in field::list(&answer, "projects") {
        table.row(vec![
            Cell::text(field::word(project, "slug")).styled(Style::Bold),
            Cell::number(field::number(project, "parts")),
            Cell::text(field::word(project, "main")),
            Cell::age(field::time(project, "createdAt"), context.now()),
            Cell::age(field::time(project, "archivedAt"), context.now()),
            Cell::text(field::word(project, "code")),
        ]);
    }
    context
        .screen
        .table(&table, "no projects yet (relayroom project new NAME)")
}

/// The project that was named, or the only one.
async fn one(context: &Context, client: &Client) -> Result<Value, Failure> {
    client.get(&path(context), &[]).await
}

/// Where the project that was named is; `-` stands for the only one.
fn path(context: &Context) -> String {
    let name = context.project().unwrap_or_else(|| "-".to_owned());
    format!("projects/{}", encode(&name))
}

async fn change_one(context: &Context, client: &Client, change: &Value) -> Result<Value, Failure> {
    client
        .call(Method::PATCH, &path(context), &[], Some(change))
        .await
}

async fn rotate_code(context: &Context, client: &Client, yes: bool) -> Result<(), Failure> {
    let project = one(context, client).await?;
    let slug = field::word(&project, "slug");
    context.screen.confirm(
        &format!("Give {slug} a new connect code? Every agent and pager needs the new address."),
        yes,
    )?;
    let (project, told) = rotate::code(context, client, slug).await?;
    let project_flag: Vec<(&'static str, String)> = vec![("project", slug.to_owned())];
    let parts = client.get("parts", &project_flag).await?;
    let names: Vec<&str> = field::list(&parts, "parts")
        .iter()
        .map(|part| field::word(part, "part"))
        .collect();
    let rewritten: Vec<&str> = told
        .iter()
        .filter(|(_, failure)| failure.is_none())
        .map(|(known, _)| known.part.as_str())
        .collect();
    let mut shown = project;
    shown["restart"] = json!(names);
    shown["rewritten"] = json!(rewritten);
    print(context, &shown)?;
    if !names.is_empty() {
        context.screen.note(format!(
            "restart these agents with the new address: {}",
            names.join(", ")
        ));
    }
    let elsewhere: Vec<&str> = names
        .into_iter()
        .filter(|name| !told.iter().any(|(known, _)| known.part == *name))
        .collect();
    if !elsewhere.is_empty() {
        context.screen.note(format!(
            "not joined on this machine, to be joined again where they are: {}",
            elsewhere.join(", ")
        ));
    }
    match told.into_iter().find_map(|(_, failure)| failure) {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

fn print(context: &Context, project: &Value) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(project.clone());
    }
    let cap = match project["maxBroadcastRecipients"].as_u64() {
        Some(cap) => cap.to_string(),
        None => "default (at most 8)".to_owned(),
    };
    let on = if field::flag(project, "distillOnClose") {
        "on"
    } else {
        "off"
    };
    let mut lines = vec![
        ("project", field::word(project, "slug").to_owned()),
        ("name", text::line(field::word(project, "name"))),
        ("code", field::word(project, "code").to_owned()),
        ("main", field::word(project, "main").to_owned()),
        ("parts", field::number(project, "parts").to_string()),
        ("maxBroadcastRecipients", cap),
        ("distillOnClose", on.to_owned()),
    ];
    if let Some(since) = field::time(project, "archivedAt") {
        lines.push(("archived", since.rfc3339()));
    }
    lines.retain(|(_, value)| !value.is_empty());
    context.screen.fields(&lines)
}

/// A change of one setting.
fn setting(key: &str, value: &str) -> Result<Value, Failure> {
    let Some(known) = SETTINGS
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(key))
    else {
        let near = near(key, &SETTINGS)
            .first()
            .map(|near| format!("; did you mean {near}?"))
            .unwrap_or_default();
        return Err(Failure::usage(format!(
            "a project has no setting {}{near}",
            crate::store::quote(key)
        ))
        .fix("relayroom project set --help"));
    };
    let value = match (known, value) {
        ("distillOnClose", "on" | "true") => json!(true),
        ("distillOnClose", "off" | "false") => json!(false),
        ("distillOnClose", _) => return Err(Failure::usage("distillOnClose is on or off")),
        (_, "default") => Value::Null,
        (_, number) => json!(
            number
                .parse::<u32>()
                .map_err(|_| Failure::usage("maxBroadcastRecipients is 1-64 or default"))?
        ),
    };
    Ok(json!({ known: value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_by_their_names() {
        assert_eq!(
            setting("maxbroadcastrecipients", "12").unwrap(),
            json!({"maxBroadcastRecipients": 12})
        );
        assert_eq!(
            setting("maxBroadcastRecipients", "default").unwrap(),
            json!({"maxBroadcastRecipients": null})
        );
        assert_eq!(
            setting("distillOnClose", "off").unwrap(),
            json!({"distillOnClose": false})
        );
        let failure = setting("distilOnClose", "on").unwrap_err();
        assert!(failure.message.ends_with("did you mean distillOnClose?"));
        assert!(setting("distillOnClose", "maybe").is_err());
    }
}
