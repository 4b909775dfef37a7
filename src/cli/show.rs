//! `relayroom show`: a thread, whole.

use std::io::Write;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;

use super::as_part::AsPart;
use super::as_part::Part;
use super::client::Client;
use super::context::Context;
use super::failure::Failure;
use super::field;
use super::ids;
use super::screen::Style;
use super::text;

/// Arguments of `show`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The thread, by its id or the end of it
    #[arg(value_parser = ids::argument)]
    thread: String,
    /// Also show what became of each message, per recipient
    #[arg(long)]
    receipts: bool,
    #[command(flatten)]
    voice: AsPart,
}

/// Shows the messages, oldest first; through `$PAGER` where they are longer than the terminal.
///
/// # Errors
/// A refusal of the relay.
pub async fn run(context: &Context, arguments: &Arguments) -> Result<(), Failure> {
    let pages = match arguments.voice.door(context)? {
        Some(part) => {
            let id = part.thread(&arguments.thread).await?;
            Pages::Part(part, id)
        }
        None => Pages::Person(context.client()?, arguments.thread.clone()),
    };
    let (thread, messages) = whole(&pages).await?;
    if context.screen.json {
        return context
            .screen
            .object(json!({"thread": thread, "messages": messages}));
    }
    let page = render(context, &thread, &messages, arguments.receipts);
    let rows = page
        .iter()
        .map(|block| block.lines().count())
        .sum::<usize>();
    if context.screen.terminal && rows > context.screen.height {
        return paged(context, &page.join("\n"));
    }
    page.iter().try_for_each(|block| context.screen.line(block))
}

/// Who reads a thread, and which.
enum Pages {
    Person(Client, String),
    Part(Part, String),
}

impl Pages {
    /// A page: the first, or what follows a cursor.
    async fn page(&self, after: &str) -> Result<Value, Failure> {
        match self {
            Self::Person(client, id) => {
                let mut query = client.project();
                if !after.is_empty() {
                    query.push(("after", after.to_owned()));
                }
                client.get(&format!("threads/{id}"), &query).await
            }
            Self::Part(part, id) => {
                let mut which = json!({ "threadId": id });
                if !after.is_empty() {
                    which["after"] = after.into();
                }
                part.call("show", which).await
            }
        }
    }
}

/// All pages of a thread; a message that came in pieces is put together.
async fn whole(pages: &Pages) -> Result<(Value, Vec<Value>), Failure> {
    let mut cursor = String::new();
    let mut messages: Vec<Value> = Vec::new();
    loop {
        let mut page = pages.page(&cursor).await?;
        let Some(Value::Array(more)) = page.get_mut("messages").map(Value::take) else {
            return Err(Failure::fault("the relay's answer holds no messages"));
        };
        for message in more {
            match messages.last_mut() {
                Some(last) if last["id"] == message["id"] => {
                    let body = format!(
                        "{}{}",
                        field::word(last, "body"),
                        field::word(&message, "body")
                    );
                    *last = message;
                    last["body"] = body.into();
                }
                _ => messages.push(message),
            }
        }
        let after = field::word(&page, "after").to_owned();
        if !field::flag(&page, "more") || after.is_empty() {
            return Ok((page["thread"].take(), messages));
        }
        cursor = after;
    }
}

/// The thread as blocks of lines.
fn render(context: &Context, thread: &Value, messages: &[Value], receipts: bool) -> Vec<String> {
    let screen = &context.screen;
    let mut blocks = vec![
        screen.paint(Style::Bold, &text::line(field::word(thread, "subject"))),
        screen.paint(
            Style::Dim,
            &format!(
                "thread {} {}",
                field::word(thread, "id"),
                field::word(thread, "status")
            ),
        ),
    ];
    for message in messages {
        let at = field::time(message, "createdAt");
        let when = match at {
            Some(at) if screen.terminal => format!("{} ago", text::age(context.now(), at)),
            Some(at) => at.rfc3339(),
            None => String::new(),
        };
        let urgent = if field::flag(message, "urgent") {
            ", urgent"
        } else {
            ""
        };
        let fyi = if field::flag(message, "fyi") {
            ", fyi"
        } else {
            ""
        };
        blocks.push(String::new());
        blocks.push(format!(
            "{} {}",
            screen.paint(Style::Bold, &text::line(field::word(message, "from"))),
            screen.paint(Style::Dim, &format!("{when}{urgent}{fyi}"))
        ));
        blocks.push(text::block(field::word(message, "body")));
        if receipts {
            blocks.extend(receipt_lines(context, &message["receipts"]));
        }
    }
    blocks
}

fn receipt_lines(context: &Context, receipts: &Value) -> Vec<String> {
    let each = receipts.as_object().into_iter().flatten();
    each.map(|(part, state)| {
        let line = format!(
            "  {}\t{}",
            text::line(part),
            text::line(state.as_str().unwrap_or_default())
        );
        context.screen.paint(Style::Dim, &line)
    })
    .collect()
}

/// Hands the page to the person's pager program; what that program does with it is theirs.
fn paged(context: &Context, page: &str) -> Result<(), Failure> {
    let program = context.env.get("PAGER").unwrap_or("less -FRX");
    let child = Command::new("sh")
        .arg("-c")
        .arg(program)
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return context.screen.line(page);
    };
    if let Some(mut stdin) = child.stdin.take() {
        // Left before the end: that is how one leaves a pager.
        let _ = writeln!(stdin, "{page}");
    }
    // The shell's word for a program that is not there.
    if child.wait()?.code() == Some(127) {
        return context.screen.line(page);
    }
    Ok(())
}
