//! The hook: that each agent runs it once, that it can run, and that its reports arrive.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::finding::Finding;
use super::finding::quoted;
use super::members::Member;
use crate::cli::join::agent::Agent;
use crate::cli::text;
use crate::store::Time;

/// How long a report may wait: the pager sends every 30 s.
const SPOOL_MS: i64 = 120_000;

/// How long after a turn's first call its report may be missing, in milliseconds.
const REPORT_MS: i64 = 120_000;

/// Judges; `runs` says whether a program can be run.
#[must_use]
pub fn judge(members: &[Member], now: Time, runs: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members {
        found.extend(entry(member, &runs).or_else(|| reports(member, now)));
        found.extend(spool(member, now));
        found.extend(
            member
                .telemetry
                .as_deref()
                .map(|file| telemetry(member, file)),
        );
    }
    found
}

/// Whether a program can be run.
#[must_use]
pub fn runs(program: &Path) -> bool {
    std::fs::metadata(program)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The entries themselves.
fn entry(member: &Member, runs: &impl Fn(&Path) -> bool) -> Option<Finding> {
    let file = member.hooks_file.display();
    if member.hooks.is_empty() {
        let text = format!("{file} has no hook of ours: its turns are not counted");
        return Some(Finding::error("hook.missing", &member.part, text).fix(member.rejoin()));
    }
    if let Some(why) = &member.refused {
        let text = format!("its hook reports nothing: {why}");
        return Some(Finding::error("hook.broken", &member.part, text).fix(member.rejoin()));
    }
    let end = format!(" hook {}", member.agent.name());
    let broken = member.hooks.iter().find_map(|(_, command)| {
        let program = command.strip_suffix(&end)?;
        let program = program.trim_matches('\'').replace("'\\''", "'");
        (!runs(Path::new(&program))).then_some(program)
    });
    if let Some(program) = broken {
        let text = format!("{file} runs {program}, which cannot be run");
        return Some(Finding::error("hook.broken", &member.part, text).fix(member.rejoin()));
    }
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (event, _) in &member.hooks {
        *times.entry(event).or_default() += 1;
    }
    let (event, times) = times.into_iter().find(|(_, times)| *times > 1)?;
    let text = format!("{file} runs the hook {times} times at {event}");
    Some(Finding::warning("hook.twice", &member.part, text).fix(member.rejoin()))
}

/// Whether the agent worked and nothing was reported.
fn reports(member: &Member, now: Time) -> Option<Finding> {
    let (_, started) = member.process?;
    let called = member.called_at.filter(|called| *called >= started)?;
    let told = member.hook_at.is_some_and(|told| told >= started);
    if told || now.since(called.min(now)) < REPORT_MS && now.since(started) < REPORT_MS {
        return None;
    }
    let text = "its agent worked and its hook reported nothing";
    if member.agent == Agent::Codex {
        let text = format!("{text}: Codex runs a hook only once you trust it");
        let attach = member.pane.as_ref().map(|pane| {
            format!(
                "tmux -S {} attach -t {}",
                quoted(&pane.socket.to_string_lossy()),
                pane.id
            )
        });
        let finding = Finding::warning("hook.untrusted", &member.part, text);
        return Some(finding.fix(attach.unwrap_or_default()));
    }
    Some(Finding::warning("hook.silent", &member.part, text).fix(member.restart()))
}

/// Reports that were not sent.
fn spool(member: &Member, now: Time) -> Option<Finding> {
    let standing = &member.spool;
    let oldest = standing
        .oldest
        .filter(|oldest| now.since(*oldest) > SPOOL_MS)?;
    let dropped = match standing.dropped {
        0 => String::new(),
        dropped => format!(", {dropped} were dropped"),
    };
    let text = format!(
        "{} reports of its hook wait, the oldest {}{dropped}",
        standing.reports,
        text::age(now, oldest)
    );
    Some(Finding::warning("hook.spool", &member.part, text).fix("relayroom up"))
}

/// A person's own telemetry that tells prompts.
fn telemetry(member: &Member, file: &Path) -> Finding {
    let file = file.to_string_lossy();
    let text = format!("telemetry in {file} logs prompts");
    let finding = Finding::warning("telemetry.prompts", &member.part, text);
    let file = quoted(&file);
    finding.fix(format!(
        "sed -i -e 's/\"logPrompts\" *: *true *,\\{{0,1\\}}//' -e 's/\"telemetry\" *: *{{/&\"logPrompts\": false, /' {file}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::members;
    use super::*;

    const NOW: Time = Time(10_000_000);

    fn codes(member: members::Member) -> Vec<&'static str> {
        let found = judge(&[member], NOW, |program| {
            program == Path::new("/opt/relayroom")
        });
        found.into_iter().map(|finding| finding.code).collect()
    }

    fn with(hooks: &[(&str, &str)]) -> members::Member {
        let mut member = members::tests::well();
        member.hooks = hooks
            .iter()
            .map(|(event, command)| ((*event).to_owned(), (*command).to_owned()))
            .collect();
        member
    }

    #[test]
    fn a_hook_is_there_can_run_and_runs_once() {
        let ours = "/opt/relayroom hook claude";
        assert_eq!(codes(with(&[("Stop", ours)])), [""; 0]);
        assert_eq!(codes(with(&[])), ["hook.missing"]);
        let lost = "'/lost folder/relayroom' hook claude";
        assert_eq!(
            codes(with(&[("Stop", ours), ("SessionEnd", lost)])),
            ["hook.broken"]
        );
        assert_eq!(
            codes(with(&[("Stop", ours), ("Stop", ours)])),
            ["hook.twice"]
        );
    }

    #[test]
    fn work_without_a_report_is_told_after_two_minutes() {
        let worked = |started: i64, called: i64, told: Option<i64>| {
            let mut member = members::tests::well();
            member.process = Some((7, Time(started)));
            member.called_at = Some(Time(called));
            member.hook_at = told.map(Time);
            member
        };
        let long_ago = NOW.0 - REPORT_MS;
        assert_eq!(codes(worked(long_ago, long_ago, None)), ["hook.silent"]);
        assert_eq!(codes(worked(long_ago, long_ago, Some(1))), ["hook.silent"]);
        assert_eq!(codes(worked(long_ago, long_ago, Some(long_ago))), [""; 0]);
        assert_eq!(codes(worked(NOW.0 - 10, NOW.0 - 5, None)), [""; 0]);
        // Never called: that is another finding.
        assert_eq!(codes(worked(long_ago, 1, None)), [""; 0]);
        let mut codex = worked(long_ago, long_ago, None);
        codex.agent = Agent::Codex;
        codex.hooks = vec![("Stop".into(), "/opt/relayroom hook codex".into())];
        assert_eq!(codes(codex), ["hook.untrusted"]);
    }

    #[test]
    fn reports_that_wait_and_telemetry_are_told() {
        let mut member = members::tests::well();
        member.spool.reports = 3;
        member.spool.oldest = Some(Time(NOW.0 - SPOOL_MS));
        assert_eq!(codes(member.clone()), [""; 0]);
        member.spool.oldest = Some(Time(NOW.0 - SPOOL_MS - 1));
        member.telemetry = Some("/home/.gemini/settings.json".into());
        assert_eq!(codes(member), ["hook.spool", "telemetry.prompts"]);
    }
}
