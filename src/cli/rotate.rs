//! A new token for a part, a new connect code for a project, and the worktrees of this machine that know the old ones (cli.md 6).

use std::time::Duration;

use http::Method;
use serde_json::Value;
use serde_json::json;

use super::client::Client;
use super::client::encode;
use super::context::Context;
use super::failure::Exit;
use super::failure::Failure;
use super::field;
use super::join::bring;
use super::join::register::Register;
use super::join::register::Worktree;
use crate::store::quote;

/// How long a running agent may use its old token.
const GRACE: Duration = Duration::from_hours(24);

/// Gives a joined part another token; the old one, which its running agent still holds, ends in a day, or `now`.
///
/// # Errors
/// Exit 5 for a part that is not joined here; a file of it that cannot be edited, with the old token in force.
pub async fn token(
    context: &Context,
    client: &Client,
    part: &str,
    now: bool,
) -> Result<(), Failure> {
    let known = joined(context, client, part)?;
    let query = [("project", known.project.clone())];
    let answer = client.get("tokens", &[]).await?;
    let old: Vec<String> = field::list(&answer, "tokens")
        .iter()
        .filter(|token| {
            field::word(token, "kind") == "agent"
                && field::word(token, "part") == part
                && field::word(token, "project") == known.project
        })
        .map(|token| field::word(token, "id").to_owned())
        .collect();
    let body = json!({"kind": "agent", "part": part, "label": "joined"});
    let issued = client
        .call(Method::POST, "tokens", &query, Some(&body))
        .await?;
    let secret = field::word(&issued, "token").to_owned();
    let written = bring::rewrite(context, &known, |record| {
        record.agent_token = Some(secret);
    });
    if let Err(failure) = written.await {
        end(client, field::word(&issued, "id"), None).await?;
        return Err(failure);
    }
    let ends = (!now).then(|| (context.now() + GRACE).rfc3339());
    for id in &old {
        end(client, id, ends.as_deref()).await?;
    }
    if context.screen.json {
        return context.screen.object(json!({
            "part": part,
            "project": known.project,
            "id": issued["id"],
            "oldEndsAt": ends.clone().or_else(|| Some(context.now().rfc3339())),
            "restart": [part],
        }));
    }
    let old = match now {
        true => "the old one is dead",
        false => "the old one ends in 24 h",
    };
    context
        .screen
        .line(format!("{part}\tnew token written\t{old}"))?;
    context.screen.note(format!(
        "restart the agent of {part}: it holds the old token"
    ));
    Ok(())
}

/// Ends a token at a time, or at once.
async fn end(client: &Client, id: &str, at: Option<&str>) -> Result<(), Failure> {
    let path = format!("tokens/{id}");
    let call = match at {
        Some(at) => {
            let body = json!({ "expiresAt": at });
            client.call(Method::PATCH, &path, &[], Some(&body)).await
        }
        None => client.call(Method::DELETE, &path, &[], None).await,
    };
    call.map(drop)
}

fn joined(context: &Context, client: &Client, part: &str) -> Result<Worktree, Failure> {
    let project = context.project();
    let mut found = Register::read(&context.env)?.worktree;
    found.retain(|known| {
        known.part == part
            && known.server == client.base()
            && project.as_ref().is_none_or(|name| known.project == *name)
    });
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::new(
            Exit::Missing,
            "not_found",
            format!("part {} is joined nowhere on this machine", quote(part)),
        )
        .fix(format!("relayroom token new {part}"))),
        _ => Err(Failure::new(
            Exit::Missing,
            "ambiguous",
            format!("part {part} is joined in several projects"),
        )
        .fix(format!("relayroom token rotate {part} --project NAME"))),
    }
}

/// Gives a project another connect code and tells it to the worktrees of this machine; the project, and what became of each.
///
/// # Errors
/// A refusal of the relay. A worktree that cannot be rewritten is in the list with its reason.
pub async fn code(
    context: &Context,
    client: &Client,
    slug: &str,
) -> Result<(Value, Vec<(Worktree, Option<Failure>)>), Failure> {
    let path = format!("projects/{}/rotate-code", encode(slug));
    let project = client.call(Method::POST, &path, &[], None).await?;
    let code = field::word(&project, "code");
    let mut told = Vec::new();
    for known in Register::read(&context.env)?.worktree {
        if known.server != client.base() || known.project != slug {
            continue;
        }
        let written = bring::rewrite(context, &known, |record| {
            record.code = Some(code.to_owned());
        });
        let failure = written.await.err();
        told.push((known, failure));
    }
    Ok((project, told))
}
