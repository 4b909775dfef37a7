//! Who each agent is: worktree, agent's file, relay and tokens must name one part; and no secret of theirs may lie where git would take it.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

use super::finding::Finding;
use super::finding::quoted;
use super::members::Member;
use crate::cli::field;
use crate::cli::join::record;
use crate::cli::text;

/// What a token of ours looks like to git: the value itself is never put into a command.
const TOKENS: &str = "rr[tp]_[A-Za-z0-9_-]{20,}";

/// Judges who the agents are.
#[must_use]
pub fn judge(members: &[Member]) -> Vec<Finding> {
    let mut found: Vec<Finding> = members.iter().filter_map(live).collect();
    found.extend(members.iter().filter_map(entry));
    found.extend(shared(members));
    found
}

/// What the relay says of the worktree's token and address.
fn live(member: &Member) -> Option<Finding> {
    let live = member.live.as_ref()?;
    let is_right = |token: &&serde_json::Value| {
        field::word(token, "project") == member.project()
            && field::word(token, "part") == member.part
    };
    let text = if live.iter().any(|token| is_right(&token)) {
        let code = member.code.as_deref()?;
        if member.record.code.as_deref() == Some(code) {
            return None;
        }
        format!(
            "its worktree knows a connect code {} no longer has",
            member.project()
        )
    } else if let Some(other) = live.first() {
        format!(
            "the token of its worktree is that of {} in {}",
            field::word(other, "part"),
            field::word(other, "project")
        )
    } else {
        "the relay does not know the token of its worktree, or no longer".to_owned()
    };
    Some(Finding::error("identity.live", &member.part, text).fix(member.rejoin()))
}

/// What the agent's own file says.
fn entry(member: &Member) -> Option<Finding> {
    let (file, _) = member.entry.as_ref()?;
    let name = file.strip_prefix(&member.root).unwrap_or(file).display();
    let word = |field: &Option<String>| field.clone().unwrap_or_default();
    let (server, code) = (word(&member.record.server), word(&member.record.code));
    let right = record::url(&server, &code, &member.part);
    let text = match &member.told.url {
        None => format!("{name} has no entry for relayroom"),
        Some(url) if *url != right => match named(url) {
            Some(part) if part != member.part => format!("{name} names part {}", text::line(part)),
            _ => format!("{name} names another address than .relayroom/config.toml"),
        },
        Some(_) if member.told.token != member.record.agent_token => {
            format!("{name} holds another token than .relayroom/config.toml")
        }
        Some(_) => return None,
    };
    Some(Finding::error("identity.entry", &member.part, text).fix(member.rejoin()))
}

/// The part an address names.
fn named(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("part="))
}

/// Worktrees that hold one token: a copy is to forget it.
fn shared(members: &[Member]) -> Vec<Finding> {
    let mut by_token: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
    for member in members {
        if let Some(token) = &member.record.agent_token {
            by_token.entry(token).or_default().push(member);
        }
    }
    let several = by_token.into_values().filter(|holders| holders.len() > 1);
    let told = several.map(|mut holders| {
        holders.sort_by_key(|member| !member.known);
        let roots: Vec<String> = holders
            .iter()
            .map(|member| member.root.display().to_string())
            .collect();
        let copy = holders[holders.len() - 1];
        let fix = if copy.known {
            copy.rejoin()
        } else {
            let folder = copy.root.join(".relayroom");
            format!("rm -r {}", quoted(&folder.to_string_lossy()))
        };
        let text = format!("one token serves several worktrees: {}", roots.join(", "));
        Finding::error("identity.shared", &holders[0].part, text).fix(fix)
    });
    told.collect()
}

/// A file with a token of the part, which git tracks or would add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// The part.
    pub part: String,
    /// Its project.
    pub project: String,
    /// The file, as git names it.
    pub file: PathBuf,
    /// Whose token it is: the part's, or the machine's.
    pub machine: bool,
    /// The worktree.
    pub root: PathBuf,
}

/// Looks through what git tracks or would add in each worktree.
#[must_use]
pub fn leaks(members: &[Member]) -> Vec<Leak> {
    let mut found = Vec::new();
    for member in members {
        for file in suspects(&member.root) {
            let text = std::fs::read(member.root.join(&file)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let holds = |token: &Option<String>| {
                token
                    .as_deref()
                    .is_some_and(|token| !token.is_empty() && text.contains(token))
            };
            let agent = members.iter().find(|one| holds(&one.record.agent_token));
            if agent.is_some() || holds(&member.record.token) {
                found.push(Leak {
                    part: agent.unwrap_or(member).part.clone(),
                    project: agent.unwrap_or(member).project().to_owned(),
                    machine: agent.is_none(),
                    root: member.root.clone(),
                    file,
                });
            }
        }
    }
    found
}

/// Files with anything in them that looks like a token.
fn suspects(root: &Path) -> Vec<PathBuf> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["grep", "--untracked", "-I", "-l", "-z", "-E", "-e", TOKENS])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = output else {
        return Vec::new();
    };
    let names = output.stdout.split(|byte| *byte == 0);
    let names = names.filter(|name| !name.is_empty());
    names
        .map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned()))
        .collect()
}

/// Judges leaks: the token is made worthless, for what git has seen is seen.
#[must_use]
pub fn judge_leaks(leaks: &[Leak], machine: &str) -> Vec<Finding> {
    let told = leaks.iter().map(|leak| {
        let file = leak.root.join(&leak.file);
        let text = format!(
            "git tracks or would add {}, and a token stands in it",
            text::line(&file.to_string_lossy())
        );
        let fix = if leak.machine {
            format!("relayroom token new --pager {}", quoted(machine))
        } else {
            format!(
                "relayroom token rotate {} --now --project {}",
                leak.part, leak.project
            )
        };
        Finding::error("secret.tracked", &leak.part, text).fix(fix)
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::members;
    use super::*;

    fn found(member: members::Member) -> Vec<(&'static str, String, String)> {
        judge(&[member])
            .into_iter()
            .map(|finding| (finding.code, finding.text, finding.fix))
            .collect()
    }

    const JOIN: &str = "cd /src/web && relayroom join web";

    #[test]
    fn an_agent_whose_papers_agree_gives_no_finding() {
        assert_eq!(found(members::tests::well()), []);
    }

    #[test]
    fn cli_034_a_file_that_names_another_part_is_told() {
        let mut member = members::tests::well();
        member.told.url = Some("http://r/mcp/c0de?part=api".into());
        let text = ".mcp.json names part api".to_owned();
        assert_eq!(found(member), [("identity.entry", text, JOIN.to_owned())]);
        for change in [
            |told: &mut members::Member| told.told.url = None,
            |told: &mut members::Member| told.told.token = Some("rrt_other".into()),
            |told: &mut members::Member| told.told.url = Some("http://s/mcp/c0de?part=web".into()),
        ] {
            let mut member = members::tests::well();
            change(&mut member);
            assert_eq!(found(member)[0].0, "identity.entry");
        }
    }

    #[test]
    fn a_token_the_relay_knows_otherwise_or_not_at_all_is_told() {
        for live in [json!([]), json!([{"project": "shop", "part": "api"}])] {
            let mut member = members::tests::well();
            member.live = live.as_array().cloned();
            let found = found(member);
            assert_eq!((found[0].0, found[0].2.as_str()), ("identity.live", JOIN));
        }
        let mut member = members::tests::well();
        member.code = Some("another".into());
        assert_eq!(found(member)[0].0, "identity.live");
        let mut member = members::tests::well();
        member.live = None;
        assert_eq!(found(member), []);
    }

    #[test]
    fn cli_035_a_copy_is_to_forget_the_token() {
        let mut copy = members::tests::well();
        copy.root = "/src/copy".into();
        copy.known = false;
        let found = judge(&[copy, members::tests::well()]);
        let shared = found
            .iter()
            .find(|one| one.code == "identity.shared")
            .unwrap();
        assert_eq!(shared.fix, "rm -r /src/copy/.relayroom");
        assert!(shared.text.ends_with("/src/web, /src/copy"), "{shared:?}");
    }

    #[test]
    fn cli_036_the_value_is_not_printed() {
        let leak = Leak {
            part: "web".into(),
            project: "shop".into(),
            file: "notes.txt".into(),
            machine: false,
            root: "/src/web".into(),
        };
        let found = judge_leaks(&[leak], "box");
        assert_eq!(
            found[0].fix,
            "relayroom token rotate web --now --project shop"
        );
        assert!(!found[0].text.contains("rrt_"), "{found:?}");
    }
}
