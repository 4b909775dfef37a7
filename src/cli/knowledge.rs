//! `relayroom knowledge`: keep what the project has learned (knowledge.md 2 and 4).

use clap::Subcommand;
use clap::ValueEnum;
use http::Method;
use serde_json::Value;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;
use super::writing;

/// Arguments of `knowledge`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List entries
    List {
        /// Only entries of this state
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Write an entry down; agents see it once it is confirmed
    Add {
        /// What it is about, on one line
        title: String,
        #[command(flatten)]
        body: writing::Body,
        /// What it is
        #[arg(long, value_enum)]
        kind: Kind,
        /// Confirm it at once
        #[arg(long)]
        confirm: bool,
    },
    /// Vouch for an entry: agents see it from now on
    Confirm {
        /// The entry, by its id or the end of it
        #[arg(value_parser = ids::argument)]
        id: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum State {
    Candidate,
    Trusted,
    Contradicted,
    Retired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Fact,
    Convention,
    Pitfall,
    Decision,
}

/// The word of the wire: the one the parser takes.
fn word<T: ValueEnum>(value: &T) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// Does what was asked.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let mut query = client.project();
    match arguments.act {
        Act::List { state } => {
            query.extend(state.map(|state| ("state", word(&state))));
            let answer = client.get("knowledge", &query).await?;
            let entries = field::list(&answer, "entries");
            if context.screen.json {
                return context.screen.object(json!({ "entries": entries }));
            }
            print(context, entries)
        }
        Act::Add {
            title,
            body,
            kind,
            confirm,
        } => {
            let body = json!({
                "title": title,
                "body": body.read(context)?,
                "kind": word(&kind),
                "confirm": confirm,
            });
            let entry = client
                .call(Method::POST, "knowledge", &query, Some(&body))
                .await?;
            one(context, &entry)
        }
        Act::Confirm { id } => {
            let path = format!("knowledge/{id}/confirm");
            let entry = client.call(Method::POST, &path, &query, None).await?;
            one(context, &entry)
        }
    }
}

fn one(context: &Context, entry: &Value) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(entry.clone());
    }
    context.screen.line(format!(
        "{}\t{}",
        field::word(entry, "id"),
        field::word(entry, "state")
    ))
}

fn print(context: &Context, entries: &[Value]) -> Result<(), Failure> {
    let mut table = Table::new(&["entry", "state", "kind", "age", "by", "title"]);
    for entry in entries {
        let state = field::word(entry, "state");
        let style = match state {
            "trusted" => Style::Good,
            "candidate" => Style::Warning,
            "contradicted" => Style::Bad,
            _ => Style::Dim,
        };
        table.row(vec![
            Cell::id(field::word(entry, "id")),
            Cell::text(state).styled(style),
            Cell::text(field::word(entry, "kind")),
            Cell::age(field::time(entry, "createdAt"), context.now()),
            Cell::text(field::word(entry, "author")),
            Cell::text(field::word(entry, "title")),
        ]);
    }
    context.screen.table(&table, "nothing learned yet")
}
