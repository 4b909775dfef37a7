//! `relayroom token`: issue, list and revoke tokens.

use std::time::Duration;

use clap::Subcommand;
use http::Method;
use serde_json::json;

use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::hand_over;
use super::ids;
use super::rotate;
use super::screen::Style;
use super::table::Cell;
use super::table::Table;

/// Arguments of `token`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List live tokens
    List,
    /// Issue a token for a part's agent, or with --pager for a machine
    New(New),
    /// Give a joined part another token and write it into its worktree
    Rotate {
        /// The part
        part: String,
        /// End the old token at once, not in 24 h
        #[arg(long)]
        now: bool,
    },
    /// Revoke a token; it is dead at once
    Revoke {
        /// The token, by its id or the end of it
        #[arg(value_parser = ids::argument)]
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct New {
    /// The part; its name may still be free
    #[arg(required_unless_present = "pager", conflicts_with = "pager")]
    part: Option<String>,
    /// For the pager of the machine of this name
    #[arg(long, value_name = "MACHINE")]
    pager: Option<String>,
    /// Words to tell it by
    #[arg(long, default_value = "")]
    label: String,
    /// How long it is good: 90m, 12h, 30d
    #[arg(long, value_name = "SPAN", value_parser = span)]
    expires: Option<Duration>,
    #[command(flatten)]
    place: hand_over::Place,
}

/// Does what was asked.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    match arguments.act {
        Act::List => list(context, &client).await,
        Act::New(new) => issue(context, &client, &new).await,
        Act::Rotate { part, now } => rotate::token(context, &client, &part, now).await,
        Act::Revoke { id } => {
            let token = client
                .call(Method::DELETE, &format!("tokens/{id}"), &[], None)
                .await?;
            if context.screen.json {
                return context.screen.object(token);
            }
            context
                .screen
                .line(format!("{}\trevoked", field::word(&token, "id")))
        }
    }
}

async fn list(context: &Context, client: &Client) -> Result<(), Failure> {
    let answer = client.get("tokens", &[]).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let now = context.now();
    let mut table = Table::new(&[
        "token",
        "ends",
        "kind",
        "for",
        "age",
        "last used",
        "by",
        "label",
    ]);
    for token in field::list(&answer, "tokens") {
        let bound = match field::word(token, "part") {
            "" => field::word(token, "machine").to_owned(),
            part => format!("{}/{part}", field::word(token, "project")),
        };
        let used = match field::time(token, "lastUsedAt") {
            None => Cell::text("never").styled(Style::Warning),
            used => Cell::age(used, now),
        };
        table.row(vec![
            Cell::id(field::word(token, "id")),
            Cell::text(field::word(token, "lastFour")),
            Cell::text(field::word(token, "kind")),
            Cell::text(&bound).styled(Style::Bold),
            Cell::age(field::time(token, "createdAt"), now),
            used,
            Cell::text(field::word(token, "lastClient")),
            Cell::text(field::word(token, "label")),
        ]);
    }
    context.screen.table(&table, "no tokens")
}

async fn issue(context: &Context, client: &Client, new: &New) -> Result<(), Failure> {
    new.place.check()?;
    let ends = new.expires.map(|span| (context.now() + span).rfc3339());
    let body = json!({
        "kind": if new.pager.is_some() { "pager" } else { "agent" },
        "part": new.part,
        "machine": new.pager,
        "label": new.label,
        "expiresAt": ends,
    });
    let mut answer = client
        .call(Method::POST, "tokens", &client.project(), Some(&body))
        .await?;
    let usual = match &new.part {
        Some(part) => hand_over::agent_file(context, field::word(&answer, "project"), part),
        None => context.env.machine_token_file(),
    };
    let kept = new.place.keep(usual, field::word(&answer, "token"))?;
    kept.add_to(&mut answer);
    if context.screen.json {
        return context.screen.object(answer);
    }
    let mut fields = vec![("id", field::word(&answer, "id").to_owned()), kept.field()];
    if new.part.is_some() {
        fields.extend(hand_over::how_to_connect(client.base(), &answer, &kept));
    }
    context.screen.fields(&fields)
}

/// `90m`, `12h`, `30d`.
fn span(text: &str) -> Result<Duration, String> {
    let wrong = || "a span is a number and m, h or d, such as 30d".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    match number.checked_mul(seconds) {
        Some(seconds @ 1..=315_360_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("a token lives at most ten years".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit_and_an_end() {
        assert_eq!(span("90m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(span("30d"), Ok(Duration::from_secs(2_592_000)));
        for bad in [
            "",
            "30",
            "d",
            "-1d",
            "0d",
            "5000d",
            "99999999999999999999d",
            "3é",
        ] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }
}
