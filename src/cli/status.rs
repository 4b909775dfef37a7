//! `relayroom status`.

use serde_json::Value;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::roster;
use super::screen::Style;
use super::text;

/// Arguments of `status`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {}

/// Shows relay, pager, what needs the person, and one line per part.
///
/// # Errors
/// Exit 4 if the relay is down.
pub async fn run(context: &Context, _: &Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let answer = client.get("status", &client.project()).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let screen = &context.screen;
    screen.line(relay(context, client.base(), &answer))?;
    let pagers = field::list(&answer, "pagers");
    if pagers.is_empty() {
        screen.line(format!(
            "pager\t{}",
            screen.paint(Style::Warning, "none was heard (relayroom up)")
        ))?;
    }
    for pager in pagers {
        let heard = field::time(pager, "heardAt").map_or_else(String::new, |at| {
            format!(", heard {} ago", text::age(context.now(), at))
        });
        screen.line(format!(
            "pager\t{} {}{heard}",
            text::line(field::word(pager, "machine")),
            text::line(field::word(pager, "version")),
        ))?;
    }
    attention(context, &answer["attention"])?;
    let parts = field::list(&answer, "parts");
    roster::print(context, parts, false)
}

fn relay(context: &Context, base: &str, answer: &Value) -> String {
    format!(
        "relay\t{} {}, {} parts, {} live threads",
        text::line(base),
        context
            .screen
            .paint(Style::Good, field::word(answer, "version")),
        field::number(&answer["counts"], "parts"),
        field::number(&answer["counts"], "liveThreads"),
    )
}

/// How many things need the person, and the first three of them.
fn attention(context: &Context, attention: &Value) -> Result<(), Failure> {
    let screen = &context.screen;
    let count = field::number(attention, "count");
    let words = match count {
        0 => screen.paint(Style::Good, "nothing needs you"),
        1 => screen.paint(Style::Warning, "1 thing needs you"),
        many => screen.paint(Style::Warning, &format!("{many} things need you")),
    };
    screen.line(format!("you\t{words}"))?;
    for item in field::list(attention, "items").iter().take(3) {
        let since = field::time(item, "since").map_or_else(String::new, |at| {
            format!(", {}", text::age(context.now(), at))
        });
        let fix = match field::word(item, "fix") {
            "" => String::new(),
            fix => format!(" ({fix})"),
        };
        screen.line(format!(
            "\t{}{since}{fix}",
            text::line(field::word(item, "what"))
        ))?;
    }
    Ok(())
}
