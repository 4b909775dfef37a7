//! `relayroom status`.

use serde_json::Value;

use super::context::Context;
use super::failure::Failure;
use super::field;
use super::roster;
use super::screen::Style;
use super::text;
use super::up;

/// Arguments of `status`.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {}

/// Shows relay, pager, what needs the person, and one line per part.
///
/// # Errors
/// Exit 4 if the relay is down.
pub async fn run(context: &Context, _: &Arguments) -> Result<(), Failure> {
    let client = context.client()?;
    let mut query = client.project();
    query.push(context.zone());
    let answer = client.get("status", &query).await?;
    if context.screen.json {
        return context.screen.object(answer);
    }
    let mut fields = vec![("relay", relay(context, client.base(), &answer))];
    fields.extend(pagers(context, &answer));
    fields.extend(attention(context, &answer["attention"]));
    context.screen.fields(&fields)?;
    roster::print(context, field::list(&answer, "parts"), false)
}

fn relay(context: &Context, base: &str, answer: &Value) -> String {
    let version = context
        .screen
        .paint(Style::Good, field::word(answer, "version"));
    format!(
        "{} {version}, {} parts, {} live threads",
        text::line(base),
        field::number(&answer["counts"], "parts"),
        field::number(&answer["counts"], "liveThreads"),
    )
}

/// Every pager heard lately.
fn pagers(context: &Context, answer: &Value) -> Vec<(&'static str, String)> {
    let heard = field::list(answer, "pagers");
    if heard.is_empty() {
        // `None`: the one `up` starts runs; it serves no pane of these parts yet.
        let words =
            match up::pager::only_one(context, &context.server(), &up::pager::socket(context)) {
                Ok(None) => "runs and serves no pane (relayroom join PART in a worktree)",
                _ => "none was heard (relayroom up)",
            };
        return vec![("pager", context.screen.paint(Style::Warning, words))];
    }
    let each = heard.iter().map(|pager| {
        let ago = field::time(pager, "heardAt").map_or_else(String::new, |at| {
            format!(", heard {} ago", text::age(context.now(), at))
        });
        let words = format!(
            "{} {}{ago}",
            text::line(field::word(pager, "machine")),
            text::line(field::word(pager, "version")),
        );
        ("pager", words)
    });
    each.collect()
}

/// How many things need the person, and the first three of them.
fn attention(context: &Context, attention: &Value) -> Vec<(&'static str, String)> {
    let screen = &context.screen;
    let words = match field::number(attention, "count") {
        0 => screen.paint(Style::Good, "nothing needs you"),
        1 => screen.paint(Style::Warning, "1 thing needs you"),
        many => screen.paint(Style::Warning, &format!("{many} things need you")),
    };
    let mut fields = vec![("you", words)];
    for item in field::list(attention, "items").iter().take(3) {
        let since = field::time(item, "since").map_or_else(String::new, |at| {
            format!(", {}", text::age(context.now(), at))
        });
        let fix = match field::word(item, "fix") {
            "" => String::new(),
            fix => format!(" ({})", text::line(fix)),
        };
        fields.push((
            "",
            format!("{}{since}{fix}", text::line(field::word(item, "what"))),
        ));
    }
    fields
}
