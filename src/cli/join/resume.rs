//! Whether there is a conversation to take up again, and the words that do (cli.md 3 and 4): a CLI told to resume what is not there ends
//! at once, so its own files are asked first.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use sha2::Digest;

use super::agent::Agent;
use crate::config::Env;

/// The words for the conversation of that id, else for the newest of the folder; none where there is neither.
#[must_use]
pub fn words(agent: Agent, env: &Env, root: &Path, session: Option<&str>) -> Vec<String> {
    let session = session.filter(|id| is_id(id) && has(agent, env, id));
    if session.is_none() && !has_newest(agent, env, root) {
        return Vec::new();
    }
    agent.resume(session)
}

/// An id as the CLIs make them: it becomes a word of a command and a part of a path.
fn is_id(id: &str) -> bool {
    (8..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !id.starts_with('-')
}

/// Whether the conversation of that id is kept.
fn has(agent: Agent, env: &Env, id: &str) -> bool {
    match agent {
        Agent::Claude => folders(&claude(env).join("projects"))
            .iter()
            .any(|folder| folder.join(format!("{id}.jsonl")).exists()),
        Agent::Codex => any_file(&codex(env).join("sessions"), 4, &|name| {
            name.ends_with(&format!("{id}.jsonl"))
        }),
        Agent::Gemini => {
            let short = id.get(..8).unwrap_or(id);
            any_file(&gemini(env).join("tmp"), 3, &|name| {
                name.starts_with("session-") && name.contains(short)
            })
        }
    }
}

/// Whether the folder has any conversation.
fn has_newest(agent: Agent, env: &Env, root: &Path) -> bool {
    match agent {
        Agent::Claude => {
            let name: String = root
                .to_string_lossy()
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            let folder = claude(env).join("projects").join(name);
            any_file(&folder, 0, &|name| name.ends_with(".jsonl"))
        }
        // Codex looks for the folder's own by itself, and begins anew without one.
        Agent::Codex => any_file(&codex(env).join("sessions"), 4, &|name| {
            name.starts_with("rollout-")
        }),
        Agent::Gemini => folders(&gemini(env).join("tmp"))
            .iter()
            .filter(|folder| is_gemini_folder_of(folder, root))
            .any(|folder| {
                any_file(&folder.join("chats"), 0, &|name| {
                    name.starts_with("session-")
                })
            }),
    }
}

/// Gemini CLI names its folder of a project by a hash, or by a name with the project's path in a file.
fn is_gemini_folder_of(folder: &Path, root: &Path) -> bool {
    let hash: String = sha2::Sha256::digest(root.to_string_lossy().as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    folder.ends_with(hash)
        || fs::read_to_string(folder.join(".project_root"))
            .is_ok_and(|path| Path::new(path.trim()) == root)
}

fn claude(env: &Env) -> PathBuf {
    let home = env.path("HOME").unwrap_or_default();
    env.path("CLAUDE_CONFIG_DIR")
        .unwrap_or_else(|| home.join(".claude"))
}

fn codex(env: &Env) -> PathBuf {
    let home = env.path("HOME").unwrap_or_default();
    env.path("CODEX_HOME")
        .unwrap_or_else(|| home.join(".codex"))
}

fn gemini(env: &Env) -> PathBuf {
    let home = env.path("GEMINI_CLI_HOME").or_else(|| env.path("HOME"));
    home.unwrap_or_default().join(".gemini")
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect()
}

/// Whether a file of such a name is there, so many folders deep at most.
fn any_file(folder: &Path, depth: usize, fits: &dyn Fn(&str) -> bool) -> bool {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| {
            let path = entry.path();
            if path.is_dir() {
                depth > 0 && any_file(&path, depth - 1, fits)
            } else {
                fits(&entry.file_name().to_string_lossy())
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0194f0a2-1111-7000-8000-000000000001";

    #[test]
    fn only_what_is_there_is_resumed() {
        let home = tempfile::tempdir().unwrap();
        let env = Env::of([("HOME", home.path().to_str().unwrap())], home.path());
        let root = Path::new("/src/shop_web");
        let make = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for agent in Agent::ALL {
            assert_eq!(words(agent, &env, root, Some(ID)), [""; 0], "{agent:?}");
        }
        make(".claude/projects/-src-shop-web/other.jsonl", "");
        make(".codex/sessions/2026/11/30/rollout-x-other.jsonl", "");
        make(".gemini/tmp/shop/.project_root", "/src/shop_web");
        make(".gemini/tmp/shop/chats/session-2026-other.jsonl", "");
        let of = |agent| words(agent, &env, root, Some(ID)).join(" ");
        assert_eq!(of(Agent::Claude), "--continue");
        assert_eq!(of(Agent::Codex), "resume --last");
        assert_eq!(of(Agent::Gemini), "--resume latest");
        make(&format!(".claude/projects/-elsewhere/{ID}.jsonl"), "");
        make(
            &format!(".codex/sessions/2026/11/30/rollout-y-{ID}.jsonl"),
            "",
        );
        make(".gemini/tmp/shop/chats/session-2026-0194f0a2.jsonl", "");
        assert_eq!(of(Agent::Claude), format!("--resume {ID}"));
        assert_eq!(of(Agent::Codex), format!("resume {ID}"));
        assert_eq!(of(Agent::Gemini), format!("--resume {ID}"));
        assert_eq!(
            words(Agent::Claude, &env, root, Some("../../x; rm")),
            ["--continue"]
        );
    }
}
