//! `relayroom close`: the person ends a thread, or gives it any other status.

use clap::ValueEnum;
use http::Method;
use serde_json::json;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;

/// The five states of a thread (tools.md 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Status {
    Open,
    Answered,
    Holding,
    Closed,
    Canceled,
}

impl Status {
    /// The word of the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Holding => "holding",
            Self::Closed => "closed",
            Self::Canceled => "canceled",
        }
    }
}

/// Arguments of `close`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The thread, by its id or the end of it
    #[arg(value_parser = ids::argument)]
    thread: String,
    /// The status it gets
    #[arg(long, value_enum, default_value = "closed")]
    status: Status,
}

/// Sets the status and prints it.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let path = format!("threads/{}", arguments.thread);
    let body = json!({"status": arguments.status.as_str()});
    let thread = client
        .call(Method::PATCH, &path, &client.project(), Some(&body))
        .await?;
    if context.screen.json {
        return context.screen.object(thread);
    }
    context.screen.line(format!(
        "{}\t{}",
        field::word(&thread, "id"),
        field::word(&thread, "status")
    ))
}
