//! Whether agents know what their files say: those that run since before a change, those never heard, and the playbook they read.

use super::finding::Finding;
use super::members::Member;
use crate::cli::text;
use crate::store::Time;

/// How long an agent may run before its first call, in milliseconds.
const QUIET_MS: i64 = 60_000;

/// How much older than its agent a file may be and still count as the one it read, in milliseconds: clocks of processes are coarse.
const SLACK_MS: i64 = 1_000;

/// Judges.
#[must_use]
pub fn judge(members: &[Member], now: Time) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members {
        found.extend(restart(member).or_else(|| never(member, now)));
        found.extend(folder(member));
        if member.stale {
            let text = "its RELAYROOM.md is not the playbook of today";
            let finding = Finding::warning("playbook.stale", &member.part, text);
            found.push(finding.fix(member.rejoin()));
        }
    }
    found
}

/// An agent that read its file before that was changed.
fn restart(member: &Member) -> Option<Finding> {
    let (pid, started) = member.process?;
    let (file, written) = member.entry.as_ref()?;
    let after = written.filter(|written| written.0 > started.0 + SLACK_MS)?;
    // One that was heard since knows what is right.
    if member.called_at.is_some_and(|called| called > after) {
        return None;
    }
    let name = file.strip_prefix(&member.root).unwrap_or(file).display();
    let text = format!("its agent (pid {pid}) runs since before {name} was changed");
    Some(Finding::warning("agent.restart", &member.part, text).fix(member.restart()))
}

/// An agent that never called since it started.
fn never(member: &Member, now: Time) -> Option<Finding> {
    let (pid, started) = member.process?;
    member.live.as_ref()?;
    let heard = member.called_at.is_some_and(|called| called >= started);
    if heard || now.since(started) <= QUIET_MS {
        return None;
    }
    let text = format!(
        "its agent (pid {pid}) made no MCP call since it started {} ago",
        text::age(now, started)
    );
    Some(Finding::warning("agent.never", &member.part, text).fix(member.restart()))
}

/// A folder Codex does not trust: it reads no file of ours there.
fn folder(member: &Member) -> Option<Finding> {
    if member.trusted != Some(false) || member.called_at.is_some() {
        return None;
    }
    let root = member.root.display();
    let text = format!("Codex does not trust {root} and reads no file of it");
    let fix = format!(
        "printf '\\n[projects.\"%s\"]\\ntrust_level = \"trusted\"\\n' {} >> \"${{CODEX_HOME:-$HOME/.codex}}/config.toml\"",
        super::finding::quoted(&member.root.to_string_lossy())
    );
    Some(Finding::warning("folder.untrusted", &member.part, text).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::super::members;
    use super::*;

    const NOW: Time = Time(10_000_000);

    fn codes(member: members::Member) -> Vec<(&'static str, String)> {
        judge(&[member], NOW)
            .into_iter()
            .map(|finding| (finding.code, finding.fix))
            .collect()
    }

    fn running(started: i64, written: i64, called: Option<i64>) -> members::Member {
        let mut member = members::tests::well();
        member.process = Some((77, Time(started)));
        member.entry = member.entry.map(|(file, _)| (file, Some(Time(written))));
        member.called_at = called.map(Time);
        member
    }

    #[test]
    fn cli_035_an_agent_older_than_its_file_is_to_be_restarted() {
        let fix = "kill 77 && sleep 2 && relayroom up".to_owned();
        let old = running(5_000_000, 6_000_000, Some(5_500_000));
        assert_eq!(codes(old), [("agent.restart", fix)]);
        assert_eq!(codes(running(5_000_000, 4_000_000, Some(5_500_000))), []);
        assert_eq!(codes(running(5_000_000, 6_000_000, Some(7_000_000))), []);
    }

    #[test]
    fn an_agent_that_never_called_is_told_after_a_minute() {
        assert_eq!(codes(running(NOW.0 - QUIET_MS, 0, None)), []);
        let silent = codes(running(NOW.0 - QUIET_MS - 1, 0, None));
        assert_eq!(silent[0].0, "agent.never");
        let before = codes(running(NOW.0 - QUIET_MS - 1, 0, Some(1)));
        assert_eq!(before[0].0, "agent.never");
        let mut unasked = running(0, 0, None);
        unasked.live = None;
        assert_eq!(codes(unasked), []);
    }

    #[test]
    fn a_folder_codex_does_not_trust_and_an_old_playbook_are_told() {
        let mut member = members::tests::well();
        member.trusted = Some(false);
        member.stale = true;
        let found = codes(member);
        assert_eq!(
            [found[0].0, found[1].0],
            ["folder.untrusted", "playbook.stale"]
        );
    }
}
