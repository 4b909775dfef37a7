//! `relayroom member`: what a person pays for.

use http::Method;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::text;

/// Arguments of `member`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    /// Set how many wakes an hour a person's parts may cost; without a number, show it
    Budget {
        /// The person; you, if left out
        #[arg(value_parser = clap::builder::NonEmptyStringValueParser::new())]
        name: Option<String>,
        /// Wakes per hour in the normal lane, 0-240
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=240))]
        wakes: Option<u32>,
        /// Wakes per hour in the urgent lane, 0-60
        #[arg(long, value_name = "U", value_parser = clap::value_parser!(u32).range(0..=60))]
        urgent: Option<u32>,
    },
}

/// Changes the budget, and prints it.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let Act::Budget {
        name,
        wakes,
        urgent,
    } = arguments.act;
    let body = json!({"wakes": wakes, "urgent": urgent});
    let name = match name {
        Some(name) => name,
        None => {
            let status = client.get("status", &[]).await?;
            field::word(&status, "person").to_owned()
        }
    };
    let path = format!("people/{}", super::client::encode(&name));
    let person = client.call(Method::PATCH, &path, &[], Some(&body)).await?;
    if context.screen.json {
        return context.screen.object(person);
    }
    context.screen.line(format!(
        "{}\twakes {}\turgent {}",
        text::line(field::word(&person, "name")),
        field::number(&person, "wakes"),
        field::number(&person, "urgent")
    ))
}
