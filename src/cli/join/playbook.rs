//! `RELAYROOM.md` in a worktree: fetched as the hook does, with what the worktree's own file says (knowledge.md 10).

use std::path::Path;

use crate::cli::client;
use crate::cli::context::Context;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::config::File;
use crate::hook::playbook;
use crate::hook::playbook::Served;
use crate::hook::playbook::Written;

/// Asks the relay for the playbook of a part.
///
/// # Errors
/// Exit 4 if the relay does not answer; exit 3 for what it refuses.
pub async fn fetch(context: &Context, record: &File) -> Result<Served, Failure> {
    let word = |field: &Option<String>| field.clone().unwrap_or_default();
    let server = word(&record.server);
    let silent = |error: reqwest::Error| {
        Failure::new(Exit::Unreachable, "unreachable", error.to_string()).fix("relayroom up")
    };
    let mut request = client::http_client(context.timeout())?
        .get(format!(
            "{server}/api/playbook?part={}",
            client::encode(&word(&record.part))
        ))
        .header("X-Relayroom-Code", word(&record.code));
    if let Some(token) = &record.token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.map_err(silent)?;
    let status = response.status();
    let header = |name: &str| {
        let value = response.headers().get(name);
        let text = value.and_then(|value| value.to_str().ok());
        text.unwrap_or_default().trim_matches('"').to_owned()
    };
    let (hash, etag) = (header("x-relayroom-playbook-hash"), header("etag"));
    let text = response.text().await.map_err(silent)?;
    if !status.is_success() {
        return Err(Failure::new(
            Exit::Refused,
            "refused",
            format!("{server} does not give out the playbook: {status}"),
        ));
    }
    Ok(Served { text, hash, etag })
}

/// Writes it into a worktree; what to tell the person, if there is anything.
///
/// # Errors
/// The file system's.
pub fn write(root: &Path, served: &Served) -> Result<(Written, Option<String>), Failure> {
    let written = playbook::write(root, served)?;
    let note = (written == Written::Foreign).then(|| {
        format!(
            "{} here is not ours and stays: move it away and join again to get the playbook",
            playbook::FILE
        )
    });
    Ok((written, note))
}
