//! `relayroom pause` and `relayroom resume`: hold a part's wakes, or let them go.

use http::Method;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::field;

/// Arguments of `pause` and `resume`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The part
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    part: Option<String>,
    /// Every part of the project
    #[arg(long)]
    all: bool,
}

/// Pauses or resumes, and prints each part with its state.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments, paused: bool) -> Result<(), Failure> {
    let client = context.client()?;
    let project = client.project();
    let names: Vec<String> = match &arguments.part {
        Some(part) => vec![part.clone()],
        None => {
            let answer = client.get("parts", &project).await?;
            let parts = field::list(&answer, "parts").iter();
            parts
                .map(|part| field::word(part, "part").to_owned())
                .collect()
        }
    };
    let mut changed = Vec::new();
    for name in names {
        let path = format!("parts/{name}");
        let part = client
            .call(
                Method::PATCH,
                &path,
                &project,
                Some(&json!({ "paused": paused })),
            )
            .await?;
        changed.push(part);
    }
    if context.screen.json {
        return context.screen.object(json!({ "parts": changed }));
    }
    for part in &changed {
        let word = if paused { "paused" } else { "resumed" };
        context
            .screen
            .line(format!("{}\t{word}", field::word(part, "part")))?;
    }
    Ok(())
}
