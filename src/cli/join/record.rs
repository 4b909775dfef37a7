//! `.relayroom/config.toml`: what a worktree knows of the part joined in it (cli.md 2).

use std::path::Path;
use std::path::PathBuf;

use toml_edit::DocumentMut;
use toml_edit::value;

use super::agent::Agent;
use super::edit::toml::Toml;
use crate::cli::failure::Exit;
use crate::cli::failure::Failure;
use crate::config;
use crate::config::File;

/// Folder of ours in a worktree.
pub const FOLDER: &str = ".relayroom";

/// The file of a worktree.
#[must_use]
pub fn file(root: &Path) -> PathBuf {
    root.join(FOLDER).join("config.toml")
}

/// What stands in the file of a worktree, if a part is joined there.
///
/// # Errors
/// Exit 2 for a file that cannot be read.
pub fn read(root: &Path) -> Result<Option<File>, Failure> {
    let (found, _) =
        config::read_file(&file(root)).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(found).filter(|found| found.part.is_some()))
}

/// The CLI that is recorded.
#[must_use]
pub fn agent(file: &File) -> Option<Agent> {
    file.agent.as_deref().and_then(Agent::parse)
}

/// The URL of the part's MCP endpoint.
#[must_use]
pub fn url(server: &str, code: &str, part: &str) -> String {
    format!("{server}/mcp/{code}?part={part}")
}

/// The value of the pane option that tells the pager whose pane it is (pager.md 1).
#[must_use]
pub fn option(code: &str, part: &str, pane_pid: i32) -> String {
    format!("{code}/{part}/{pane_pid}")
}

/// The file's text: known keys in their order, nothing else.
#[must_use]
pub fn text(file: &File) -> String {
    let socket = file.socket.as_ref().map(|path| path.to_string_lossy());
    let keys = [
        ("server", file.server.as_deref()),
        ("project", file.project.as_deref()),
        ("code", file.code.as_deref()),
        ("part", file.part.as_deref()),
        ("agent", file.agent.as_deref()),
        ("session", file.session.as_deref()),
        ("socket", socket.as_deref()),
        ("token", file.token.as_deref()),
        ("agent_token", file.agent_token.as_deref()),
        ("joined_at", file.joined_at.as_deref()),
    ];
    let mut document = DocumentMut::new();
    for (key, text) in keys {
        if let Some(text) = text {
            document[key] = value(text);
        }
    }
    document.to_string()
}

/// The person's settings with `server` among the relays that may be reported to (usage.md 1).
///
/// # Errors
/// Exit 3 for settings that cannot be edited.
pub fn trusting(path: &Path, text: &str, server: &str) -> Result<String, Failure> {
    let refuse = |line: usize, why: String| {
        Failure::new(
            Exit::Refused,
            "unreadable_file",
            format!("{} line {line}: {why}", path.display()),
        )
        .fix(format!("add relays = [\"{server}\"] to it"))
    };
    let mut file = Toml::parse(text).map_err(|broken| refuse(broken.line, broken.why))?;
    let mut relays = match file.value("relays") {
        None => toml_edit::Array::new(),
        Some(value) => value
            .as_array()
            .cloned()
            .ok_or_else(|| refuse(1, "relays is no list".to_owned()))?,
    };
    if !relays.iter().any(|known| known.as_str() == Some(server)) {
        relays.push(server);
        file.set("relays", relays.into());
    }
    Ok(file.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let written = File {
            server: Some("http://127.0.0.1:48801".into()),
            project: Some("shop".into()),
            code: Some("c0de".into()),
            part: Some("web".into()),
            agent: Some("claude".into()),
            session: Some("shop-web".into()),
            socket: Some("/tmp/it's \"x\"".into()),
            token: Some("rrp_x".into()),
            agent_token: Some("rrt_x".into()),
            joined_at: Some("2026-12-01T09:30:00.000Z".into()),
            ..File::default()
        };
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        std::fs::write(file(folder.path()), text(&written)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(written));
    }

    #[test]
    fn a_relay_elsewhere_is_trusted_once() {
        let path = Path::new("/c");
        let once = trusting(path, "# mine\noauth = false\n", "https://r").unwrap();
        assert_eq!(once, "# mine\noauth = false\nrelays = [\"https://r\"]\n");
        assert_eq!(trusting(path, &once, "https://r").unwrap(), once);
        let two = trusting(path, &once, "https://s").unwrap();
        assert!(
            two.ends_with("relays = [\"https://r\", \"https://s\"]\n"),
            "{two}"
        );
        assert!(trusting(path, "relays = 1", "https://r").is_err());
    }
}
