//! `relayroom send`: a thread from the person.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
use super::client::Client;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::progress::Progress;
use super::text;
use super::writing;

/// How often the relay is asked for a reply.
const LOOK: Duration = Duration::from_millis(300);

/// Arguments of `send`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The parts, by comma
    #[arg(value_name = "PART,…")]
    to: String,
    /// What it is about, on one line
    subject: String,
    #[command(flatten)]
    body: writing::Body,
    /// Wake through the urgent lane
    #[arg(long, conflicts_with = "fyi")]
    urgent: bool,
    /// Wake nobody; no answer is wanted
    #[arg(long)]
    fyi: bool,
    /// A tag of the thread
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Wait for the first reply, at most so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "300")]
    #[arg(conflicts_with = "as_part")]
    wait: Option<u64>,
    #[command(flatten)]
    voice: AsPart,
}

/// Sends, and prints the thread and what happens next for each recipient; with `--wait` the first reply.
///
/// # Errors
/// A refusal of the relay; exit 6 if no reply came in time.
pub async fn run(context: &Context, arguments: Arguments) -> Result<(), Failure> {
    let body = arguments.body.read(context)?;
    let message = json!({
        "to": writing::names(&arguments.to),
        "subject": arguments.subject,
        "body": body,
        "urgent": arguments.urgent,
        "fyi": arguments.fyi,
        "tags": arguments.tags,
    });
    if let Some(part) = arguments.voice.door(context)? {
        return print(context, &part.call("send", message).await?);
    }
    let client = context.client()?;
    let sent = client
        .call(Method::POST, "messages", &client.project(), Some(&message))
        .await?;
    let Some(seconds) = arguments.wait else {
        return print(context, &sent);
    };
    let thread = field::word(&sent, "threadId");
    context.screen.note(format!("thread {thread}"));
    for line in writing::outcomes(&sent).lines(&context.screen) {
        context.screen.note(line);
    }
    let waiting = Progress::start(&context.screen, "waiting for a reply");
    let reply = first_reply(&client, &sent, Duration::from_secs(seconds)).await?;
    drop(waiting);
    match reply {
        Some(reply) if context.screen.json => {
            let mut sent = sent;
            sent["reply"] = reply;
            context.screen.object(sent)
        }
        Some(reply) => context
            .screen
            .line(text::block(field::word(&reply, "body"))),
        None => Err(Failure::new(
            Exit::WaitOver,
            "wait_over",
            format!("no reply within {seconds} s in thread {thread}"),
        )
        .fix(format!("relayroom show {thread}"))),
    }
}

fn print(context: &Context, sent: &Value) -> Result<(), Failure> {
    if context.screen.json {
        return context.screen.object(sent.clone());
    }
    context
        .screen
        .line(format!("thread\t{}", field::word(sent, "threadId")))?;
    context.screen.table(&writing::outcomes(sent), "")
}

/// The first message by somebody else in the thread, whole.
async fn first_reply(
    client: &Client,
    sent: &Value,
    limit: Duration,
) -> Result<Option<Value>, Failure> {
    let path = format!("threads/{}", field::word(sent, "threadId"));
    let after = vec![("after", field::word(sent, "messageId").to_owned())];
    let look = async {
        loop {
            let thread = client.get(&path, &after).await?;
            let reply = field::list(&thread, "messages")
                .iter()
                .find(|message| field::word(message, "from") != "human");
            if let Some(reply) = reply {
                return Ok(reply.clone());
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match tokio::time::timeout(limit, look).await {
        Ok(found) => found.map(Some),
        Err(_) => Ok(None),
    }
}
