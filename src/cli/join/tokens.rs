//! The two tokens of a joined worktree: its agent's and the machine's. A good one is kept (cli.md 4, step 3).

use std::path::Path;

use http::Method;
use serde_json::Value;
use serde_json::json;

use crate::cli::client::Client;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::cli::field;
use crate::config;

/// Both, and what was issued for them.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// `rrt_`, the part's.
    pub agent: String,
    /// `rrp_`, the machine's.
    pub machine: String,
    /// Ids of those issued now, to be revoked if joining fails.
    pub issued: Vec<String>,
}

/// What the relay lists of live tokens.
pub struct Live(Vec<Value>);

impl Live {
    /// Asks the relay.
    ///
    /// # Errors
    /// A refusal of the relay.
    pub async fn ask(client: &Client) -> Result<Self, Failure> {
        let answer = client.get("tokens", &[]).await?;
        Ok(Self(field::list(&answer, "tokens").to_vec()))
    }

    /// The id of a part's token that ends like this one.
    #[must_use]
    pub fn agent(&self, project: &str, part: &str, token: &str) -> Option<&str> {
        self.find(token, |live| {
            field::word(live, "kind") == "agent"
                && field::word(live, "project") == project
                && field::word(live, "part") == part
        })
    }

    /// The ids of a part's tokens but that one.
    pub fn others<'l>(
        &'l self,
        project: &'l str,
        part: &'l str,
        kept: &'l str,
    ) -> impl Iterator<Item = &'l str> {
        self.0
            .iter()
            .filter(move |live| {
                field::word(live, "kind") == "agent"
                    && field::word(live, "project") == project
                    && field::word(live, "part") == part
                    && !kept.ends_with(field::word(live, "lastFour"))
            })
            .map(|live| field::word(live, "id"))
    }

    /// The id of a machine's token that ends like this one.
    #[must_use]
    pub fn machine(&self, token: &str) -> Option<&str> {
        self.find(token, |live| field::word(live, "kind") == "pager")
    }

    fn find(&self, token: &str, fits: impl Fn(&Value) -> bool) -> Option<&str> {
        self.0
            .iter()
            .find(|live| {
                let end = field::word(live, "lastFour");
                !end.is_empty() && token.ends_with(end) && fits(live)
            })
            .map(|live| field::word(live, "id"))
    }
}

/// A part's token: the one kept, or a new one.
///
/// # Errors
/// A refusal of the relay.
pub async fn agent(
    client: &Client,
    live: &Live,
    (project, part): (&str, &str),
    kept: Option<&str>,
    tokens: &mut Tokens,
) -> Result<(), Failure> {
    if let Some(kept) = kept.filter(|kept| live.agent(project, part, kept).is_some()) {
        kept.clone_into(&mut tokens.agent);
        return Ok(());
    }
    let body = json!({"kind": "agent", "part": part, "label": "joined"});
    tokens.agent = issue(client, &[("project", project.to_owned())], &body, tokens).await?;
    Ok(())
}

/// The machine's token: the one kept, or a new one for a machine of that name.
///
/// # Errors
/// A refusal of the relay.
pub async fn machine(
    client: &Client,
    live: &Live,
    file: &Path,
    name: &str,
    tokens: &mut Tokens,
) -> Result<(), Failure> {
    if let Ok(kept) = config::read_secret(file)
        && live.machine(&kept).is_some()
    {
        tokens.machine = kept;
        return Ok(());
    }
    let body = json!({"kind": "pager", "machine": name, "label": "joined"});
    tokens.machine = issue(client, &[], &body, tokens).await?;
    Ok(())
}

async fn issue(
    client: &Client,
    query: &[(&'static str, String)],
    body: &Value,
    tokens: &mut Tokens,
) -> Result<String, Failure> {
    let answer = client
        .call(Method::POST, "tokens", query, Some(body))
        .await?;
    tokens.issued.push(field::word(&answer, "id").to_owned());
    Ok(field::word(&answer, "token").to_owned())
}

/// Revokes a token by its id; one that is gone already is no failure.
pub async fn revoke(client: &Client, id: &str) {
    // What stays alive is listed by `token list`.
    let _ = client
        .call(Method::DELETE, &format!("tokens/{id}"), &[], None)
        .await;
}

/// The tokens a person brought from the relay's machine: agent and machine, one a line.
///
/// # Errors
/// Exit 3 for a file others can read, exit 2 for one of another form.
pub fn brought(file: &Path) -> Result<Tokens, Failure> {
    let text =
        config::read_secret(file).map_err(|why| Failure::new(Exit::Refused, "token_file", why))?;
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    match lines.as_slice() {
        [agent, machine] if agent.starts_with("rrt_") && machine.starts_with("rrp_") => {
            Ok(Tokens {
                agent: (*agent).to_owned(),
                machine: (*machine).to_owned(),
                issued: Vec::new(),
            })
        }
        _ => Err(Failure::usage(format!(
            "{} is to hold two lines: the agent's token (rrt_…), then the machine's (rrp_…)",
            file.display()
        ))
        .fix("relayroom token new PART --show and relayroom token new --pager MACHINE --show")),
    }
}
