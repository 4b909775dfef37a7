//! `relayroom close`: the person ends a thread, or gives it any other status.

use clap::ValueEnum;
use http::Method;
use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
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
    #[arg(long, value_enum, default_value = "closed", conflicts_with = "as_part")]
    status: Status,
    #[command(flatten)]
    voice: AsPart,
}

/// Sets the status and prints it.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(part) = arguments.voice.door(context)? {
        let thread = part.thread(&arguments.thread).await?;
        let closed = part.call("close", json!({ "threadId": thread })).await?;
        return print(context, &closed, "threadId");
    }
    let client = context.client()?;
    let path = format!("threads/{}", arguments.thread);
    let body = json!({"status": arguments.status.as_str()});
    let thread = client
        .call(Method::PATCH, &path, &client.project(), Some(&body))
        .await?;
    print(context, &thread, "id")
}

fn print(context: &Context, thread: &Value, id: &str) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(thread.clone());
    }
    context.screen.line(format!(
        "{}\t{}",
        field::word(thread, id),
        field::word(thread, "status")
    ))
}
